"""What `rtf` and `ibroker` have in common: conjunctions of tuples, words in literals, variables that tuples share."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.fulltext import Words
from tidings.match.rtf.engine import Publication, Stored, StoredPart
from tidings.match.rtf.joining import Table as Rows
from tidings.match.rtf.joining import planned, projected, search
from tidings.match.rtf.text import Formula, Text, has_words, holds
from tidings.match.rtf.tuples import QueryTuple
from tidings.match.run import Budget
from tidings.match.workings.model import Kept, Section, counted, listed, section, shortened, table, triple_text
from tidings.rdf.terms import Term, Triple

Q = TypeVar("Q", bound=Stored)
P = TypeVar("P", bound=StoredPart)

_LONGEST_LITERAL = 40


@dataclass(frozen=True, slots=True)
class Part(Generic[P]):
    """A tuple by the name it is told under, as it was asked for and as it is stored."""

    name: str
    asked: QueryTuple
    stored: P


@dataclass(frozen=True, slots=True)
class Filed(Generic[Q, P]):
    """A query and its tuples."""

    name: str
    query: Q
    parts: tuple[Part[P], ...]


def filed(stored: Iterable[tuple[Q, Iterable[P], Sequence[QueryTuple]]]) -> Iterator[Filed[Q, P]]:
    """Names for what is stored, tuples being numbered through all queries."""
    count = 0
    for number, (query, parts, asked) in enumerate(stored, 1):
        named = tuple(Part(f"t{count + at}", *pair) for at, pair in enumerate(zip(asked, parts, strict=True), 1))
        yield Filed(f"q{number}", query, named)
        count += len(named)


def queries_section(title: str, queries: Sequence[Filed[Q, P]], names: Names) -> Section:
    """Step 1 of RTF."""
    split = f": disjunctions split it into {len(queries)} queries with one recipient" if len(queries) > 1 else ""
    rows = [(query, part) for query in queries for part in query.parts]
    return section(
        f"{title}{split}",
        table=table(
            ("query", "tuple", "(S, P, O)", "{F}"),
            rows,
            lambda row: (row[0].name, row[1].name, tuple_text(row[1].asked, names), text_text(row[1].asked.text)),
        ),
    )


def tuple_text(asked: QueryTuple, names: Names) -> str:
    return f"({', '.join(map(names.node, (asked.s, asked.p, asked.o)))})"


# ---------------------------------------------------------------------------------------------------------------- words


def text_text(text: Text | None) -> str:
    if text is None:
        return "–"
    distances = [formula_text(formula) for formula in text.near]
    unwanted = [f"ftNOT {formula_text(formula)}" for formula in text.never]
    words = f"{{{', '.join(text.words)}}}" if text.words else ""
    return ", ".join([part for part in (words, *distances, *unwanted) if part])


def formula_text(formula: Formula) -> str:
    """Words without room between them as a phrase."""
    phrases = [[formula.words[0]]]
    gaps: list[str] = []
    for word, (least, most) in zip(formula.words[1:], formula.gaps, strict=True):
        if least == most == 0:
            phrases[-1].append(word)
        else:
            gaps.append(f" ftNEAR[{least},{most}] ")
            phrases.append([word])
    quoted = ['"' + " ".join(phrase) + '"' for phrase in phrases]
    return "".join(text + gap for text, gap in zip(quoted, [*gaps, ""], strict=True))


@dataclass(frozen=True, slots=True)
class Heard:
    """A literal whose words were looked for."""

    name: str
    text: Text
    literal: Term
    words: Words


def words_section(heard: Iterable[Heard], names: Names, budget: Budget) -> Iterator[Section]:
    """The words of each literal with their positions, then distances and unwanted words, once all words are there."""
    asked = [(one, item) for one in heard for item in _asked(one)]

    def row(pair: tuple[Heard, str | Formula]) -> tuple[str, ...]:
        one, item = pair
        literal = shortened(names.term(one.literal), _LONGEST_LITERAL)
        return one.name, literal, *(_word(one, item) if isinstance(item, str) else _distance(one, item, budget))

    if asked:
        columns = ("tuple", "literal", "looked for", "", "positions, from 1")
        yield section("Words in the literals that come this far", table=table(columns, asked, row))


def _asked(heard: Heard) -> Iterable[str | Formula]:
    text = heard.text
    return (*text.words, *text.near, *text.never) if has_words(text, heard.words) else text.words


def _word(heard: Heard, word: str) -> tuple[str, ...]:
    places = heard.words.places.get(word, [])
    return word, MARKS[bool(places)], listed(str(place + 1) for place in places)


def _distance(heard: Heard, formula: Formula, budget: Budget) -> tuple[str, ...]:
    found = holds(formula, heard.words, budget.spend)
    if formula in heard.text.near:
        return formula_text(formula), MARKS[found], ""
    places = [f"{word} {place + 1}" for word in formula.words for place in heard.words.places.get(word, ())]
    return f"ftNOT {formula_text(formula)}", MARKS[not found], listed(places) if found else ""


# ------------------------------------------------------------------------------------------------------------- the join


def query_sections(
    title: str, query: Filed[Q, P], publication: Publication[Q, P], names: Names, budget: Budget
) -> Generator[Section, None, bool]:
    """The tuples of a query in order, up to one that no triple matches, then their join: whether there is one."""
    matched: list[tuple[Part[P], list[Triple]]] = []
    for part in query.parts:
        matched.append((part, list(publication.fitting(part.stored, budget))))
        if not matched[-1][1]:
            break
    missing = not matched[-1][1]

    def row(pair: tuple[Part[P], Triple | None]) -> tuple[str, ...]:
        part, triple = pair
        found = MARKS[False] if triple is None else triple_text(names, triple)
        return part.name, tuple_text(part.asked, names), found

    yield section(
        title,
        table=table(
            ("tuple", "(S, P, O)", "matched by"),
            [(part, triple) for part, triples in matched for triple in _or_none(triples)],
            row,
        ),
        outcome=_missing(matched[-1][0], query.name) if missing else "",
    )
    if missing:
        return False
    told, joined = _join_section(matched, names, budget)
    yield replace(told, outcome=f"{query.name} is {'' if joined else 'not '}satisfied")
    return joined


def _or_none(triples: Sequence[Triple]) -> Sequence[Triple | None]:
    return triples or [None]


def _missing(part: Part[P], query: str) -> str:
    twice = " with one term where a variable stands twice" if part.stored.shared.same else ""
    return f"no triple matches {part.name}{twice}, so {query} is not satisfied"


def _join_section(
    matched: Sequence[tuple[Part[P], list[Triple]]], names: Names, budget: Budget
) -> tuple[Section, bool]:
    shared = [
        (part.name, Rows(part.stored.shared.columns, projected(triples, part.stored.shared.places)))
        for part, triples in matched
        if part.stored.shared.columns
    ]
    if len(shared) < 2:
        return section("Join: no tuples share a variable"), True
    columns = {rows.columns for _, rows in shared}
    if len(columns) == 1 and len(only := next(iter(columns))) == 1:
        common = sorted(frozenset.intersection(*(frozenset(rows.rows) for _, rows in shared)))
        kept = Kept([f"?{name}" for name in only], common)
        joined = bool(common)
        found = kept.table(names)
        title = f"Join of {listed(name for name, _ in shared)} on ?{only[0]}: {counted(len(common), 'value')} in common"
    else:
        steps = planned([rows for _, rows in shared], budget)
        joined = search(steps, budget)
        title = f"Join of {listed(name for name, _ in shared)}, the smallest table first, up to the first row"
        found = table(
            ("tuple", "rows of", "", "rows that go on", "over"),
            steps,
            lambda step: (
                next(name for name, rows in shared if rows is step.table),
                _variables(step.table.columns),
                str(len(step.table.rows)),
                str(len(step.seen)),
                _variables(step.columns),
            ),
        )
    return section(title, table=found), joined


def _variables(columns: Iterable[str]) -> str:
    return listed(f"?{name}" for name in columns)
