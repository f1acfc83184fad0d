"""The strategy `chained`: an event comes quad by quad, and a subscription fires when the quads so far satisfy it.

See `docs/chained.md` and decision 010. `parts` says what parts of an
event are; over tables `steps` and `joins` rewrite bindings pattern by pattern; over streams `following` keeps what has
come of each event as Spark's state; `pipeline` makes notifications and an archive of that, each once.
"""
