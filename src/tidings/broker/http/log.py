"""`/v1/log`: for those who match elsewhere. The events in order, the subscriptions to match them with, and where to say
what was found. It is for who may do everything: events and subscriptions of all tenants pass here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker.desk import Desk, Failed
from tidings.broker.http.bodies import json_of
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import query_of
from tidings.broker.http.service import Bounds
from tidings.broker.log import NONE_MATCHED, Logged, Numbers
from tidings.broker.tokens import Scope

MOST = 10_000
"""Events, and subscriptions, of a page."""

_LONGEST = 20.0
_BETWEEN_LOOKS = 0.02
_HIGHEST = (1 << 32) - 1
_LAST_PLACE = 10**18 - 1


class Guard(Protocol):
    def caller(self, request: Request, scope: Scope) -> object:
        """A `Problem` where who asks may not."""


class Door:
    """Who may, and to which desk."""

    def __init__(self, desk: Desk, access: Guard, bounds: Bounds) -> None:
        self.desk = desk
        self.access = access
        self.bounds = bounds


def _door(request: Request) -> Door:
    door = request.app.state.door
    assert isinstance(door, Door)
    door.access.caller(request, "admin")
    return door


async def events(request: Request) -> Response:
    """The next events behind a place; where there are none, those that come within `wait` seconds."""
    desk = _door(request).desk
    asked = query_of(request, "after", "upto", "limit", "wait")
    after, upto = _number(asked, "after", 0), _number(asked, "upto", _LAST_PLACE)
    limit = _number(asked, "limit", 1_000, MOST)
    wait = _number(asked, "wait", 0, int(_LONGEST) * 1_000) / 1_000
    matched = await asyncio.to_thread(lambda: desk.matched)
    over = time.monotonic() + wait
    while (last := await _last(desk)) <= after and time.monotonic() < over:
        await asyncio.sleep(_BETWEEN_LOOKS)
    found = await asyncio.to_thread(desk.events, after, min(upto, last), limit) if limit else []
    return JSONResponse({"last": last, "matched": matched, "events": [_told(each) for each in found]})


async def _last(desk: Desk) -> int:
    return await asyncio.to_thread(lambda: desk.last)


def _told(logged: Logged) -> dict[str, object]:
    event = logged.event
    return {"place": logged.seq, "id": event.id, "published": event.published, "body": event.body}


async def ontology(request: Request) -> Response:
    desk = _door(request).desk
    known = await asyncio.to_thread(lambda: desk.ontology)
    return JSONResponse({"tag": known.tag, "text": known.text or "", "cycles": known.cycles})


async def listed(request: Request) -> Response:
    """The numbers of the subscriptions that events are to be matched with; none where these are `known`."""
    desk = _door(request).desk
    found = await asyncio.to_thread(desk.listed, query_of(request, "known").get("known"))
    told: dict[str, object] = {"state": found.state, "ontology": found.ontology, "steps": found.steps}
    return JSONResponse(told if found.numbers is None else told | {"numbers": found.numbers})


async def texts(request: Request) -> Response:
    door = _door(request)
    numbers = _numbers(await json_of(request, door.bounds.body, "numbers"))
    if len(numbers) > MOST:
        raise Problem(HTTPStatus.BAD_REQUEST, f"at most {MOST:,} subscriptions are told at a time")
    found = await asyncio.to_thread(door.desk.texts, numbers)
    rows = [{"number": each.number, "query": each.query, "dialect": each.dialect} for each in found]
    return JSONResponse({"subscriptions": rows})


def _numbers(asked: Any) -> list[int]:
    numbers = asked.get("numbers")
    if not isinstance(numbers, list) or not all(_is_number(each, _HIGHEST) for each in numbers):
        raise Problem(HTTPStatus.BAD_REQUEST, "'numbers' should be a list of numbers of subscriptions")
    return list(map(int, numbers))


async def matched(request: Request) -> Response:
    door = _door(request)
    said = await json_of(request, door.bounds.body, "events", "ontology", "failed")
    found, failed = await asyncio.to_thread(_matched, said.get("events")), _failed(said.get("failed", []))
    tag = said.get("ontology")
    if not isinstance(tag, str):
        raise Problem(HTTPStatus.BAD_REQUEST, "'ontology' should be the tag of the ontology that it was matched with")
    upto = await asyncio.to_thread(door.desk.take, found, failed, tag)
    return JSONResponse({"matched": upto})


def _matched(given: Any) -> dict[int, Numbers]:
    if not isinstance(given, list):
        raise Problem(HTTPStatus.BAD_REQUEST, "'events' should be a list of pairs")
    found: dict[int, Numbers] = {}
    for pair in given:
        match pair:
            case [place, [*numbers]] if _is_number(place, _LAST_PLACE):
                found[int(place)] = _versions(numbers)
            case _:
                raise Problem(
                    HTTPStatus.BAD_REQUEST, "an event is a pair: its place, and the numbers of what it matched"
                )
    return found


def _versions(given: list[Any]) -> Numbers:
    """There may be very many."""
    if not given:
        return NONE_MATCHED
    try:
        numbers = np.array(given)
    except ValueError:
        numbers = np.zeros(1)
    if (
        numbers.dtype.kind not in "if"
        or numbers.ndim != 1
        or not (numbers.min() >= 1 and numbers.max() <= _HIGHEST and (numbers % 1 == 0).all())
    ):
        raise Problem(HTTPStatus.BAD_REQUEST, "what an event matched are numbers of subscriptions")
    return numbers.astype(np.uint32)


def _failed(given: Any) -> list[Failed]:
    found = []
    for each in given if isinstance(given, list) else [given]:
        match each:
            case {"number": number, "times": times, "event": str(event), "reason": str(reason), **more} if not more:
                if _is_number(number, _HIGHEST) and _is_number(times, _LAST_PLACE):
                    found.append(Failed(int(number), int(times), event, reason[:1_000]))
                    continue
        raise Problem(
            HTTPStatus.BAD_REQUEST, "'failed' should be a list of objects with number, times, event and reason"
        )
    return found


def _is_number(given: Any, most: int) -> bool:
    """A whole number; in JSON, 1.0 is one."""
    whole = isinstance(given, int) or (isinstance(given, float) and given.is_integer())
    return whole and not isinstance(given, bool) and 1 <= given <= most


def _number(asked: Mapping[str, str], name: str, usual: int, most: int = _LAST_PLACE) -> int:
    given = asked.get(name, str(usual))
    if not given.isascii() or not given.isdecimal() or len(given) > 18 or int(given) > most:
        raise Problem(HTTPStatus.BAD_REQUEST, f"{name} is a number from 0 to {most}")
    return int(given)
