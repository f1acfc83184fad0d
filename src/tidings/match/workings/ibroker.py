"""`ibroker` under watch: the buckets that the event's attributes lead to, and NextToMatch from there on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.ibroker import Chain, Entry, Ibroker, Scanning
from tidings.match.meaning import Meaning
from tidings.match.rtf.text import Text
from tidings.match.rtf.tries import VARIABLE, WILDCARD
from tidings.match.rtf.tuples import QueryTuple
from tidings.match.run import Budget
from tidings.match.workings.model import Section, counted, section, table
from tidings.match.workings.tuples import Filed, Heard, filed, queries_section, query_sections, text_text, words_section
from tidings.rdf.terms import Term, is_literal

_ANY = {VARIABLE: "any (variable)", WILDCARD: "any (wildcard)"}


class WatchedScanning(Scanning):
    """`heard` are the literals in which the words of an entry's Value were looked for."""

    def __init__(self, meaning: Meaning, *args: Any) -> None:
        super().__init__(meaning, *args)
        self.heard: dict[tuple[Text, Term], None] = {}

    def _contains(self, target: Term, text: Text, budget: Budget) -> bool:
        if is_literal(target):
            self.heard[text, target] = None
        return super()._contains(target, text, budget)


class WatchedIbroker(Ibroker):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._asked: dict[Chain, tuple[QueryTuple, ...]] = {}

    def _store(self, subscription: str, tuples: tuple[QueryTuple, ...]) -> Chain:
        chain = super()._store(subscription, tuples)
        self._asked[chain] = tuples
        return chain

    def _publish(self, meaning: Meaning) -> WatchedScanning:
        self._meaning = meaning
        self._scanning = WatchedScanning(meaning, self._buckets, self._counts, self.published)
        return self._scanning

    def sections(self, names: Names) -> Iterator[Section]:
        queries = list(filed((chain, chain.entries(), asked) for chain, asked in self._asked.items()))
        yield queries_section("The query as tuples", queries, names)
        yield self._bucket_section(queries, names)
        yield from words_section(self._heard(queries), names, Budget(self._budget))
        by_chain = {query.query: query for query in queries}
        for chain in self._scanning.beginnings():
            query = by_chain[chain]
            title = f"{query.name} begins in a bucket visited; NextToMatch followed, and the triples that match"
            if (yield from query_sections(title, query, self._scanning, names, Budget(self._budget))):
                return

    def _bucket_section(self, queries: list[Filed[Chain, Entry]], names: Names) -> Section:
        parts = {part.stored: part.name for query in queries for part in query.parts}
        entries = [entry for bucket in self._buckets.values() for entry in bucket.entries]

        def row(entry: Entry) -> tuple[str, ...]:
            attribute = entry.bucket.attribute
            value = entry.value
            return (
                _ANY.get(attribute) or names.term(Term(attribute)),
                MARKS[attribute in self._scanning.by_attribute],
                parts[entry],
                "first" if entry.query.first is entry else "",
                names.term(entry.subject) if entry.subject else "any",
                text_text(value) if isinstance(value, Text) else names.term(value) if value else "any",
                parts[entry.next_to_match] if entry.next_to_match else "–",
            )

        visited = counted(self._counts["buckets_visited"], "bucket")
        attributes = self._scanning.by_attribute.keys() - _ANY.keys()
        return section(
            f"Buckets, and whether one of the event's {counted(len(attributes), 'attribute')} leads there",
            table=table(("attribute", "", "entry", "", "subject", "Value", "NextToMatch"), entries, row),
            outcome=f"{visited} visited, {counted(self._counts['entries_visited'], 'entry', 'entries')} looked at",
        )

    def _heard(self, queries: list[Filed[Chain, Entry]]) -> Iterator[Heard]:
        for query in queries:
            for part in query.parts:
                for text, literal in self._scanning.heard:
                    if part.stored.value == text:
                        yield Heard(part.name, text, literal, self._meaning.words(literal))
