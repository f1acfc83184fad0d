"""Feeds as a source of Spark: `format("feeds")`.

`source` is what Spark sees; `following` asks for the feeds that are due; `takes` keeps what came of it.
"""
