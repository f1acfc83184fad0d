"""Drafts to events: labels, id, well-formedness, and whether the event is known already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidings.errors import EventError
from tidings.rdf.blanks import numbered
from tidings.rdf.draft import Draft, Problems
from tidings.rdf.event import Event
from tidings.rdf.identity import fingerprint, id_of
from tidings.rdf.seen import Numbering, Seen
from tidings.rdf.strict import flaw
from tidings.rdf.terms import parse_triple

_GROUP = "use --group, which brings its quads together first"


class Finisher:
    """For one document. `given` are its labels that look generated; None where no label of it can be."""

    def __init__(self, problems: Problems, given: Numbering | None, seen: Seen, *, strict: bool) -> None:
        self._problems = problems
        self._given = given
        self._seen = seen
        self._strict = strict
        self._since = len(seen)
        self._told = Numbering()

    def events(self, drafts: Iterable[Draft]) -> Iterator[Event]:
        for draft in drafts:
            triples = draft.triples if self._given is None else numbered(draft.triples, self._given)
            body = "".join(sorted(set(triples)))
            if self._strict and (reason := flaw(map(parse_triple, triples))):
                what = f" (event {draft.name})" if draft.name else ""
                self._problems.tell(reason + what, draft.line)
                continue
            id = draft.name or self._made_id(draft, body)
            if id is not None and self._is_new(id, draft, body):
                yield Event(id, body, self._problems.source)

    def _made_id(self, draft: Draft, body: str) -> str | None:
        try:
            return id_of(body, self._problems.limits.max_canonical_steps)
        except EventError as error:
            self._problems.tell(error.reason, draft.line, error.hint)
            return None

    def _is_new(self, id: str, draft: Draft, body: str) -> bool:
        if draft.name is None:
            new = self._seen.add(id, b"")[0] == "new"
            if new and draft.again:
                self._problems.tell("a graph named by a blank node goes on here, after others", draft.line, _GROUP)
            return new and not draft.again
        verdict, here = self._seen.add(id, fingerprint(body), self._since)
        # A graph in a hundred pieces is one problem and not a hundred.
        if verdict == "other" and self._told.number(id)[1]:
            self._tell_conflict(id, draft.line, here)
        return verdict == "new"

    def _tell_conflict(self, id: str, line: int | None, here: bool) -> None:
        if here:
            reason = f"the event {id} goes on here, after other graphs; what came before was taken as the whole event"
            self._problems.tell(reason, line, _GROUP)
        else:
            reason = f"the event {id} was read before, with other triples"
            self._problems.tell(reason, line, "give it an id of its own")
