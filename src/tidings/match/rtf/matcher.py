"""`rtfm` and `rtfs`: the trie forests of RTF (RDF Text Filtering).

L. Zervakis, C. Tryfonopoulos, S. Skiadopoulos, M. Koubarakis: Full-Text Support for Publish/Subscribe Ontology Systems,
2016, sections 3.1 and 3.2.

Step 1 (`tuples`, `text`) makes conjunctions of tuples (S, P, O, {F}) of a query, step 2 enters them in the table QT,
and step 3 (`tries`) files each tuple in the trie forest, by subject, predicate and object, with its words below these
(RTFm) or in one forest for all words (RTFs). A publication (`filtering`) traverses the tries triple by triple; all
tIDs(N) on the way are marked; a query all of whose tuples are marked is satisfied.

Gaps, and how they are filled
- RTFs is left to a figure. Here the object's node has the paper's pseudo-node FT, whose tIDs are the tuples with words;
  these are filed once more in the forest of words. A tuple is matched where one and the same triple led to both places.
- Publications are E*: the paper has no entailment.
- All variables are one node below their parent, all wildcards another. Blank nodes of a query are variables.
- Which word comes next in a trie: the first that is a child already, else the first of the text.
- Negation is named, but not how it is indexed. Unwanted words are left out of the tries and checked with the word
  distances; a tuple of unwanted words alone is filed by its structure, and matches literals only.
- `ftOR` makes one query for each choice, at any depth and inside `ftNEAR` too. Above 256 the subscription is refused.
- A text constraint holds for each tuple that has its variable as the object.
- Nothing is said of removal: the tuple leaves its node, and branches that hold nothing more are cut.
- DISTINCT, ORDER BY a variable, and LIMIT from 1 on decide nothing and are taken. Bindings are computed by the
  verifier, when they are asked for.

Bugs found, and repaired
- The pseudocode of figure 4 sets `isSatisfied` once: after the first query of QT that does not match, none does. Here
  each query is decided by itself.
- Shared variables are never joined: tuples that match on their own count as a match. Rows of bindings are kept for each
  tuple and joined (`joining`), under the budget; a variable twice in one tuple must be the same term twice.
- The whole of QT is scanned for every publication. Here the marks lead to the queries that have any.

`published=True` leaves all three repairs out; `resets=True` with it keeps the first, since the paper's text implies it.
A match that only the published algorithm sees has no bindings.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidings.match.meaning import Meaning
from tidings.match.rtf import text as texts
from tidings.match.rtf import tries
from tidings.match.rtf.engine import TupleEngine
from tidings.match.rtf.filtering import Filtering, SplitFiltering, StoredQuery, StoredTuple
from tidings.match.rtf.size import Size
from tidings.match.rtf.text import Text
from tidings.match.rtf.tries import FULL_TEXT, TrieNode, every_node, insert_structure, insert_words
from tidings.match.rtf.tuples import QueryTuple
from tidings.match.run import DEFAULT_BUDGET
from tidings.ontology import Ontology
from tidings.rdf.terms import Term


class Rtfm(TupleEngine[StoredQuery, StoredTuple]):
    """RTFm: the words of a tuple stand below its structure, so there are many tries of words."""

    name = "rtfm"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        published: bool = False,
        resets: bool | None = None,
    ) -> None:
        super().__init__(ontology, budget=budget, now=now, published=published)
        self.resets = not published if resets is None else resets
        self._nodes = 0
        self._forest = TrieNode()
        self._table: dict[StoredQuery, None] = {}
        self._counts |= {"nodes_visited": 0, "tuples_matched": 0, "rows_scanned": 0}

    # ---------------------------------------------------------------------------------------------------- steps 2 and 3

    def _store(self, subscription: str, tuples: tuple[QueryTuple, ...]) -> StoredQuery:
        query = StoredQuery(subscription)
        query.tuples = tuple([self._file(query, part) for part in tuples])
        self._table[query] = None
        return query

    def _file(self, query: StoredQuery, part: QueryTuple) -> StoredTuple:
        node = insert_structure(self._forest, part.s, part.p, part.o)
        if part.text is not None:
            node = insert_words(node, part.text.words)
        stored = StoredTuple(self._next_tid(), query, part.shared, _check(part), node)
        node.put(stored)
        return stored

    def _discard(self, query: StoredQuery) -> int:
        del self._table[query]
        for stored in query.tuples:
            stored.node.take(stored)
            if stored.words is not None:
                stored.words.take(stored)
        return len(query.tuples)

    # -------------------------------------------------------------------------------------------------------- filtering

    def _publish(self, meaning: Meaning) -> Filtering:
        return Filtering(meaning, self._forest, self._counts, self._scan(), self.resets)

    def _scan(self) -> Mapping[StoredQuery, None] | None:
        return self._table if self.published else None

    # ---------------------------------------------------------------------------------------------------------- figures

    def _forests(self) -> tuple[TrieNode, ...]:
        return (self._forest,)

    def stats(self) -> Mapping[str, int | float]:
        """Counters since the start, and the sizes of what is stored now.

        `rows_scanned` are rows of QT looked at, `candidates` those whose tuples are all marked, `positions_checked`
        word positions looked at after the traversal. Sizes are those of tries and query table, without the forms of
        the queries, which are kept for their bindings (see `size`).
        """
        return {
            **super().stats(),
            "tries": sum(len(forest.children) for forest in self._forests()),
            "trie_nodes": self._nodes,
        }

    def _measure(self, size: Size) -> None:
        self._nodes = -len(self._forests())
        for forest in self._forests():
            for node in every_node(forest):
                self._nodes += 1
                tries.measure(node, size)
        size.own(self._table)
        for query in self._table:
            size.own(query, query.tuples, *query.tuples, *(stored.tid for stored in query.tuples))
            size.keep(1 + len(query.tuples))
            for stored in query.tuples:
                if stored.check is not None:
                    texts.measure(stored.check, size)


class Rtfs(Rtfm):
    """RTFs: all words are in a single forest, whatever the structure they belong to."""

    name = "rtfs"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        published: bool = False,
        resets: bool | None = None,
    ) -> None:
        super().__init__(ontology, budget=budget, now=now, published=published, resets=resets)
        self._words = TrieNode()

    def _file(self, query: StoredQuery, part: QueryTuple) -> StoredTuple:
        node = insert_structure(self._forest, part.s, part.p, part.o)
        words = None
        if part.text is not None and part.text.words:
            node = node.child(FULL_TEXT)
            words = insert_words(self._words, part.text.words)
        stored = StoredTuple(self._next_tid(), query, part.shared, _check(part), node, words)
        node.put(stored)
        if words is not None:
            words.put(stored)
        return stored

    def _publish(self, meaning: Meaning) -> Filtering:
        return SplitFiltering(meaning, self._forest, self._words, self._counts, self._scan(), self.resets)

    def _forests(self) -> tuple[TrieNode, ...]:
        return (self._forest, self._words)


def _check(part: QueryTuple) -> Text | None:
    """What is left to check of a tuple's text when its words are found."""
    return None if part.text is None or part.text.is_plain else part.text
