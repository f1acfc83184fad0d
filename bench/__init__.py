"""Benchmarks by name: `python -m bench [NAME …]` runs them, prints tables, keeps the figures in bench/results."""
