"""Compiled code over flat arrays: arrays in, arrays out, no Python object in between.

    jit         how a kernel is compiled: cached on disk, without the interpreter lock
    raw         bytes: eight at a time, equality, the hash
    dictionary  bytes to numbers, by hashing and then by comparing
    scan        the lines of an event to its terms and triples
    words       a literal to its words
    event       an event to its E*, its words, and the atoms that hold of it
    decided     which rules their atoms decide, and which want a search
    lists       the triples of an event in lists, and the classes of its terms
    join        the search; fulltext and numbers are what it asks of texts and numbers
    match       all of this for one event after the other
    atoms       atoms and filings into their tables
    rows        rows of arrays, for segments
    gather      answers to columns of text

Everything here also runs with the compiler off (NUMBA_DISABLE_JIT=1), which is how the tests step through it.
"""
