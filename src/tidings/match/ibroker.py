"""`ibroker`: queries as chains through an inverted index of attributes.

M. J. Park, C. W. Chung: iBroker: an intelligent broker for ontology based publish/subscribe systems, ICDE 2009; as far
as section 3.3 of the RTF paper tells of it (see `rtf.matcher`), and with that paper's extension by words and wildcards.

A hash table leads from an attribute to its bucket, a list of entries. An entry belongs to one query; it has the
reference NextToMatch to the entry of the query's next attribute, the Value it asks for (a term, or the words of a
text), and its variables. An event's attributes lead to buckets, in which all entries are looked through for beginnings
of queries; from a beginning that matches, NextToMatch is followed until it is empty.

Gaps, and how they are filled
- An attribute is the predicate of a triple pattern. Variables and wildcards as predicates have a bucket each, which
  every event looks through.
- NextToMatch names a bucket; how the query is found in it is not said. As published, the bucket's list is gone through
  until it is; else NextToMatch leads to the entry itself.
- Entries have no field for a subject that is a term; here they do.
- The order of a chain is that of the triple patterns in the query.
- Events are E*: nothing is said of entailment on the way to the index.
- Full text is as in `rtf`: the same splitting of disjunctions and the same refusals. Word distances and unwanted words
  are checked on positions, after all wanted words are found.
- Nothing is said of removal: the chain is followed, its entries leave their buckets, and an empty bucket goes.
- DISTINCT, ORDER BY a variable, and LIMIT from 1 on decide nothing and are taken. Bindings are computed by the
  verifier, when they are asked for.

Bug found, and repaired
- Shared variables are never joined: each entry is matched on its own. Rows of bindings are kept along the chain and
  joined at its end, under the budget; a variable twice in one pattern must be the same term twice.

`published=True` leaves the repair out, and searches buckets. A match that only it sees has no bindings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidings.lang.pattern import Var
from tidings.match.meaning import Meaning
from tidings.match.rtf.engine import Publication, TupleEngine
from tidings.match.rtf.joining import Row, projected
from tidings.match.rtf.size import Size
from tidings.match.rtf.text import Text, has_words
from tidings.match.rtf.text import measure as measure_text
from tidings.match.rtf.tries import VARIABLE, WILDCARD, content
from tidings.match.rtf.tuples import QueryTuple, Shared
from tidings.match.run import DEFAULT_BUDGET, Budget
from tidings.ontology import Ontology
from tidings.rdf.terms import Term, Triple, is_literal


@dataclass(slots=True, eq=False)
class Bucket:
    """The entries of one attribute, in the order of their numbers."""

    attribute: str
    entries: list[Entry] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Entry:
    """One triple pattern of a query: `subject` and `value` are None where anything will do."""

    number: int
    query: Chain
    bucket: Bucket
    next_to_match: Entry | None
    subject: Term | None
    value: Term | Text | None
    shared: Shared


@dataclass(slots=True, eq=False)
class Chain:
    """A query by its first entry."""

    subscription: str
    first: Entry | None = None

    def entries(self) -> Iterator[Entry]:
        """The query recomposed: NextToMatch, until it is empty."""
        entry = self.first
        while entry is not None:
            yield entry
            entry = entry.next_to_match


class Ibroker(TupleEngine[Chain, Entry]):
    name = "ibroker"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        published: bool = False,
    ) -> None:
        super().__init__(ontology, budget=budget, now=now, published=published)
        self._buckets: dict[str, Bucket] = {}
        self._counts |= dict.fromkeys(("buckets_visited", "entries_visited", "chains_followed"), 0)

    def _store(self, subscription: str, tuples: tuple[QueryTuple, ...]) -> Chain:
        chain = Chain(subscription)
        for part in reversed(tuples):
            attribute = content(part.p)
            bucket = self._buckets.setdefault(attribute, Bucket(attribute))
            value = part.text if isinstance(part.o, Var) else part.o
            subject = None if isinstance(part.s, Var) else part.s
            chain.first = Entry(self._next_tid(), chain, bucket, chain.first, subject, value, part.shared)
            bucket.entries.append(chain.first)
        return chain

    def _discard(self, query: Chain) -> int:
        count = 0
        for entry in query.entries():
            entries = entry.bucket.entries
            del entries[bisect_left(entries, entry.number, key=lambda other: other.number)]
            if not entries:
                del self._buckets[entry.bucket.attribute]
            count += 1
        return count

    def _publish(self, meaning: Meaning) -> Scanning:
        return Scanning(meaning, self._buckets, self._counts, self.published)

    def stats(self) -> Mapping[str, int | float]:
        """Counters since the start, and the sizes of what is stored now.

        `entries_visited` are entries looked at in buckets, `candidates` those of them that queries begin with and whose
        Value the event may have, `chains_followed` the references that were followed from them. Sizes are those of the
        index, without the forms of the queries, which are kept for their bindings (see `rtf.size`).
        """
        return {**super().stats(), "buckets": len(self._buckets)}

    def _measure(self, size: Size) -> None:
        size.own(self._buckets)
        for bucket in self._buckets.values():
            size.own(bucket, bucket.entries)
            size.share(bucket.attribute)
            size.keep(1, bucket.attribute)
            for entry in bucket.entries:
                _measure(entry, size)
        for chains in self._stored.values():
            size.own(*chains)


def _measure(entry: Entry, size: Size) -> None:
    """The entry in its list: the query's identifier, NextToMatch, Value, and variables, whose names are not counted."""
    size.own(entry, entry.number)
    size.share(*(term for term in (entry.subject, entry.value) if isinstance(term, str)))
    variables = (entry.subject is None) + (entry.bucket.attribute == VARIABLE) + (not isinstance(entry.value, str))
    size.keep(3 + variables)
    if isinstance(entry.value, Text):
        measure_text(entry.value, size)
        size.keep(0, *entry.value.words)
    elif entry.value is not None:
        size.keep(0, entry.value)


class Scanning(Publication[Chain, Entry]):
    """One event: its triples by attribute, against the buckets."""

    def __init__(
        self, meaning: Meaning, buckets: Mapping[str, Bucket], counts: dict[str, int], published: bool
    ) -> None:
        super().__init__(counts, published)
        self._meaning = meaning
        self._buckets = buckets
        self.by_attribute: dict[str, list[Triple]] = {}
        for triple in meaning.triples:
            self.by_attribute.setdefault(triple[1], []).append(triple)
        if meaning.triples:
            self.by_attribute[VARIABLE] = self.by_attribute[WILDCARD] = list(meaning.triples)

    def candidates(self) -> Iterator[Chain]:
        """The queries that begin with an entry whose Value, if it is a term, the event has."""
        for attribute, bucket in self._visited():
            values = {triple[2] for triple in self.by_attribute[attribute]}
            for entry in bucket.entries:
                value = entry.value
                if entry.query.first is entry and (value is None or value in values or isinstance(value, Text)):
                    yield entry.query

    def beginnings(self) -> Iterator[Chain]:
        """The queries that begin in the buckets of the event's attributes."""
        for _, bucket in self._visited():
            yield from (entry.query for entry in bucket.entries if entry.query.first is entry)

    def _visited(self) -> Iterator[tuple[str, Bucket]]:
        """The buckets of the event's attributes; every entry there is looked at."""
        for attribute in self.by_attribute:
            bucket = self._buckets.get(attribute)
            if bucket is not None:
                self.counts["buckets_visited"] += 1
                self.counts["entries_visited"] += len(bucket.entries)
                yield attribute, bucket

    def tuples(self, query: Chain) -> Iterator[Entry]:
        for entry in query.entries():
            if entry is not query.first:
                self.counts["chains_followed"] += 1
                if self.published:
                    self.counts["entries_visited"] += entry.bucket.entries.index(entry) + 1
            yield entry

    def table(self, stored: Entry, budget: Budget) -> set[Row]:
        return projected(self.fitting(stored, budget), stored.shared.places)

    def fitting(self, stored: Entry, budget: Budget) -> Sequence[Triple]:
        triples: Sequence[Triple] = self.by_attribute.get(stored.bucket.attribute, ())
        budget.spend(len(triples))
        if stored.subject is not None:
            triples = [triple for triple in triples if triple[0] == stored.subject]
        if isinstance(stored.value, Text):
            text = stored.value
            triples = [triple for triple in triples if self._contains(triple[2], text, budget)]
        elif stored.value is not None:
            triples = [triple for triple in triples if triple[2] == stored.value]
        if not self.published:
            for a, b in stored.shared.same:
                triples = [triple for triple in triples if triple[a] == triple[b]]
        return triples

    def _contains(self, target: Term, text: Text, budget: Budget) -> bool:
        """Whether the list of words in Value, and what is asked of their positions, is satisfied by a literal."""
        if not is_literal(target):
            return False
        words = self._meaning.words(target)
        return has_words(text, words) and (text.is_plain or self.keeps(text, words, budget))
