"""`/metrics`: what is counted and timed, for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker import subscriptions
from tidings.broker.core import Core
from tidings.broker.feeds import rows
from tidings.broker.figures import labelled
from tidings.broker.http.service import Service

_SLOWEST = 10
_KIND = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(request: Request) -> Response:
    service = Service.of(request)
    service.access.caller(request, "admin")
    return Response(await asyncio.to_thread(_text, service), media_type=_KIND)


def _text(service: Service) -> str:
    core = service.core
    engine = core.matching.engine.stats()
    with core.database.reading() as reader:
        feeds = rows.counts(reader)
    gauges = {
        "subscriptions": ("Subscriptions that are active.", len(core.matching)),
        "unmatched": ("Events that wait to be matched elsewhere.", core.last - core.told),
        "subscriptions_unindexed": ("Rules that every event must be tried on.", engine["unindexed"]),
        "candidates": ("Subscriptions that were looked at, since the start.", engine["candidates"]),
        "verified": ("Subscriptions that the verifier was asked about, since the start.", engine["asked"]),
        "waiting": ("What waits to be written.", core.waiting),
        "listening": ("Open streams.", service.hub.listening),
        "backlog": ("Notifications that wait to be acknowledged, at most.", core.backlog.total),
        "backlog_largest": ("The most of them that wait for one subscription.", core.backlog.largest),
        "paused": ("Subscriptions that are paused.", len(core.paused)),
        "feeds": ("Feeds that are read.", feeds["active"] + feeds["failing"]),
        "feeds_failing": ("Of these, feeds with which something was wrong the last time.", feeds["failing"]),
        "feeds_gone": ("Feeds that are gone.", feeds["gone"]),
        "database_bytes": ("What the database takes.", core.database.bytes),
    }
    return core.figures.text(gauges) + "\n".join([*_slowest(core), ""])


def _slowest(core: Core) -> Iterator[str]:
    name = "tidings_verifier_seconds_total"
    yield f"# HELP {name} What the verifier took for the slowest subscriptions."
    yield f"# TYPE {name} counter"
    with core.database.reading() as reader:
        for number, seconds in core.figures.verified.slowest(_SLOWEST):
            standing = subscriptions.by_number(reader, int(number))
            if standing is not None:
                labels = labelled(tenant=standing.tenant, subscription=standing.id, version=str(standing.version))
                yield f"{name}{{{labels}}} {seconds:.6f}"
