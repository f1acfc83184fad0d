"""Compiled code over flat arrays: arrays in, arrays out, no Python object in between.

    jit         how a kernel is compiled: cached on disk, without the interpreter lock
    raw         bytes: eight at a time, equality, the hash
    dictionary  bytes to numbers, by hashing and then by comparing
    scan        the lines of an event to its terms and triples
    words       a literal to its words

Everything here also runs with the compiler off (NUMBA_DISABLE_JIT=1), which is how the tests step through it.
"""
