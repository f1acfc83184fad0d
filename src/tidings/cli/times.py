"""`--since` and `--until`: a stretch of time, as a person writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

_AGO = re.compile(r"(\d{1,9})\s*(m|h|d|w)")
_LONGEST_DAYS = 100_000
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment(ctx: click.Context, option: click.Parameter, value: str | None) -> datetime | None:
    """A date, a date and time (UTC unless it says otherwise), or so long ago: 30m, 12h, 30d, 4w."""
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip())
    if ago is not None:
        return datetime.now(UTC) - int(ago[1]) * _UNITS[ago[2]]
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        raise click.BadParameter(
            f"'{value}' is no moment; write 2026-11-16, 2026-11-16T12:30:00Z, or how long ago: 30m, 12h, 30d.",
            ctx,
            option,
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def age(ctx: click.Context, option: click.Parameter, value: str | None) -> timedelta | None:
    """So long: 30m, 12h, 30d, 4w."""
    if value is None:
        return None
    found = _AGO.fullmatch(value.strip())
    if found is None or not int(found[1]) or int(found[1]) * _UNITS[found[2]].days > _LONGEST_DAYS:
        raise click.BadParameter(f"'{value}' is no length of time; write 30m, 12h, 30d or 4w.", ctx, option)
    return int(found[1]) * _UNITS[found[2]]


def time_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments `since` and `until`."""
    until = click.option("--until", callback=moment, metavar="TIME", help="Only events from before this moment.")
    since = click.option(
        "--since", callback=moment, metavar="TIME", help="Only events from this moment on: 2026-11-16, 12h, 30d."
    )
    found: Callable[..., Any] = since(until(callback))
    return found
