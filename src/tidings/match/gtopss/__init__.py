"""`gtopss`: M. Petrovic, H. Liu, H.-A. Jacobsen, "G-ToPSS: Fast Filtering of Graph-based Metadata", WWW 2005.

All subscriptions are merged into one graph G_M, kept in two levels of hash tables (`graph`): a pair of vertex names
leads to the edges between them by label, an edge to its subscriptions and its binding table. The variables of each
subscription become the star labels *1, *2, …, which all subscriptions share. A publication edge (v, label, w) is
looked up under every pair of {v, w, *1, …, *k}; it goes into the binding table of each edge of G_M that it meets, and
raises the edge counters of that edge's subscriptions. Those with all edges met have their binding tables joined
(`join`), and their constraints are checked on the joined rows, is-a by climbing the taxonomy (`taxonomy`).

What the paper leaves open, and what is decided here

- A publication's edges are the triples of E*, so sub-properties and stated types take part; the paper has neither.
- Variables on properties (its future work): a star is a label like any other in the second-level table, looked up
  beside the edge's own label. Vertex variables are numbered first, so that k, which counts twice over, stays small.
- A row of a binding table is the publication edge itself; its columns are the edge's stars. A column named by a
  constant, as in figure 8, would hold that constant alone.
- The order of the joins is free: the smallest table first, then the smallest that shares a column.
- Edges that share no variable are joined apart; their product is taken when bindings are asked for, since a constraint
  is on one variable and cannot depend on it.
- Removal, with G_M's stars falling again. A subscription of very many variables is refused: k² is paid by all.

What is wrong in it, and the repair

1. Binding tables are never cleared, so an event is joined with those before it: false matches. Cleared after each.
2. `edgeCount` goes back to 0 only in a subscription that reached its number of edges, else it is carried over to the
   next event. Reset in all that were touched.
3. `edgeCount` counts the publication's edges, not the subscription's: two that meet one edge count for two, and the
   subscription is joined in vain. Counted when a binding table gets its first row.
4. The completed graph has both directions (2·C(k+2, 2) edges in the paper's analysis), so (v, a, w) is looked up under
   (w, v), (*i, v) and (w, *i) too and put there the wrong way round: false matches. Only the pairs that the paper's
   prose lists are looked up: (v, w), (v, *i), (*i, w), (*i, *j).
5. It has no loops: `(?x, p, ?x)` and `(A, p, A)` never match. (*i, *i) is looked up where v = w.
6. CheckConstraint returns within its loop, so the first constrained variable decides. All constraints must hold.
7. isTrue reads `=` as the same label, where section 3.2 says direct instance, and does not tell `<` from `<=`, nor `>`
   from `>=`. Each operator has its own meaning.

`published=True` follows the pseudo-code to the letter, with all seven; its edges are those of the event alone and its
taxonomy is the ontology alone. Its binding tables are kept, but not without bound: the oldest rows go first.
"""

from tidings.match.gtopss.engine import Gtopss

__all__ = ["Gtopss"]
