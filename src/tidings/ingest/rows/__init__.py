"""Rows become events: CSV, TSV, JSON lines, Parquet, SQL results and Arrow tables.

Every mapping (the direct one, CSVW, R2RML, RML) becomes the one form of `form.py`, and `evaluate.py` applies it to
whole columns at a time.
"""
