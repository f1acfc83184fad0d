"""The arrays of the index: what each of them is, and how long.

Numbers: a *term* is its place in the dictionary of terms, a *word* its place in the vocabulary, a *property* its place
among the properties that subscriptions ask for, an *atom* its place among the atoms, a *rule* one way in which a
subscription can match. In a rule's code, a node from 0 on is a term and a negative one is the variable -1 - node.

Arrays only grow at their ends, and what is behind the ends is not looked at, so that a kernel may read while
subscriptions are being added.
"""

from __future__ import annotations

from typing import NamedTuple

from tidings.index.arrays import Bytes, Floats, Ints, Longs, Words
from tidings.index.kernels.dictionary import Dictionary
from tidings.index.kernels.words import Vocabulary

VERSION = 2
"""Of what the arrays mean: the hash, the keys of atoms, the codes of rules. Whoever changes one of them raises it."""

# The first terms of every dictionary.
TYPE, SUBCLASS, HOME = 0, 1, 2

# What `Names.asked` says about a term.
AS_OBJECT, AS_SUBJECT, AS_ANY_OBJECT, AS_ANY_SUBJECT, AS_CLASS = 1, 2, 4, 8, 16
# What `Names.word` says about a word.
WITH_PROPERTY, ANYWHERE = 1, 2
# What `Names.wanted` says about the subscriptions as a whole, by place.
ANY_PROPERTY, ANY_WORD, LITERALS, CLASSES = 0, 1, 2, 3

# What `Rules.how` says about a rule: what must be known of an event for the rule's atoms to decide it, as bits. With
# UNDECIDED they never do; with ONE_SUBJECT they do where one subject has all properties that are asked for; with
# ONE_TEXT where no property has two texts.
UNDECIDED, ONE_SUBJECT, ONE_TEXT = 1, 2, 4
# And what else there is to do: rules filed under several atoms, or of a subscription with several rules, can be met
# more than once; and rules may need more than the second atom beside them.
REFILED, SHARED, MORE = 8, 16, 32

# The flags of a rule's code.
INJECTIVE, ASK = 1, 2
ANY = -1
"""As the property of a pattern: any."""

# The kinds of values that an expression of a rule can have.
FALSE, TRUE, ERROR, UNSURE = 0, 1, 2, 3

# The operations of an expression: postfix, each with its arguments behind it.
OP_UNSURE, OP_TEXT, OP_CLASS, OP_RESOURCE, OP_NUMBER, OP_SAME, OP_AND, OP_OR, OP_NOT, OP_IS_A, OP_VALUE = range(11)
# The patterns that must have a solution: how many they are, then the subject, property and object of each.
OP_EXISTS = 11
# The operations of a text expression.
FT_WORD, FT_PHRASE, FT_NEAR, FT_AND, FT_OR, FT_NOT = range(6)
# The comparisons of OP_NUMBER and OP_VALUE.
LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL, NOT_EQUAL = range(6)


class Names(NamedTuple):
    """Terms, words, and what the ontology says about them. The lists of term n are from `…_first[n]` up to
    `…_first[n + 1]`, and end where the ontology does: a later term has itself above it and no types.
    """

    terms: Dictionary
    words: Vocabulary
    property: Ints  # by term: the property it is, or -1
    asked: Bytes  # by term: how subscriptions ask for it
    text: Bytes  # by property: whether subscriptions ask for words in its values
    word: Bytes  # by word: how subscriptions ask for it
    wanted: Bytes
    up_first: Ints
    up: Ints  # the properties above a property, as terms, itself included
    class_first: Ints
    class_up: Ints  # the classes above a class, itself included
    type_first: Ints
    types: Ints  # the classes that the ontology says an instance has
    data_first: Ints
    data_up: Ints  # the classes of a literal of this datatype
    literal: Ints  # the classes of every literal
    number: Bytes  # by term: which kind of number a datatype is (kernels.numbers)


class Atoms(NamedTuple):
    """The atoms by their keys (`kernels.atoms`): open addressing, an empty slot is key 0."""

    key: Words
    id: Ints
    of_property: Ints  # by property: the atom that asks for it alone, or -1


class Rules(NamedTuple):
    """What is filed: rule n belongs to `subscription[n]`, needs the atoms from `needs_first[n]` up to
    `needs_first[n + 1]` besides the one it is filed under, and is decided by the code from `code_at[n]` on.
    """

    subscription: Ints
    alive: Bytes
    how: Bytes
    needs_first: Longs
    needs: Ints
    code_at: Longs
    code: Ints
    numbers: Floats
    always: Ints  # the rules that nothing can be said about without deciding them


class Filed(NamedTuple):
    """Rules by the atom they are filed under. Those there at the last merge lie from `first[a]` up to `first[a + 1]`;
    later ones hang in a chain, from `head[a]` on by `next`, the latest first; -1 ends it. `second` is one more atom
    that the rule needs, or -1.
    """

    first: Longs
    rule: Ints
    second: Ints
    head: Ints
    chain_rule: Ints
    chain_second: Ints
    next: Ints


class Index(NamedTuple):
    names: Names
    atoms: Atoms
    rules: Rules
    filed: Filed
