"""`ops`: Wang, Jin and Li, "An Ontology-Based Publish/Subscribe System" (Middleware 2004), its section 5.

    patterns.py      a subscription as a graph of statement patterns; those that wait, for all with equal contents
    ems.py           the extended meta-statement array: sorted rows with ancestor lists and waiting-pattern lists (5.2)
    traversal.py     the event, breadth first from _:H, as typed statements (5.3)
    matching.py      one event: typed statements meet waiting patterns, matching trees grow (5.4)
    tree.py          the AND-OR tree of partial mapping solutions (circles) and statement patterns (rectangles)
    verification.py  SBPV, the backtracking of states, and BEBV, the consistent choice of vertex pairs (5.5)
    matcher.py       the matcher

**Bugs found.** The paper matches a pattern with arcs that come after it alone.
  1. A pattern derived after the arc it asks for has been traversed never meets it: in H p a, H s b, a q d, d t b, b r c
     the path p q t r from H is missed, since the search by breadth passes `b r c` before `d t b` derives its pattern.
     The proof of theorem 1 takes layers of the two breadth-first trees to correspond, which they need not.
  2. A pattern registered to an equal one that has already matched is not told of those matches.
  Repair: a row remembers the statements that have passed it, a waiting pattern its matches, and both are told to
  whoever comes late. `published=True` leaves this repair out, and with it departure 4; all else is the same.

**Gaps, and how they are read.**
  - Several typed statements of one arc (several classes), or several arcs between the same vertices under one asked for
    property, give a pattern the same vertex pair. It is taken once.
  - A class stated of a vertex that is above another one stated of it makes no typed statement of its own: the ancestor
    list leads there. A vertex without a class is an owl:Thing. Classes are those of E*, a literal's its datatype.
  - Contents are equal where row, subject, object and filter are; the name of a variable is none of the contents. The
    filter of a vertex stands in every pattern that has it as its object, as the vertex labels of section 4 say.
  - The array has all valid meta-statements in the paper. Here a row is made when a subscription or an event has it,
    valid or not; with `declared_only=True` a typed statement that is neither declared nor below a declared
    meta-statement matches nothing.

**Departures.** None changes the answer.
  1. Rows are made on demand, so that numbers shift; an ancestor list holds rows instead of numbers. Only rows that some
     subscription asks for are listed, and a list is worked out again after the asked for rows have changed.
  2. What waits in a row is grouped by subject, which is always known: _:H, a constant, or what replaces a variable.
  3. The boolean expression of the root is not written out as a disjunctive normal form. A search chooses a circle for
     each rectangle, gives up at the first pair that contradicts (rules 4 and 5), and enters only what SBPV has checked.
  4. A partial mapping solution that maps two subscription vertices to one event vertex is false by rule 5, whatever
     comes below it, so it is not put into the tree.
  5. Trees without a match at their first layer are not built; their initial nodes are counted as `resting_nodes`.
  6. Growing and verifying a tree are under a budget of steps; a subscription that exceeds it on an event is a failure.

Solutions are read from the matching tree, by going on with the search of departure 3.
"""

from tidings.match.ops.matcher import Ops

__all__ = ["Ops"]
