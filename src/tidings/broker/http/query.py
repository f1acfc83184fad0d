"""What stands behind the question mark: parameters that there are, each once."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.requests import Request

from tidings.broker.http.problems import Problem


def query_of(request: Request, *names: str) -> Mapping[str, str]:
    """Those that are given. One that there is not, or that is there twice, is a mistake somebody wants to hear of."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in names:
            raise Problem(HTTPStatus.BAD_REQUEST, f"there is no parameter {name!r:.100}; there are {', '.join(names)}")
        if name in found:
            raise Problem(HTTPStatus.BAD_REQUEST, f"{name} is given twice")
        found[name] = value
    return found


def limit_of(given: str | None, usual: int, most: int) -> int:
    """How many a page is to have."""
    if given is None:
        return usual
    if not given.isascii() or not given.isdecimal() or len(given) > 9 or not 1 <= int(given) <= most:
        raise Problem(HTTPStatus.BAD_REQUEST, f"limit is a number from 1 to {most}")
    return int(given)


def choice_of(given: str | None, name: str, choices: tuple[str, ...]) -> str | None:
    """One of several, or none."""
    if given is not None and given not in choices:
        raise Problem(HTTPStatus.BAD_REQUEST, f"{name} is one of {', '.join(choices)}")
    return given
