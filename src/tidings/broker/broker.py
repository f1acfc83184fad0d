"""The embedded broker: subscribe, publish, and be told.

>>> import tidings
>>> with tidings.Broker() as broker:
...     cheap = broker.subscribe("SELECT ?pc { ?pc <http://e.x/price> ?p FILTER(?p < 400) }", id="cheap")
...     [match.subscription for match in broker.publish(b"<http://e.x/a> <http://e.x/price> 390 .", format="ttl")]
...     [notification.bindings[0]["pc"] for notification in cheap.page().notifications]
['cheap']
['<http://e.x/a>']
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar, overload
from uuid import uuid4

from tidings.broker import log, subscriptions
from tidings.broker.core import Accepted, Core, Where
from tidings.broker.instances import AT_ONCE, Ready, Templates, cost
from tidings.broker.knowledge import Knowledge
from tidings.broker.options import Options
from tidings.broker.receiving import Subscription
from tidings.broker.retention import Retention
from tidings.broker.subscriptions import Standing, Wanted
from tidings.delivery.notification import NO_TENANT
from tidings.errors import EventError, TidingsError, UsageError
from tidings.lang import parse
from tidings.lang.complexity import complexity
from tidings.lang.pattern import Dialect, Query
from tidings.lang.templates import Template
from tidings.match.base import Match
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import EventsBy, events_of

T = TypeVar("T")

_LONGEST_ID = 512


class Broker:
    """In memory, or with `path` durable in that folder, where it goes on with what it had.

    What is published or registered is on the disk when the call returns. Any number of threads may use it at once; many
    that publish share the wait for the disk. A folder belongs to one broker at a time. With `matching="outside"` events
    are matched by somebody else, a pipeline on Spark for one, and subscribers are told when that has been done.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        ontology: Ontology | None = None,
        retention: Retention | None = None,
        matching: Where = "embedded",
    ) -> None:
        folder = None if path is None else Path(path)
        knowledge = None if ontology is None else Knowledge(ontology)
        self._core = Core(folder, knowledge, retention or Retention(), matching=matching)
        self._templates = Templates(self._core)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """When all that was asked for is done."""
        self._core.close()

    # ---------------------------------------------------------------------------------------------------- subscriptions

    def subscribe(
        self,
        query: str | None = None,
        *,
        id: str | None = None,
        dialect: Dialect = "sparql",
        template: str | None = None,
        parameters: Mapping[str, object] | None = None,
        since: datetime | None = None,
        **options: object,
    ) -> Subscription:
        """Leave a subscription: it sees the events that are published from now on, and with `since` those of the past.

        In place of a query it can be the name of a template, with values for its parameters. The same again changes
        nothing; another query under an id that there is becomes its next version. Options are `labels`, `ttl` in
        seconds, `payload`, and `format`.
        """
        name = f"s-{uuid4()}" if id is None else checked_id(id)
        given = Options.of(options)
        if (query is None) == (template is None) or (template is None and parameters is not None):
            raise UsageError("a subscription has either a query, or a template and parameters")
        if template is not None:
            wanted, form = self._instance(self._ready(template), name, parameters or {}, given, since)
        else:
            assert query is not None
            form = parse(query, dialect, source=name)
            score = complexity(form, query).score
            wanted = Wanted(NO_TENANT, name, query, dialect, given, _microseconds(since), score)
        return self._stands(_done(self._core.register(wanted, form)).standing)

    def subscribe_many(self, template: str, rows: Iterable[Mapping[str, object]]) -> int:
        """Leave many subscriptions of one template: each row has an `id`, `parameters`, and perhaps options. How many.

        They are registered in transactions of some thousands. The first row that is wrong raises its error; those
        before it stay.
        """
        ready = self._ready(template)
        count = 0
        for some in _batches(rows, AT_ONCE):
            made: list[tuple[Wanted, Query]] = []
            wrong: TidingsError | None = None
            for row in some:
                try:
                    made.append(self._row(ready, row))
                except TidingsError as error:
                    wrong = error
                    break
            for done in _done(self._core.register_many(made)):
                self._stands(done.standing)
            count += len(made)
            if wrong is not None:
                wrong.add_note(f"in row {count + 1}")
                raise wrong
        return count

    def _row(self, ready: Ready, row: Mapping[str, object]) -> tuple[Wanted, Query]:
        options = dict(row)
        id, values, since = options.pop("id", None), options.pop("parameters", {}), options.pop("since", None)
        if not isinstance(values, Mapping) or not isinstance(since, datetime | None):
            raise UsageError("'parameters' are values by name, and 'since' is a datetime")
        return self._instance(ready, checked_id(id), values, Options.of(options), since)

    def _instance(
        self, ready: Ready, id: str, values: Mapping[str, object], options: Options, since: datetime | None
    ) -> tuple[Wanted, Query]:
        instance = ready.template.instance(values)
        score = ready.cost(instance, self._core.knowledge.ontology.resource_classes).score
        return ready.wanted(id, instance, options, _microseconds(since), score), instance.query

    def _stands(self, standing: Standing) -> Subscription:
        if standing.looked is not None:
            self._core.look_back(standing)
        return Subscription(self._core, standing)

    def subscription(self, id: str) -> Subscription:
        """The one that stands under this id; a `UsageError` where there is none."""
        with self._core.database.reading() as database:
            standing = subscriptions.find(database, NO_TENANT, id)
        if standing is None:
            raise UsageError(f"there is no subscription {id!r}")
        return Subscription(self._core, standing)

    def subscriptions(self) -> Iterator[Subscription]:
        """All of them, by id."""
        after = ""
        while True:
            with self._core.database.reading() as database:
                some = subscriptions.page(database, NO_TENANT, after, 1_000)
            yield from (Subscription(self._core, standing) for standing in some)
            if not some:
                return
            after = some[-1].id

    # -------------------------------------------------------------------------------------------------------- templates

    def template(
        self,
        id: str,
        query: str,
        parameters: Mapping[str, object],
        dialect: Dialect = "sparql",
        *,
        description: str | None = None,
    ) -> int:
        """Keep a template under this id; its version. What was made of an earlier one stays as it is."""
        made = Template(query, parameters, dialect, description=description, source=checked_id(id))
        score = cost(made.form, query, self._core.knowledge.ontology.resource_classes).score
        return _done(self._templates.define(NO_TENANT, id, made, score)).stored.version

    def templates(self) -> dict[str, Template]:
        """All of them, by id."""
        found: dict[str, Template] = {}
        while some := self._templates.page(NO_TENANT, max(found, default=""), 1_000):
            found |= {each.id: Template.of(json.loads(each.definition), each.id) for each in some}
        return found

    def remove_template(self, id: str) -> None:
        """What was made of it stays. A `UsageError` where there is none."""
        if _done(self._templates.delete(NO_TENANT, id)) is None:
            raise _no_template(id)

    def _ready(self, id: str) -> Ready:
        found = self._templates.ready(NO_TENANT, id)
        if found is None:
            raise _no_template(id)
        return found

    # ----------------------------------------------------------------------------------------------------------- events

    def publish(self, event: Any, format: str | None = None, *, by: EventsBy = "graph") -> Published:
        """Publish what `event` is: a path, bytes with their format, pyoxigraph quads, an rdflib graph, an `Event`.

        When this returns, it is durable, and so is what it matched. The same event again changes nothing. Of a document
        that cannot be read, nothing is published. Where the id of an event was taken by another one, its `EventError`
        is raised, and the other events of the document are there.
        """
        outcomes = _done(self._core.publish(events_of(event, format=format, by=by)))
        accepted = []
        for outcome in outcomes:
            if isinstance(outcome, EventError):
                raise outcome
            accepted.append(outcome)
        return Published(self._core, accepted)

    def event(self, id: str) -> Event | None:
        """The event of this id, if it is there."""
        with self._core.database.reading() as database:
            found = log.by_id(database, id)
        return None if found is None else found.event

    def delete_event(self, id: str) -> bool:
        """Delete an event, and all notifications of it. Whether it was there."""
        return _done(self._core.delete_event(id))

    # ----------------------------------------------------------------------------------------------------------- upkeep

    def backup(self, folder: str | os.PathLike[str]) -> None:
        """Write what is there now into a folder that has no broker yet. All else goes on meanwhile."""
        self._core.database.backup(Path(folder))

    def stats(self) -> Mapping[str, int | float]:
        return {**self._core.matching.engine.stats(), "bytes": self._core.database.bytes}


class Published(Sequence[Match]):
    """The matches of what was published: by event in order, and by subscription. They are put together when they are
    first asked for. `ids` are those of all events, also of those that were there before.
    """

    def __init__(self, core: Core, accepted: Sequence[Accepted]) -> None:
        self._core = core
        self._accepted = accepted

    @property
    def ids(self) -> list[str]:
        return [each.id for each in self._accepted]

    @cached_property
    def _matches(self) -> list[Match]:
        new = [each.logged for each in self._accepted if each.new]
        numbers = {int(number) for each in new for number in (() if each.matched is None else each.matched)}
        with self._core.database.reading() as database:
            those = {number: subscriptions.by_number(database, number) for number in numbers}
        found = []
        for each in new:
            matched = [those[int(number)] for number in (() if each.matched is None else each.matched)]
            own = [standing for standing in matched if standing is not None and standing.tenant == NO_TENANT]
            found += [self._match(standing, each.event) for standing in sorted(own, key=lambda standing: standing.id)]
        return found

    def _match(self, standing: Standing, event: Event) -> Match:
        return Match(event.id, standing.id, event.source, lambda: self._core.answer(standing, event))

    def __len__(self) -> int:
        return len(self._matches)

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> list[Match]: ...
    def __getitem__(self, place: int | slice) -> Match | list[Match]:
        return self._matches[place]


def _batches(rows: Iterable[T], most: int) -> Iterator[list[T]]:
    several = iter(rows)
    while some := list(islice(several, most)):
        yield some


def _no_template(id: str) -> UsageError:
    return UsageError(f"there is no template {id!r:.100}")


def checked_id(id: object) -> str:
    """An id as a subscription may have it."""
    if not isinstance(id, str) or not id or len(id) > _LONGEST_ID or not id.isprintable() or id in (".", ".."):
        raise UsageError(
            f"the id of a subscription is a text of 1 to {_LONGEST_ID} characters that can be seen, and not {id!r:.100}"
        )
    return id


def _microseconds(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1e6)


def _done(future: Future[T]) -> T:
    return future.result()
