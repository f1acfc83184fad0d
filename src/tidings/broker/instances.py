"""Subscriptions made of templates. A template is read when it is first used, and so is what its instances cost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock

from tidings.broker import audit, templates
from tidings.broker.audit import PROGRAM, Who
from tidings.broker.core import Core
from tidings.broker.options import Options
from tidings.broker.subscriptions import Wanted
from tidings.broker.templates import Defined, Stored
from tidings.index.shape import SPECIAL
from tidings.index.unindexed import unindexed
from tidings.lang.complexity import Complexity, complexity, of_text
from tidings.lang.pattern import Query
from tidings.lang.templates import Instance, Template
from tidings.rdf.terms import Term

_READY = 1_000
_SORTS = 1_000
"""So many templates are kept ready, and of each so many sorts of instances."""

AT_ONCE = 10_000
"""So many subscriptions are registered in one transaction at most: everybody else waits for it."""


class Ready:
    """A template that can be used."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.template = Template.of(json.loads(stored.definition), stored.id)
        self._costs: dict[tuple[object, ...], Mapping[str, int]] = {}

    def wanted(
        self, id: str, instance: Instance, options: Options, since: int | None = None, score: int | None = None
    ) -> Wanted:
        made = options.made_of(self.stored.id, self.stored.version, instance.values)
        return Wanted(self.stored.tenant, id, instance.text, instance.dialect, made, since, score)

    def cost(self, instance: Instance, universal: frozenset[Term]) -> Complexity:
        """What an instance may cost. Those whose values are of the same sorts cost the same, but for their length: it
        is worked out for one of them. An IRI with a meaning of its own is a sort by itself.
        """
        sorts = tuple([_sort(term, universal) for term in instance.terms])
        key = universal, sorts, instance.words
        costs = self._costs.get(key)
        if costs is None:
            if len(self._costs) >= _SORTS:
                self._costs.clear()
            costs = self._costs[key] = cost(instance.query, "", universal).costs
        length = {name: cost for name, cost in of_text(instance.text).costs.items() if cost}
        return Complexity({**costs, **length})


def _sort(term: Term, universal: frozenset[Term]) -> str:
    if term[0] == '"':
        return term[term.rindex('"') :]
    return term if term in SPECIAL or term in universal else ""


def cost(form: Query, text: str, universal: frozenset[Term]) -> Complexity:
    return complexity(form, text, tried_on_all=unindexed(form, universal))


class Templates:
    """Those of a broker."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._ready: dict[tuple[str, str], Ready] = {}
        self._lock = Lock()

    def find(self, tenant: str, id: str) -> Stored | None:
        with self._core.database.reading() as reader:
            return templates.find(reader, tenant, id)

    def page(self, tenant: str, after: str, limit: int) -> list[Stored]:
        with self._core.database.reading() as reader:
            return templates.page(reader, tenant, after, limit)

    def ready(self, tenant: str, id: str) -> Ready | None:
        """The one that there is under this id; those that were used last need not be read again."""
        stored = self.find(tenant, id)
        if stored is None:
            return None
        with self._lock:
            known = self._ready.get((tenant, id))
        if known is not None and known.stored == stored:
            return known
        made = Ready(stored)
        with self._lock:
            if len(self._ready) >= _READY:
                self._ready.clear()
            self._ready[tenant, id] = made
        return made

    def define(self, tenant: str, id: str, template: Template, score: int, by: Who = PROGRAM) -> Future[Defined]:
        definition = template.to_json()

        def write(writer: sqlite3.Connection) -> Defined:
            now = self._core.now()
            done = templates.define(writer, tenant, id, definition, score, now)
            if done.new:
                audit.write(writer, now, by, "define template", id)
            return done

        return self._core.change(write)

    def delete(self, tenant: str, id: str, by: Who = PROGRAM) -> Future[Stored | None]:
        """What there was under this id. What was made of it stays."""

        def write(writer: sqlite3.Connection) -> Stored | None:
            gone = templates.delete(writer, tenant, id)
            if gone is not None:
                audit.write(writer, self._core.now(), by, "delete template", id)
            return gone

        return self._core.change(write)
