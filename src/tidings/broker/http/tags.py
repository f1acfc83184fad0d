"""Conditional requests: entity tags, and the headers that name some (RFC 9110, section 13)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus

from starlette.requests import Request

from tidings.broker.http.problems import Problem

_TAG = re.compile(r'(W/)?"([!\x23-\x7e\x80-\xff]*)"')


def is_known(request: Request, tag: str) -> bool:
    """Whether the client has it already, and need not be sent it again."""
    given = request.headers.get("if-none-match")
    return given is not None and _names(given, [tag], "if-none-match", weak=True)


def check(request: Request, tags: Sequence[str], what: str) -> None:
    """Before something is changed, which has these tags, or none while it is not there: is it as the client thinks?"""
    match, none = request.headers.get("if-match"), request.headers.get("if-none-match")
    changed = match is not None and not _names(match, tags, "if-match", weak=False)
    there = none is not None and _names(none, tags, "if-none-match", weak=True)
    if changed:
        raise Problem(HTTPStatus.PRECONDITION_FAILED, f"the {what} is not as it was when you looked")
    if there:
        raise Problem(HTTPStatus.PRECONDITION_FAILED, f"the {what} is there already")


def _names(given: str, tags: Sequence[str], header: str, *, weak: bool) -> bool:
    """Whether a header names one of them; those that begin with W/ count only where `weak` ones do."""
    if given.strip() == "*":
        return bool(tags)
    place, found = 0, False
    for part in _TAG.finditer(given):
        if given[place : part.start()].strip(" \t,"):
            break
        place = part.end()
        found = found or (f'"{part[2]}"' in tags and (weak or part[1] is None))
    if given[place:].strip(" \t,") or place == 0:
        raise Problem(HTTPStatus.BAD_REQUEST, f'{header} is a list of tags in quotes, such as "1-2", or *')
    return found
