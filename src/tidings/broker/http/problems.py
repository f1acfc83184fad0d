"""What went wrong, as RFC 9457 has it: a document with the status, what is the matter, and where."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.errors import (
    BrokerError,
    CursorError,
    DeliveryError,
    EventConflict,
    LogError,
    ParameterError,
    ParseError,
    TidingsError,
)

MEDIA_TYPE = "application/problem+json"
FAULT = "the server made a mistake; its log has more"
_log = logging.getLogger("tidings")


class Problem(Exception):
    """An answer that says what is wrong. `more` are members of the document besides its own."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.more = more or {}

    def document(self) -> dict[str, object]:
        title = self.status.phrase
        return {"type": "about:blank", "title": title, "status": self.status.value, "detail": self.detail, **self.more}

    def response(self) -> Response:
        return JSONResponse(self.document(), self.status, self.headers, MEDIA_TYPE)


def problem_of(error: TidingsError) -> Problem:
    """What an error is for who asked. Names of files and folders here are none of his business."""
    match error:
        case ParseError():
            status = HTTPStatus.BAD_REQUEST
            if isinstance(error, EventConflict):
                status = HTTPStatus.CONFLICT
            elif isinstance(error, ParameterError):
                status = HTTPStatus.UNPROCESSABLE_ENTITY
            place = {"line": error.line, "column": error.column, "source_line": error.source_line, "hint": error.hint}
            return Problem(
                status, error.reason, more={name: value for name, value in place.items() if value is not None}
            )
        case DeliveryError():
            return Problem(HTTPStatus.BAD_GATEWAY, str(error))
        case CursorError():
            return Problem(HTTPStatus.GONE, str(error))
        case LogError():
            return Problem(HTTPStatus.CONFLICT, str(error))
        case BrokerError():
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, error.problem, headers={"retry-after": "5"})
    return Problem(HTTPStatus.BAD_REQUEST, str(error))


async def on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def on_tidings(request: Request, error: Exception) -> Response:
    assert isinstance(error, TidingsError)
    return tidings_response(error, f"{request.method} {request.url.path}")


def tidings_response(error: TidingsError, asked: str) -> Response:
    """The answer to who asked for that."""
    if isinstance(error, BrokerError):
        _log.error("%s: %s", asked, error)
    return problem_of(error).response()


async def on_http(request: Request, error: Exception) -> Response:
    """What the framework finds: no such path, another method."""
    assert isinstance(error, HTTPException)
    return Problem(HTTPStatus(error.status_code), error.detail, headers=error.headers).response()


async def on_fault(request: Request, error: Exception) -> Response:
    """A mistake of ours: it is logged, and nothing of it told."""
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, FAULT).response()
