"""`ops` tells of waiting patterns, typed statements and the matching tree, `decomposition` of its network."""

from __future__ import annotations

from tests.unit.match.told import shown, told

ONTOLOGY = ":B rdfs:subClassOf :T ."


def test_ops_matches() -> None:
    """A statement below a row asked for; a circle that stays unchecked; the reduced tree."""
    subscription = "(_:H, ?a, (T, p, T)) (_:H, ?b, (T, p, T)) (?b, ?n, (T, q, xsd:integer), ?n < 5)"
    event = "_:H a :T ; :p :a, :b . :a a :B ; :q 3 . :b a :T ; :q 7 ."
    assert told("ops", subscription, event, ONTOLOGY) == shown("""
        How the matcher 'ops' comes to its answer: a match

        The extended meta-statement array: of 4 rows those asked for, or below them
          row     class  property  class        ancestors
          ──────  ─────  ────────  ───────────  ─────────
          EMS(1)  :B     :q        xsd:integer  EMS(4)
          EMS(2)  :T     :p        :B           EMS(3)
          EMS(3)  :T     :p        :T           –
          EMS(4)  :T     :q        xsd:integer  –

        Waiting patterns, those at _:H and those derived from matches, by their nodes in the tree below
          node  row     subject  object  condition
          ────  ──────  ───────  ──────  ─────────
          2     EMS(3)  _:H      ?a      –
          5     EMS(3)  _:H      ?b      –
          7     EMS(4)  :a       ?n      ?n < 5
          10    EMS(4)  :b       ?n      ?n < 5

        Traversal, breadth first from _:H: 4 typed statements
          subject  object  row     patterns matched
          ───────  ──────  ──────  ────────────────
          _:H      :a      EMS(2)  2, 5
          _:H      :b      EMS(3)  2, 5
          :a       3       EMS(1)  7
          :b       7       EMS(4)  –

        Matching tree: 6 circles (vertex = vertex), 4 rectangles [subject, object, row]
              node                       SBPV         unCheckedChildren  chosen
          ──  ─────────────────────────  ───────────  ─────────────────  ──────
          1   (_:H = _:H)                ✓ checked    0                  ●
          2   ├─ [_:H, ?a, EMS(3)]       ✓ checked                       ●
          3   │  ├─ (?a = :a)            ✓ checked
          4   │  └─ (?a = :b)            ✓ checked                       ●
          5   └─ [_:H, ?b, EMS(3)]       ✓ checked                       ●
          6      ├─ (?b = :a)            ✓ checked    0                  ●
          7      │  └─ [:a, ?n, EMS(4)]  ✓ checked                       ●
          8      │     └─ (?n = 3)       ✓ checked                       ●
          9      └─ (?b = :b)            ✗ unchecked  1
          10        └─ [:b, ?n, EMS(4)]  ✗ unchecked
          ● the reduced matching tree of the first solution

        SBPV: backtracking from each circle that derives no pattern
          from  up to  checked on the way
          ────  ─────  ──────────────────
          3     2      3, 2
          4     4      4
          8     1      8, 7, 6, 5, 1
          the root is checked: BEBV decides

        BEBV: one circle for each rectangle, no vertex with two images, no image of two vertices
          vertex  rectangle  checked circles  chosen
          ──────  ─────────  ───────────────  ──────
          ?a      2          :a, :b           :b
          ?b      5          :a               :a
          ?n      7          3                3
          there is such a choice: a match
    """)


def test_ops_rejects_by_sbpv() -> None:
    """A match that would map two vertices to one makes no circle."""
    subscription = "(_:H, ?a, (T, p, T)) (?a, ?b, (T, p, T))"
    event = "_:H a :T ; :p :a . :a a :T ; :p _:H ."
    assert told("ops", subscription, event) == shown("""
        How the matcher 'ops' comes to its answer: no match

        The extended meta-statement array: of 1 row those asked for, or below them
          row     class  property  class  ancestors
          ──────  ─────  ────────  ─────  ─────────
          EMS(1)  :T     :p        :T     –

        Waiting patterns, those at _:H and those derived from matches, by their nodes in the tree below
          node  row     subject  object  condition
          ────  ──────  ───────  ──────  ─────────
          2     EMS(1)  _:H      ?a      –
          4     EMS(1)  :a       ?b      –

        Traversal, breadth first from _:H: 2 typed statements
          subject  object  row     patterns matched
          ───────  ──────  ──────  ────────────────
          _:H      :a      EMS(1)  2
          :a       _:H     EMS(1)  4

        Matching tree: 2 circles (vertex = vertex), 2 rectangles [subject, object, row]
          1 match made no circle: rule 5
             node                       SBPV         unCheckedChildren  chosen
          ─  ─────────────────────────  ───────────  ─────────────────  ──────
          1  (_:H = _:H)                ✗ unchecked  1
          2  └─ [_:H, ?a, EMS(1)]       ✗ unchecked
          3     └─ (?a = :a)            ✗ unchecked  1
          4        └─ [:a, ?b, EMS(1)]  ✗ unchecked

        SBPV: backtracking from each circle that derives no pattern
          the root is unchecked: no match
    """)


def test_ops_rejects_by_bebv() -> None:
    """Both rectangles have a circle, but of one vertex."""
    subscription = "(_:H, ?a, (T, p, T)) (_:H, ?b, (T, p, T))"
    event = "_:H a :T ; :p :a . :a a :T ."
    assert told("ops", subscription, event) == shown("""
        How the matcher 'ops' comes to its answer: no match

        The extended meta-statement array: of 1 row those asked for, or below them
          row     class  property  class  ancestors
          ──────  ─────  ────────  ─────  ─────────
          EMS(1)  :T     :p        :T     –

        Waiting patterns, those at _:H and those derived from matches, by their nodes in the tree below
          node  row     subject  object  condition
          ────  ──────  ───────  ──────  ─────────
          2     EMS(1)  _:H      ?a      –
          4     EMS(1)  _:H      ?b      –

        Traversal, breadth first from _:H: 1 typed statement
          subject  object  row     patterns matched
          ───────  ──────  ──────  ────────────────
          _:H      :a      EMS(1)  2, 4

        Matching tree: 3 circles (vertex = vertex), 2 rectangles [subject, object, row]
             node                  SBPV       unCheckedChildren  chosen
          ─  ────────────────────  ─────────  ─────────────────  ──────
          1  (_:H = _:H)           ✓ checked  0
          2  ├─ [_:H, ?a, EMS(1)]  ✓ checked
          3  │  └─ (?a = :a)       ✓ checked
          4  └─ [_:H, ?b, EMS(1)]  ✓ checked
          5     └─ (?b = :a)       ✓ checked

        SBPV: backtracking from each circle that derives no pattern
          from  up to  checked on the way
          ────  ─────  ──────────────────
          3     2      3, 2
          5     1      5, 4, 1
          the root is checked: BEBV decides

        BEBV: one circle for each rectangle, no vertex with two images, no image of two vertices
          vertex  rectangle  checked circles  chosen
          ──────  ─────────  ───────────────  ──────
          ?a      2          :a               –
          ?b      4          :a               –
          there is no such choice: no match
    """)


def test_ops_tells_patterns_that_come_late() -> None:
    """The arc b r c has passed before its pattern is derived."""
    subscription = "(_:H, ?a, (T, p, T)) (?a, ?d, (T, q, T)) (?d, ?b, (T, t, T)) (?b, ?c, (T, r, T))"
    event = "_:H a :T ; :p :a ; :s :b . :a a :T ; :q :d . :d a :T ; :t :b . :b a :T ; :r :c . :c a :T ."
    assert told("ops", subscription, event) == shown("""
        How the matcher 'ops' comes to its answer: a match

        The extended meta-statement array: of 5 rows those asked for, or below them
          row     class  property  class  ancestors
          ──────  ─────  ────────  ─────  ─────────
          EMS(1)  :T     :p        :T     –
          EMS(2)  :T     :q        :T     –
          EMS(3)  :T     :r        :T     –
          EMS(5)  :T     :t        :T     –

        Waiting patterns, those at _:H and those derived from matches, by their nodes in the tree below
          node  row     subject  object  condition
          ────  ──────  ───────  ──────  ─────────
          2     EMS(1)  _:H      ?a      –
          4     EMS(2)  :a       ?d      –
          6     EMS(5)  :d       ?b      –
          8     EMS(3)  :b       ?c      –

        Traversal, breadth first from _:H: 5 typed statements
          1 of them neither in a row asked for nor below one
          subject  object  row     patterns matched
          ───────  ──────  ──────  ────────────────
          _:H      :a      EMS(1)  2
          :a       :d      EMS(2)  4
          :b       :c      EMS(3)  –
          :d       :b      EMS(5)  6

        Patterns that came after their statements had passed, and are told of them
          pattern  subject  object
          ───────  ───────  ──────
          8        :b       :c

        Matching tree: 5 circles (vertex = vertex), 4 rectangles [subject, object, row]
             node                                   SBPV       unCheckedChildren  chosen
          ─  ─────────────────────────────────────  ─────────  ─────────────────  ──────
          1  (_:H = _:H)                            ✓ checked  0                  ●
          2  └─ [_:H, ?a, EMS(1)]                   ✓ checked                     ●
          3     └─ (?a = :a)                        ✓ checked  0                  ●
          4        └─ [:a, ?d, EMS(2)]              ✓ checked                     ●
          5           └─ (?d = :d)                  ✓ checked  0                  ●
          6              └─ [:d, ?b, EMS(5)]        ✓ checked                     ●
          7                 └─ (?b = :b)            ✓ checked  0                  ●
          8                    └─ [:b, ?c, EMS(3)]  ✓ checked                     ●
          9                       └─ (?c = :c)      ✓ checked                     ●
          ● the reduced matching tree of the first solution

        SBPV: backtracking from each circle that derives no pattern
          from  up to  checked on the way
          ────  ─────  ─────────────────────────
          9     1      9, 8, 7, 6, 5, 4, 3, 2, 1
          the root is checked: BEBV decides

        BEBV: one circle for each rectangle, no vertex with two images, no image of two vertices
          vertex  rectangle  checked circles  chosen
          ──────  ─────────  ───────────────  ──────
          ?a      2          :a               :a
          ?b      6          :b               :b
          ?c      8          :c               :c
          ?d      4          :d               :d
          there is such a choice: a match
    """)


def test_decomposition_matches() -> None:
    """One node for two equal vertices; instances upwards."""
    subscription = "(_:H, ?a, (T, p, T)) (_:H, ?b, (T, p, T)) (?b, ?n, (T, q, xsd:integer), ?n < 5)"
    event = "_:H a :T ; :p :a, :b . :a a :T ; :q 3 . :b a :T ; :q 7 ."
    assert told("decomposition", subscription, event) == shown("""
        How the matcher 'decomposition' comes to its answer: a match

        The network: 3 single vertices and 3 larger sub-patterns; instances assembled bottom up
              sub-pattern   made of   instances
          ──  ────────────  ────────  ─────────
          N1  _:H           a vertex  ✓ 1
          N2  ?a/?b         a vertex  ✓ 3
          N3  _:H ?a        N1 + N2   ✓ 2
          N4  ?n            a vertex  ✓ 1
          N5  ?b ?n         N2 + N4   ✓ 1
          N6  _:H ?a ?b ?n  N3 + N5   ✓ 1
          N6 is the whole pattern

        Event vertices compared with single vertices
              vertex  asks for                    event vertex
          ──  ──────  ──────────────────────────  ────────────  ─
          N1  _:H     a :T                        _:H           ✓
          N2  ?a/?b   a :T                        :a            ✓
          N2  ?a/?b   a :T                        :b            ✓
          N2  ?a/?b   a :T                        _:H           ✓
          N4  ?n      a xsd:integer, ?vertex < 5  3             ✓
          N4  ?n      a xsd:integer, ?vertex < 5  7             ✗

        N3 = N1 + N2 with _:H :p ?a
          _:H  ?a
          ───  ──
          _:H  :a
          _:H  :b
          2 pairs of instances compared: 2 instances

        N5 = N2 + N4 with ?b :q ?n
          ?b  ?n
          ──  ──
          :a  3
          1 pair of instances compared: 1 instance

        N6 = N3 + N5 with _:H :p ?b
          _:H  ?a  ?b  ?n
          ───  ──  ──  ──
          _:H  :b  :a  3
          2 pairs of instances compared: 1 instance
    """)


def test_decomposition_does_not_match() -> None:
    """Nothing is assembled from a part without instances."""
    subscription = "(_:H, ?a, (T, p, U))"
    event = "_:H a :T ; :p :a ."
    assert told("decomposition", subscription, event) == shown("""
        How the matcher 'decomposition' comes to its answer: no match

        The network: 2 single vertices and 1 larger sub-pattern; instances assembled bottom up
              sub-pattern  made of   instances
          ──  ───────────  ────────  ─────────
          N1  _:H          a vertex  ✓ 1
          N2  ?a           a vertex  ✗ 0
          N3  _:H ?a       N1 + N2   ✗ 0
          N3 is the whole pattern

        Event vertices compared with single vertices
              vertex  asks for  event vertex
          ──  ──────  ────────  ───────────────  ─
          N1  _:H     a :T      _:H              ✓
          N2  ?a      a :U      none to compare  ✗

        N3 = N1 + N2 with _:H :p ?a
          not assembled: N2 without an instance
    """)
