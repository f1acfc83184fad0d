"""What the commands that speak to a server share: where it is, and who asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial, wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tidings.cli.terminal import Terminal
from tidings.errors import ClientError, UsageError

if TYPE_CHECKING:
    from tidings.broker.client import Client

T = TypeVar("T")
_DEFAULT = "http://127.0.0.1:8420"


def client_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """`--url` and `--token`, which become the argument `client`."""

    @wraps(callback)
    def wrapper(*args: Any, connect: Callable[[], Client], **rest: Any) -> Any:
        with connect() as client:
            return callback(*args, client=client, **rest)

    return server_options(wrapper)


def server_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The same, as the argument `connect`, for a command that does not always need a server."""

    @wraps(callback)
    def wrapper(*args: Any, url: str, token: str | None, **rest: Any) -> Any:
        return callback(*args, connect=partial(_client, url, token), **rest)

    token = click.option("--token", envvar="TIDINGS_TOKEN", help="Who asks.  [default: $TIDINGS_TOKEN]")
    url = click.option("--url", envvar="TIDINGS_URL", default=_DEFAULT, show_default=True, help="The server.")
    found: Callable[..., Any] = url(token(wrapper))
    return found


class Patience:
    """Asks again where a server is busy or away. One that has never answered is not waited for; one that has is, for
    a few minutes, so that what is piped through does not end when the server is started anew.
    """

    def __init__(self, terminal: Terminal, longest: float = 300.0) -> None:
        self._terminal = terminal
        self._longest = longest
        self._answered = False

    def ask(self, question: Callable[[], T]) -> T:
        until = time.monotonic() + self._longest
        wait = 0.2
        while True:
            try:
                answer = question()
            except ClientError as error:
                away = error.status is None and self._answered
                if not (away or error.status in (429, 503)) or time.monotonic() > until:
                    raise
                wait = max(wait, error.retry_after or 0.0)
                self._terminal.warning(f"{error}; trying again in {wait:g} s")
                time.sleep(wait)
                wait = min(2 * wait, 10.0)
            else:
                self._answered = True
                return answer


def _client(url: str, token: str | None) -> Client:
    if find_spec("httpx2") is None:
        raise UsageError(
            "this needs an HTTP client, which is not installed; install it with: pip install 'tidings[server]'"
        )
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"the address of a server begins with http:// or https://, and not '{url}'")
    from tidings.broker.client import Client

    return Client(url, token)
