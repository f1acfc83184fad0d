"""`decomposition`: Messmer and Bunke's network of shared sub-patterns, the algorithm that the OPS paper (Wang, Jin, Li,
Middleware 2004, sections 2 and 6) measures itself against.

Every pattern graph is decomposed into sub-graphs until each is a single vertex. Equal sub-graphs of all patterns are
one node of a network: a vertex node, or a node made of two others and the arcs that connect them (`network`). When an
event arrives, its vertices are matched with the vertex nodes, and instances of sub-graphs, injective mappings each, are
assembled bottom up into instances of larger ones (`engine`); an instance of a whole pattern is a solution.

It is known here from the OPS paper's description alone. What that leaves open, and what is decided here

- The label of a vertex is its term where it is a constant, the classes asked for, its conditions and its loops. It
  fits an event vertex of Definition 1 of the OPS paper: classes and properties under the ontology, `_:H` to `_:H`.
- Where to cut: a new pattern is matched against the network itself, arc for arc; the largest known sub-graph found in
  it (S_max) is split off, and the rest is decomposed in the same way. Where nothing larger than a vertex is known, half
  of it is split off, breadth first. The search is bounded; what it misses is shared less, not matched wrongly.
- A rest that falls apart has the product of its parts as instances. So its parts are joined to S_max one by one, and
  every node is a connected graph.
- Two sets of instances are put together along one connecting arc: from an instance of one side along the event's arcs
  to instances of the other.
- `published=True` is the plain description: any half is split off (drawn, the same on every run), a rest stays one
  part, and every pair of instances is tried. The same answers, at the published cost.
- Removal: nodes that no subscription needs any more are taken out. A subscription of thousands of vertices is refused.
- Work is charged to every subscription that needs it: a node's steps are its own and those of its two parts. Above the
  budget the node's subscriptions fail, unless the other part of a join has no instance and so decides.
"""

from tidings.match.decomposition.engine import Decomposition

__all__ = ["Decomposition"]
