"""Subscriptions of files. `rows` reads the files; a row becomes a `Subscription` here, by one function.

One that cannot is reported, with its file and row, and costs no other one anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from tidings.errors import SubscriptionError, UsageError
from tidings.lang import parse
from tidings.lang.pattern import Dialect, Query
from tidings.lang.rows import Report, Row, kind_of, read_rows, read_table

_DIALECTS: Mapping[str, Dialect] = {"sparql": "sparql", "ops": "ops", "gtopss": "gtopss"}


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription as it came: its form, and what its file said about it.

    `line` is its line in a file of lines, its row in a table, None where the file holds this one alone. `created` and
    `cancelled` are checked to be ISO 8601 moments and kept as written.
    """

    id: str
    query: Query
    text: str
    dialect: Dialect = "sparql"
    source: str | None = None
    line: int | None = None
    created: str | None = None
    cancelled: str | None = None
    subscriber: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def retroactive(self) -> str | None:
        """From when on it asks for events that were before it."""
        return moment_of(self.options, "retroactive")


def read_subscriptions(path: str | Path, *, report: Report) -> Iterator[Subscription]:
    """The subscriptions of a folder or file, in its order; a folder's in the order of the names.

    Each one that cannot be read, or whose id another one has already, goes to `report`.
    """
    if not str(path):
        raise UsageError("the name of the file or folder of subscriptions is empty")
    taken: dict[str, str] = {}
    for row in read_rows(Path(path), report):
        try:
            subscription = subscription_of(row)
            if (holder := taken.get(subscription.id)) is not None:
                raise SubscriptionError(f"the id '{subscription.id}' is taken already, by {holder}")
        except SubscriptionError as error:
            report(placed(error, row))
            continue
        taken[subscription.id] = row.source if row.number is None else f"line {row.number}"
        yield subscription


def read_instances(path: str | Path, *, report: Report) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Rows for a template, each as an object with `id`, `parameters` and options.

    The parameters are those of the column `parameters` where there is one; otherwise every column but `id` and
    `options` is one. An empty cell is none.
    """
    for row in read_table(Path(path), report, ("id",)):
        try:
            yield row, {"id": id_of(row.fields), "parameters": _parameters(row.fields), **_options(row.fields)}
        except SubscriptionError as error:
            report(placed(error, row))


def _parameters(fields: Mapping[str, object]) -> Mapping[str, object]:
    if "parameters" in fields:
        return _object(fields, "parameters")
    return {name: value for name, value in fields.items() if name not in ("id", "options") and value is not None}


# --------------------------------------------------------------------------------------------------- row → subscription


def subscription_of(row: Row) -> Subscription:
    """The subscription that a row says, or a `SubscriptionError` about its content; `placed` gives that its place."""
    fields = row.fields
    id = id_of(fields)
    query = _text(fields, "query")
    if query is None:
        raise _missing(fields, "query")
    dialect = _dialect(_text(fields, "dialect"))
    return Subscription(
        id=id,
        query=parse(query, dialect),
        text=query,
        dialect=dialect,
        source=row.source,
        line=row.number,
        created=moment_of(fields, "created"),
        cancelled=moment_of(fields, "cancelled"),
        subscriber=_text(fields, "subscriber"),
        options=_options(fields),
    )


def placed(error: SubscriptionError, row: Row) -> SubscriptionError:
    """The error of a row's content, with the place of the row."""
    id = row.fields.get("id")
    return SubscriptionError(
        error.reason,
        span=error.span,
        source=row.source,
        hint=error.hint,
        id=None if id is None else str(id),
        row=row.number,
    )


def id_of(fields: Mapping[str, object]) -> str:
    if isinstance(fields.get("id"), int) and not isinstance(fields["id"], bool):
        return str(fields["id"])
    id = _text(fields, "id")
    if not id:
        raise _missing(fields, "id")
    return id


def _missing(fields: Mapping[str, object], name: str) -> SubscriptionError:
    if name in fields:
        return SubscriptionError(f"the field '{name}' is empty")
    present = ", ".join(f"'{name}'" for name in list(fields)[:20]) or "none"
    return SubscriptionError(f"there is no field '{name}'", hint=f"the fields are {present}")


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise SubscriptionError(f"the field '{name}' is {kind_of(value)}, it should be a string")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise SubscriptionError(f"the field '{name}' is not valid UTF-8") from error
    return value


def _dialect(name: str | None) -> Dialect:
    if not name:
        return "sparql"
    if name in _DIALECTS:
        return _DIALECTS[name]
    raise SubscriptionError(f"unknown dialect '{name}'; the dialects are {', '.join(_DIALECTS)}")


def moment_of(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if isinstance(value, date):
        return value.isoformat()
    text = _text(fields, name)
    if not text:
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        example = "2024-05-01T12:00:00Z"
        raise SubscriptionError(f"the field '{name}' is not a date and time such as {example}: '{text}'") from error
    return text


def _options(fields: Mapping[str, object]) -> Mapping[str, Any]:
    value = _object(fields, "options")
    moment_of(value, "retroactive")
    return value


def _object(fields: Mapping[str, object], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise SubscriptionError(f"the field '{name}' is not valid JSON: {error}") from error
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise SubscriptionError(f"the field '{name}' is {kind_of(value)}, it should be a JSON object")
    return value


def microseconds(moment: str) -> int:
    """An ISO 8601 moment as microseconds since 1970; in UTC where it does not say."""
    then = datetime.fromisoformat(moment)
    since = (then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
