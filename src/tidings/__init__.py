"""Publish/subscribe that understands meaning."""
