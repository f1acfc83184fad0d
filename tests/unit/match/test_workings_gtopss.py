"""`gtopss` tells of edges met, binding tables, joins and constraints."""

from __future__ import annotations

from tests.unit.match.told import shown, told

ONTOLOGY = ":B rdfs:subClassOf :A . :C rdfs:subClassOf :B ."


def test_tables_are_joined_and_constrained() -> None:
    """One edge is a constant, one has a star as its label; the taxonomy is climbed."""
    subscription = "(?x, p, ?y, {}, {?y < 5}) (?x, ?q, ?c, {}, {?c <= A}) (k, p, 1)"
    event = ":a :p 1, 9 ; :q :C . :k :p 1 ."
    assert told("gtopss", subscription, event, ONTOLOGY) == shown("""
        How the matcher 'gtopss' comes to its answer: a match

        G_M: 3 edges of this subscription
          stars: *1 = ?x, *2 = ?y, *3 = ?c, *4 = ?q
          4 publication edges, looked up under (v, w), (v, *i), (*i, w), (*i, *j): 52 pairs of vertices
              edge          met by
          ──  ────────────  ─────────────────────
          e1  (*1, :p, *2)  ✓ 3 publication edges
          e2  (*1, *4, *3)  ✓ 4 publication edges
          e3  (:k, :p, 1)   ✓ 1 publication edge
          edgeCount 3 of 3: every edge is met, a candidate

        Binding table B1 of (*1, :p, *2): 3 rows
          *1 ?x  *2 ?y
          ─────  ─────
          :a     1
          :a     9
          :k     1

        Binding table B2 of (*1, *4, *3): 4 rows
          *1 ?x  *3 ?c  *4 ?q
          ─────  ─────  ─────
          :a     1      :p
          :a     9      :p
          :a     :C     :q
          :k     1      :p

        B := B1: 3 rows

        B := B ⋈ B2 on *1 ?x: 7 rows
          *1 ?x  *2 ?y  *3 ?c  *4 ?q
          ─────  ─────  ─────  ─────
          :a     1      1      :p
          :a     1      9      :p
          :a     1      :C     :q
          :a     9      1      :p
          :a     9      9      :p
          :a     9      :C     :q
          :k     1      1      :p

        Constraints on B: *2 ?y < 5, *3 ?c <= :A
          node  asked for     in the taxonomy
          ────  ─────────  ─  ───────────────
          1     < 5        ✓  –
          1     <= :A      ✗  –
          9     <= :A      ✗  –
          :C    <= :A      ✓  :C → :B → :A
          9     < 5        ✗  –

        B after the constraints: 1 row of 7
          *1 ?x  *2 ?y  *3 ?c  *4 ?q
          ─────  ─────  ─────  ─────
          :a     1      :C     :q
    """)


def test_an_edge_that_is_not_met_ends_it() -> None:
    """The edge counter stays below the number of edges."""
    subscription = "(?x, p, ?y) (?y, q, ?z)"
    event = ":a :p 1 ."
    assert told("gtopss", subscription, event) == shown("""
        How the matcher 'gtopss' comes to its answer: no match

        G_M: 2 edges of this subscription
          stars: *1 = ?x, *2 = ?y, *3 = ?z
          1 publication edge, looked up under (v, w), (v, *i), (*i, w), (*i, *j): 13 pairs of vertices
              edge          met by
          ──  ────────────  ─────────────────────
          e1  (*1, :p, *2)  ✓ 1 publication edge
          e2  (*2, :q, *3)  ✗ 0 publication edges
          edgeCount 1 of 2: no candidate, nothing is joined

        Binding table B1 of (*1, :p, *2): 1 row
          *1 ?x  *2 ?y
          ─────  ─────
          :a     1
    """)


def test_tables_without_a_common_row() -> None:
    """Every edge is met, but not on one vertex."""
    subscription = "(?x, p, ?y) (?y, q, ?z)"
    event = ":a :p :b . :c :q :d ."
    assert told("gtopss", subscription, event) == shown("""
        How the matcher 'gtopss' comes to its answer: no match

        G_M: 2 edges of this subscription
          stars: *1 = ?x, *2 = ?y, *3 = ?z
          2 publication edges, looked up under (v, w), (v, *i), (*i, w), (*i, *j): 26 pairs of vertices
              edge          met by
          ──  ────────────  ────────────────────
          e1  (*1, :p, *2)  ✓ 1 publication edge
          e2  (*2, :q, *3)  ✓ 1 publication edge
          edgeCount 2 of 2: every edge is met, a candidate

        Binding table B1 of (*1, :p, *2): 1 row
          *1 ?x  *2 ?y
          ─────  ─────
          :a     :b

        Binding table B2 of (*2, :q, *3): 1 row
          *2 ?y  *3 ?z
          ─────  ─────
          :c     :d

        B := B1: 1 row

        B := B ⋈ B2 on *2 ?y: 0 rows
    """)


def test_each_operator_asks_its_own_of_the_taxonomy() -> None:
    """Also what was climbed in vain is named; a literal has no place there."""
    subscription = "(?x, p, ?y, {}, {?y < A, ?y != B})"
    event = ":a :p :A, :D, 7, :B, :e . :e a :B ."
    assert told("gtopss", subscription, event, ONTOLOGY) == shown("""
        How the matcher 'gtopss' comes to its answer: a match

        G_M: 1 edge of this subscription
          stars: *1 = ?x, *2 = ?y
          7 publication edges, looked up under (v, w), (v, *i), (*i, w), (*i, *j): 49 pairs of vertices
              edge          met by
          ──  ────────────  ─────────────────────
          e1  (*1, :p, *2)  ✓ 5 publication edges
          edgeCount 1 of 1: every edge is met, a candidate

        Binding table B1 of (*1, :p, *2): 5 rows
          *1 ?x  *2 ?y
          ─────  ─────
          :a     7
          :a     :A
          :a     :B
          :a     :D
          :a     :e

        B := B1: 5 rows

        Constraints on B: *2 ?y < :A, *2 ?y != :B
          node  asked for     in the taxonomy
          ────  ─────────  ─  ────────────────────────
          7     < :A       ✗  –
          :A    < :A       ✗  the same class
          :B    < :A       ✓  :B → :A
          :B    != :B      ✓  no direct edge
          :D    < :A       ✗  not above it; climbed :D
          :e    < :A       ✓  :e → :B → :A
          :e    != :B      ✗  a direct edge

        B after the constraints: 1 row of 5
          *1 ?x  *2 ?y
          ─────  ─────
          :a     :B
    """)
