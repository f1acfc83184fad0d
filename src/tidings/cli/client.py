"""What the commands that speak to a server share: where it is, and who asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from tidings.errors import UsageError

if TYPE_CHECKING:
    from tidings.broker.client import Client

_DEFAULT = "http://127.0.0.1:8420"


def client_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """`--url` and `--token`, which become the argument `client`."""

    @wraps(callback)
    def wrapper(*args: Any, url: str, token: str | None, **rest: Any) -> Any:
        with _client(url, token) as client:
            return callback(*args, client=client, **rest)

    token = click.option("--token", envvar="TIDINGS_TOKEN", help="Who asks.  [default: $TIDINGS_TOKEN]")
    url = click.option("--url", envvar="TIDINGS_URL", default=_DEFAULT, show_default=True, help="The server.")
    found: Callable[..., Any] = url(token(wrapper))
    return found


def _client(url: str, token: str | None) -> Client:
    if find_spec("httpx2") is None:
        raise UsageError(
            "this needs an HTTP client, which is not installed; install it with: pip install 'tidings[server]'"
        )
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"the address of a server begins with http:// or https://, and not '{url}'")
    from tidings.broker.client import Client

    return Client(url, token)
