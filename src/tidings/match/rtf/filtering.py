"""The query table, and the filtering of one publication through the tries (section 3.2 of the RTF paper)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

from tidings.match.meaning import Meaning
from tidings.match.rtf.engine import Publication
from tidings.match.rtf.joining import Row, projected
from tidings.match.rtf.text import Text
from tidings.match.rtf.tries import FULL_TEXT, TrieNode, structure_leaves, word_nodes
from tidings.match.rtf.tuples import Shared
from tidings.match.run import Budget
from tidings.rdf.terms import Term, Triple, is_literal


@dataclass(slots=True, eq=False)
class StoredQuery:
    """A row of the query table QT: whom to notify, and the tuples that have to match."""

    subscription: str
    tuples: tuple[StoredTuple, ...] = ()


@dataclass(slots=True, eq=False)
class StoredTuple:
    """A tuple by its identifier.

    `node` is where its structure ends, and in RTFm, which goes on from there, its words. `words` is where they end in
    the one forest of RTFs. `check` is the text of which the tries do not decide everything.
    """

    tid: int
    query: StoredQuery
    shared: Shared
    check: Text | None
    node: TrieNode
    words: TrieNode | None = None


class Filtering(Publication[StoredQuery, StoredTuple]):
    """filterPublication. `reached` has the nodes traversed that hold tuples, with the triples that led there.

    `scan` is QT where, as published, all of it is to be looked through; up to the first row that is not satisfied,
    if nothing `resets` what is remembered of it.
    """

    def __init__(
        self,
        meaning: Meaning,
        forest: TrieNode,
        counts: dict[str, int],
        scan: Mapping[StoredQuery, None] | None,
        resets: bool,
    ) -> None:
        super().__init__(counts, published=scan is not None)
        self._meaning = meaning
        self._scan = scan
        self._resets = resets
        self._tables: dict[tuple[TrieNode, TrieNode | None, tuple[int, ...]], set[Row]] = {}
        self.reached: defaultdict[TrieNode, list[Triple]] = defaultdict(list)
        for triple in meaning.triples:
            leaves, visited = structure_leaves(forest, triple)
            counts["nodes_visited"] += visited
            for leaf in leaves:
                if leaf.tids:
                    self.reached[leaf].append(triple)
                if leaf.children and is_literal(triple[2]):
                    self._descend(leaf, triple)

    def _descend(self, leaf: TrieNode, triple: Triple) -> None:
        """RTFm: on through the words that stand below the structure."""
        nodes = word_nodes(leaf, self._meaning.words(triple[2]).places)
        self.counts["nodes_visited"] += len(nodes)
        for node in nodes:
            if node.tids:
                self.reached[node].append(triple)

    def marked(self) -> Iterable[StoredTuple]:
        """The tuples whose nodes were reached."""
        return chain.from_iterable(node.tids for node in self.reached)

    def candidates(self) -> Iterable[StoredQuery]:
        """The rows of QT all of whose tuples are marked, found from the marks: no other row is looked at."""
        if self._scan is not None:
            return self._scanned(self._scan)
        marks = Counter(map(attrgetter("query"), self.marked()))
        self.counts["tuples_matched"] += marks.total()
        self.counts["rows_scanned"] += len(marks)
        return [query for query, count in marks.items() if count == len(query.tuples)]

    def _scanned(self, table: Iterable[StoredQuery]) -> list[StoredQuery]:
        """The same, as published: one row after the other, from its first tuple to one that is not marked."""
        marked = set(self.marked())
        satisfied = []
        rows = 0
        for query in table:
            rows += 1
            for stored in query.tuples:
                if stored not in marked:
                    break
            else:
                satisfied.append(query)
                continue
            if not self._resets:
                break
        self.counts["tuples_matched"] += len(marked)
        self.counts["rows_scanned"] += rows
        return satisfied

    def tuples(self, query: StoredQuery) -> Iterable[StoredTuple]:
        return query.tuples

    def table(self, stored: StoredTuple, budget: Budget) -> set[Row]:
        places = stored.shared.places
        if stored.check is not None or (stored.shared.same and not self.published):
            return projected(self.fitting(stored, budget), places)
        key = (stored.node, stored.words, places)
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = projected(self._triples(stored), places)
        return found

    def fitting(self, stored: StoredTuple, budget: Budget) -> list[Triple]:
        same = () if self.published else stored.shared.same
        budget.spend(len(self.reached.get(stored.node, ())))
        return [
            triple
            for triple in self._triples(stored)
            if all(triple[a] == triple[b] for a, b in same) and self._fits(stored.check, triple[2], budget)
        ]

    def _triples(self, stored: StoredTuple) -> Iterable[Triple]:
        """The triples that led to where the tuple is stored."""
        return self.reached.get(stored.node, ())

    def _fits(self, check: Text | None, target: Term, budget: Budget) -> bool:
        if check is None:
            return True
        return is_literal(target) and self.keeps(check, self._meaning.words(target), budget)


class SplitFiltering(Filtering):
    """The same for RTFs: `heard` has the nodes reached in the forest of words, with the literals that led there."""

    def __init__(
        self,
        meaning: Meaning,
        forest: TrieNode,
        words: TrieNode,
        counts: dict[str, int],
        scan: Mapping[StoredQuery, None] | None,
        resets: bool,
    ) -> None:
        self._spoken: dict[Term, None] = {}
        super().__init__(meaning, forest, counts, scan, resets)
        self.heard: defaultdict[TrieNode, set[Term]] = defaultdict(set)
        for literal in self._spoken:
            nodes = word_nodes(words, meaning.words(literal).places)
            counts["nodes_visited"] += len(nodes)
            for node in nodes:
                if node.tids:
                    self.heard[node].add(literal)

    def _descend(self, leaf: TrieNode, triple: Triple) -> None:
        """To the pseudo-node for the tuples that go on in the forest of words."""
        self.counts["nodes_visited"] += 1
        self.reached[leaf.children[FULL_TEXT]].append(triple)
        self._spoken[triple[2]] = None

    def marked(self) -> Iterable[StoredTuple]:
        """The tuples reached in both forests: of those reached in one, those reached in the other too.

        Whether one triple led to both places shows in its table.
        """
        reached, heard = self.reached, self.heard
        texts = [node for node in reached if node.content == FULL_TEXT]
        if sum(len(node.tids) for node in texts) <= sum(len(node.tids) for node in heard):
            both = [stored for node in texts for stored in node.tids if stored.words in heard]
        else:
            both = [stored for node in heard for stored in node.tids if stored.node in reached]
        return chain(both, *(node.tids for node in reached if node.content != FULL_TEXT))

    def _triples(self, stored: StoredTuple) -> Iterable[Triple]:
        reached = super()._triples(stored)
        if stored.words is None:
            return reached
        literals = self.heard.get(stored.words, ())
        return [triple for triple in reached if triple[2] in literals]
