"""`rtfm` and `rtfs` under watch: the paths that triples walk in the tries, the tuples marked, and what they share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import Any

from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.meaning import Meaning
from tidings.match.rtf.filtering import Filtering, StoredQuery, StoredTuple
from tidings.match.rtf.matcher import Rtfm, Rtfs
from tidings.match.rtf.tries import FULL_TEXT, TrieNode, structure_leaves, word_nodes
from tidings.match.rtf.tuples import QueryTuple
from tidings.match.run import Budget
from tidings.match.workings.model import Section, counted, listed, section, table, tree_table
from tidings.match.workings.tuples import Filed, Heard, filed, queries_section, query_sections, words_section
from tidings.rdf.terms import Term, Triple, is_literal


class WatchedRtfm(Rtfm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._asked: dict[StoredQuery, tuple[QueryTuple, ...]] = {}

    def _store(self, subscription: str, tuples: tuple[QueryTuple, ...]) -> StoredQuery:
        query = super()._store(subscription, tuples)
        self._asked[query] = tuples
        return query

    def _publish(self, meaning: Meaning) -> Filtering:
        filtering = super()._publish(meaning)
        self._told = self._telling(filtering, meaning)
        return filtering

    def _telling(self, filtering: Filtering, meaning: Meaning) -> Told:
        return Told(filtering, meaning, self._forest, self._asked)

    def sections(self, names: Names) -> Iterator[Section]:
        return self._told.sections(names, self._counts["nodes_visited"], self._budget)


class WatchedRtfs(WatchedRtfm, Rtfs):
    def _telling(self, filtering: Filtering, meaning: Meaning) -> Told:
        return SplitTold(filtering, meaning, self._forest, self._asked, self._words)


class Told:
    """What is in the tries, and in the filtering of the last publication."""

    def __init__(
        self,
        filtering: Filtering,
        meaning: Meaning,
        forest: TrieNode,
        asked: Mapping[StoredQuery, tuple[QueryTuple, ...]],
    ) -> None:
        self.filtering = filtering
        self._meaning = meaning
        self._forest = forest
        self._asked = asked

    def sections(self, names: Names, visited: int, budget: int) -> Iterator[Section]:
        queries = list(filed((query, query.tuples, asked) for query, asked in self._asked.items()))
        tids = {part.stored: part.name for query in queries for part in query.parts}
        walked = self.walked()
        yield queries_section("Query table QT", queries, names)
        yield from self._forests(walked, tids, visited, names)
        yield from words_section(self._heard(queries, walked), names, Budget(budget))
        yield from self._decided(queries, tids, names, budget)

    # ----------------------------------------------------------------------------------------------------------- walked

    def walked(self) -> dict[TrieNode, list[Triple]]:
        """The nodes that triples come to, level by level, and then word by word."""
        walked: defaultdict[TrieNode, list[Triple]] = defaultdict(list)
        for triple in self._meaning.triples:
            walked[self._forest].append(triple)
            for depth in (1, 2, 3):
                leaves, _ = structure_leaves(self._forest, triple[:depth])
                for node in leaves:
                    walked[node].append(triple)
            for leaf in leaves:
                if leaf.children and is_literal(triple[2]):
                    for node in self._below(leaf, triple[2]):
                        walked[node].append(triple)
        return walked

    def _below(self, leaf: TrieNode, literal: Term) -> list[TrieNode]:
        return word_nodes(leaf, self._meaning.words(literal).places)

    def _forests(
        self, walked: Mapping[TrieNode, list[Triple]], tids: Mapping[StoredTuple, str], visited: int, names: Names
    ) -> Iterator[Section]:
        title = f"Trie forest, and how many of {counted(len(self._meaning.triples), 'triple')} come to each node"
        note = f"{counted(visited, 'node')} visited"
        yield _forest_section(title, note, self._forest, walked, "triples", tids, names)

    def _heard(
        self, queries: Sequence[Filed[StoredQuery, StoredTuple]], walked: Mapping[TrieNode, list[Triple]]
    ) -> Iterator[Heard]:
        """The literals that came to the object of a tuple with words."""
        for query in queries:
            for part in query.parts:
                if part.asked.text is not None:
                    for triple in walked.get(_object_node(part.stored.node), ()):
                        if is_literal(triple[2]):
                            yield Heard(part.name, part.asked.text, triple[2], self._meaning.words(triple[2]))

    # ---------------------------------------------------------------------------------------------------------- decided

    def _decided(
        self,
        queries: Sequence[Filed[StoredQuery, StoredTuple]],
        tids: Mapping[StoredTuple, str],
        names: Names,
        budget: int,
    ) -> Iterator[Section]:
        """The marks, and the queries that have all of them, up to one that is satisfied."""
        marked = set(self.filtering.marked())
        count = Counter(stored.query for stored in marked)
        complete = {query.query for query in queries if count[query.query] == len(query.parts)}

        def row(query: Filed[StoredQuery, StoredTuple]) -> tuple[str, ...]:
            return query.name, f"{count[query.query]} of {len(query.parts)}", MARKS[query.query in complete]

        yield section(
            f"Marked: {listed(name for stored, name in tids.items() if stored in marked)}",
            table=table(("query", "tuples marked", ""), queries, row),
            outcome="" if complete else "so there is no candidate",
        )
        by_query = {query.query: query for query in queries}
        for candidate in self.filtering.candidates():
            query = by_query[candidate]
            title = f"{query.name}: every tuple is marked; the triples that match them"
            if (yield from query_sections(title, query, self.filtering, names, Budget(budget))):
                return


class SplitTold(Told):
    """RTFs: the words are in a forest of their own."""

    def __init__(
        self,
        filtering: Filtering,
        meaning: Meaning,
        forest: TrieNode,
        asked: Mapping[StoredQuery, tuple[QueryTuple, ...]],
        words: TrieNode,
    ) -> None:
        super().__init__(filtering, meaning, forest, asked)
        self._words = words

    def _below(self, leaf: TrieNode, literal: Term) -> list[TrieNode]:
        return [leaf.children[FULL_TEXT]]

    def heard(self, walked: Mapping[TrieNode, list[Triple]]) -> dict[TrieNode, list[Term]]:
        """The nodes of the forest of words that the literals which came to an FT go on to."""
        literals = dict.fromkeys(
            triple[2] for node, triples in walked.items() if node.content == FULL_TEXT for triple in triples
        )
        heard: defaultdict[TrieNode, list[Term]] = defaultdict(list)
        for literal in literals:
            for node in (self._words, *word_nodes(self._words, self._meaning.words(literal).places)):
                heard[node].append(literal)
        return heard

    def _forests(
        self, walked: Mapping[TrieNode, list[Triple]], tids: Mapping[StoredTuple, str], visited: int, names: Names
    ) -> Iterator[Section]:
        yield from super()._forests(walked, tids, visited, names)
        heard = self.heard(walked)
        title = f"Forest of words, and how many of {counted(len(heard[self._words]), 'literal')} come to each node"
        if self._words.children:
            yield _forest_section(title, "", self._words, heard, "literals", tids, names)


def _forest_section(
    title: str,
    note: str,
    forest: TrieNode,
    walked: Mapping[TrieNode, Sized],
    what: str,
    tids: Mapping[StoredTuple, str],
    names: Names,
) -> Section:
    def row(branch: str, node: TrieNode) -> tuple[str, ...]:
        came = len(walked.get(node, ()))
        return (
            f"{branch}{_content(node, names)}",
            f"{MARKS[came > 0]} {came}",
            listed(tids[stored] for stored in node.tids) if node.tids else "",
        )

    return section(
        title, note, table=tree_table(("node", what, "tIDs"), forest, lambda node: node.children.values(), row)
    )


def _content(node: TrieNode, names: Names) -> str:
    """content(N): a term, a variable, a wildcard or a word, none of which looks like another."""
    if node.parent is None:
        return "root"
    return names.term(Term(node.content)) if node.content[0] in '<"_' else node.content


def _object_node(node: TrieNode) -> TrieNode:
    """Where the structure ends that a tuple's words stand below, if it has any."""
    path = [node]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    return path[-4]
