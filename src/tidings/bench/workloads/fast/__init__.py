"""The workloads of `tidings bench fast`: each says how its terms are drawn, and is the same for the same seed.

base        what a workload is
rtf         publications and subscriptions with text; a hierarchy, negation and alternatives where asked for
text        words alone, on real abstracts
nanopubs    a real stream, and patterns with joins sampled from it
joins       patterns of which every part holds, and never the whole

Forms are made one by one and kept by nobody: a million of them would take more memory than what is measured.
"""
