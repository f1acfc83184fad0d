"""`rtfm`, `rtfs` and `ibroker` tell of tries, buckets, words and shared variables."""

from __future__ import annotations

from tests.unit.match.told import shown, told


def test_rtfm_matches() -> None:
    """Words below the structure; distances and unwanted words are checked after the traversal."""
    subscription = 'SELECT ?x { ?x :p ?t . ?x :q 1 FILTER ftcontains(?t, "a b" ftAND ftNOT "c") }'
    event = ':a :p "a b" ; :q 1 . :b :p "b a" ; :q 1 . :c :p "a" .'
    assert told("rtfm", subscription, event) == shown("""
        How the matcher 'rtfm' comes to its answer: a match

        Query table QT
          query  tuple  (S, P, O)     {F}
          ─────  ─────  ────────────  ────────────────────────
          q1     t1     (?x, :p, ?t)  {a, b}, "a b", ftNOT "c"
          q1     t2     (?x, :q, 1)   –

        Trie forest, and how many of 5 triples come to each node
          20 nodes visited
          node              triples  tIDs
          ────────────────  ───────  ────
          root              ✓ 5
          └─ ?              ✓ 5
             ├─ :p          ✓ 3
             │  └─ ?        ✓ 3
             │     └─ a     ✓ 3
             │        └─ b  ✓ 2      t1
             └─ :q          ✓ 2
                └─ 1        ✓ 2      t2

        Words in the literals that come this far
          tuple  literal  looked for     positions, from 1
          ─────  ───────  ──────────  ─  ─────────────────
          t1     "a b"    a           ✓  1
          t1     "a b"    b           ✓  2
          t1     "a b"    "a b"       ✓
          t1     "a b"    ftNOT "c"   ✓
          t1     "b a"    a           ✓  2
          t1     "b a"    b           ✓  1
          t1     "b a"    "a b"       ✗
          t1     "b a"    ftNOT "c"   ✓
          t1     "a"      a           ✓  1
          t1     "a"      b           ✗  –

        Marked: t1, t2
          query  tuples marked
          ─────  ─────────────  ─
          q1     2 of 2         ✓

        q1: every tuple is marked; the triples that match them
          tuple  (S, P, O)     matched by
          ─────  ────────────  ───────────────
          t1     (?x, :p, ?t)  (:a, :p, "a b")
          t2     (?x, :q, 1)   (:a, :q, 1)
          t2     (?x, :q, 1)   (:b, :q, 1)

        Join of t1, t2 on ?x: 1 value in common
          ?x
          ──
          :a
          q1 is satisfied
    """)


def test_rtfm_does_not_match() -> None:
    """A word that no literal has ends the path."""
    subscription = 'SELECT ?x { ?x :p ?t FILTER ftcontains(?t, "a" ftNEAR[0,1] "b") }'
    event = ':a :p "a" .'
    assert told("rtfm", subscription, event) == shown("""
        How the matcher 'rtfm' comes to its answer: no match

        Query table QT
          query  tuple  (S, P, O)     {F}
          ─────  ─────  ────────────  ───────────────────────────
          q1     t1     (?x, :p, ?t)  {a, b}, "a" ftNEAR[0,1] "b"

        Trie forest, and how many of 1 triple come to each node
          4 nodes visited
          node              triples  tIDs
          ────────────────  ───────  ────
          root              ✓ 1
          └─ ?              ✓ 1
             └─ :p          ✓ 1
                └─ ?        ✓ 1
                   └─ a     ✓ 1
                      └─ b  ✗ 0      t1

        Words in the literals that come this far
          tuple  literal  looked for     positions, from 1
          ─────  ───────  ──────────  ─  ─────────────────
          t1     "a"      a           ✓  1
          t1     "a"      b           ✗  –

        Marked: –
          query  tuples marked
          ─────  ─────────────  ─
          q1     0 of 1         ✗
          so there is no candidate
    """)


def test_rtfs_does_not_match() -> None:
    """Two queries of one recipient; the tuples of one are marked, but not for one resource."""
    subscription = 'SELECT ?x { ?x :p ?t . ?x :q 1 FILTER ftcontains(?t, "a" ftOR "b") }'
    event = ':a :p "a" . :b :q 1 .'
    assert told("rtfs", subscription, event) == shown("""
        How the matcher 'rtfs' comes to its answer: no match

        Query table QT: disjunctions split it into 2 queries with one recipient
          query  tuple  (S, P, O)     {F}
          ─────  ─────  ────────────  ───
          q1     t1     (?x, :p, ?t)  {a}
          q1     t2     (?x, :q, 1)   –
          q2     t3     (?x, :p, ?t)  {b}
          q2     t4     (?x, :q, 1)   –

        Trie forest, and how many of 2 triples come to each node
          8 nodes visited
          node            triples  tIDs
          ──────────────  ───────  ──────
          root            ✓ 2
          └─ ?            ✓ 2
             ├─ :p        ✓ 1
             │  └─ ?      ✓ 1
             │     └─ FT  ✓ 1      t1, t3
             └─ :q        ✓ 1
                └─ 1      ✓ 1      t2, t4

        Forest of words, and how many of 1 literal come to each node
          node  literals  tIDs
          ────  ────────  ────
          root  ✓ 1
          ├─ a  ✓ 1       t1
          └─ b  ✗ 0       t3

        Words in the literals that come this far
          tuple  literal  looked for     positions, from 1
          ─────  ───────  ──────────  ─  ─────────────────
          t1     "a"      a           ✓  1
          t3     "a"      b           ✗  –

        Marked: t1, t2, t4
          query  tuples marked
          ─────  ─────────────  ─
          q1     2 of 2         ✓
          q2     1 of 2         ✗

        q1: every tuple is marked; the triples that match them
          tuple  (S, P, O)     matched by
          ─────  ────────────  ─────────────
          t1     (?x, :p, ?t)  (:a, :p, "a")
          t2     (?x, :q, 1)   (:b, :q, 1)

        Join of t1, t2 on ?x: 0 values in common
          q1 is not satisfied
    """)


def test_ibroker_matches() -> None:
    """Variables and wildcards have buckets of their own; a join of several variables goes step by step."""
    subscription = 'SELECT ?x { ?x :p ?y . ?y * "z" . :k ?r ?x }'
    event = ':a :p :b . :b :s "z" . :k :t :a .'
    assert told("ibroker", subscription, event) == shown("""
        How the matcher 'ibroker' comes to its answer: a match

        The query as tuples
          query  tuple  (S, P, O)     {F}
          ─────  ─────  ────────────  ───
          q1     t1     (?x, :p, ?y)  –
          q1     t2     (?y, *, "z")  –
          q1     t3     (:k, ?r, ?x)  –

        Buckets, and whether one of the event's 3 attributes leads there
          attribute          entry         subject  Value  NextToMatch
          ──────────────  ─  ─────  ─────  ───────  ─────  ───────────
          any (variable)  ✓  t3            :k       any    –
          any (wildcard)  ✓  t2            any      "z"    t3
          :p              ✓  t1     first  any      any    t2
          3 buckets visited, 3 entries looked at

        q1 begins in a bucket visited; NextToMatch followed, and the triples that match
          tuple  (S, P, O)     matched by
          ─────  ────────────  ─────────────
          t1     (?x, :p, ?y)  (:a, :p, :b)
          t2     (?y, *, "z")  (:b, :s, "z")
          t3     (:k, ?r, ?x)  (:k, :t, :a)

        Join of t1, t2, t3, the smallest table first, up to the first row
          tuple  rows of     rows that go on  over
          ─────  ───────  ─  ───────────────  ──────
          t1     ?x, ?y   1  1                ?x, ?y
          t2     ?y       1  1                ?x
          t3     ?x       1  1                –
          q1 is satisfied
    """)


def test_ibroker_does_not_match() -> None:
    """The chain ends at an entry that nothing matches."""
    subscription = "SELECT ?x { ?x :p ?y . ?y :q ?y }"
    event = ":a :p :b . :b :q :a ."
    assert told("ibroker", subscription, event) == shown("""
        How the matcher 'ibroker' comes to its answer: no match

        The query as tuples
          query  tuple  (S, P, O)     {F}
          ─────  ─────  ────────────  ───
          q1     t1     (?x, :p, ?y)  –
          q1     t2     (?y, :q, ?y)  –

        Buckets, and whether one of the event's 2 attributes leads there
          attribute     entry         subject  Value  NextToMatch
          ─────────  ─  ─────  ─────  ───────  ─────  ───────────
          :q         ✓  t2            any      any    –
          :p         ✓  t1     first  any      any    t2
          2 buckets visited, 2 entries looked at

        q1 begins in a bucket visited; NextToMatch followed, and the triples that match
          tuple  (S, P, O)     matched by
          ─────  ────────────  ────────────
          t1     (?x, :p, ?y)  (:a, :p, :b)
          t2     (?y, :q, ?y)  ✗
          no triple matches t2 with one term where a variable stands twice, so q1 is not satisfied
    """)
