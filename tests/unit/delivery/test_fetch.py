"""A document from somebody else's server: asked for politely, and bounded whatever the server does."""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest
from tests.unit.delivery.site import Answer, Site

from tidings.delivery.fetch import Care, Fetched, Known, fetch, plain_url
from tidings.errors import DeliveryError

HERE = Care(seconds=10, size=1 << 20, private=True)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


def test_what_is_known_is_not_sent_again(site: Site) -> None:
    url = site.put("/a", "one", **{"last-modified": "Tue, 01 Sep 2026 10:00:00 GMT"})
    first = fetch(url, care=HERE, agent="tidings/test", accept="text/plain")
    assert (first.status, first.body, first.url, first.moved) == (200, b"one", url, None)
    asked = site.asked[0].headers
    assert (asked["user-agent"], asked["accept"]) == ("tidings/test", "text/plain")
    assert "if-none-match" not in asked
    again = fetch(url, first.known, HERE)
    assert (again.status, again.body) == (304, b"")
    assert site.asked[1].headers["if-modified-since"] == "Tue, 01 Sep 2026 10:00:00 GMT"
    site.put("/a", "two")
    assert fetch(url, first.known, HERE).body == b"two"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_packed_bodies_are_unpacked(site: Site, pack: Callable[[bytes], bytes]) -> None:
    encoding = "gzip" if pack is gzip.compress else "deflate"
    url = site.put("/a", pack(b"text" * 1_000), **{"content-encoding": encoding})
    assert fetch(url, care=HERE).body == b"text" * 1_000
    for broken in (pack(b"text" * 1_000)[:-9], b"no such thing"):
        site.put("/a", broken, **{"content-encoding": encoding})
        with pytest.raises(DeliveryError, match=f"not {encoding}"):
            fetch(url, care=HERE)
    site.put("/a", b"", **{"content-encoding": "br"})
    with pytest.raises(DeliveryError, match="not asked for"):
        fetch(url, care=HERE)


def test_any_status_is_an_answer(site: Site) -> None:
    site.pages["/gone"] = Answer(410, b"gone")
    site.pages["/busy"] = Answer(503, b"", {"Retry-After": "120"})
    assert fetch(f"{site.url}/gone", care=HERE).status == 410
    assert fetch(f"{site.url}/busy", care=HERE).headers["retry-after"] == "120"
    assert fetch(f"{site.url}/nothing", care=HERE).status == 404


def redirected(site: Site, *steps: tuple[str, int, str]) -> Fetched:
    for path, status, to in steps:
        site.pages[path] = Answer(status, b"", {"location": to})
    site.put("/end", "there")
    return fetch(site.url + steps[0][0], care=HERE)


def test_redirects_are_followed_and_only_what_is_for_ever_is_remembered(site: Site) -> None:
    assert redirected(site, ("/1", 301, "/2"), ("/2", 308, "/end")).moved == f"{site.url}/end"
    assert redirected(site, ("/1", 301, "/2"), ("/2", 302, "/end")).moved == f"{site.url}/2"
    assert redirected(site, ("/1", 307, "/2"), ("/2", 301, "/end")).moved is None
    found = redirected(site, ("/1", 303, "end#part"))
    assert (found.body, found.url, found.moved) == (b"there", f"{site.url}/end", None)


def test_a_redirect_without_an_end(site: Site) -> None:
    site.pages["/loop"] = lambda asked: Answer(302, b"", {"location": f"{asked.path}x"})
    site.pages |= {"/loop" + "x" * n: site.pages["/loop"] for n in range(20)}
    with pytest.raises(DeliveryError, match="again and again"):
        fetch(f"{site.url}/loop", care=HERE)
    assert len(site.asked) == HERE.redirects + 1


@pytest.mark.parametrize("to", ["file:///etc/passwd", "gopher://x/", "http://u:p@x/", "http://[::1", "//"])
def test_a_redirect_to_what_is_no_address(site: Site, to: str) -> None:
    site.pages["/1"] = Answer(301, b"", {"location": to})
    with pytest.raises(DeliveryError):
        fetch(f"{site.url}/1", care=HERE)


def test_a_redirect_to_a_private_address_is_checked_like_the_first(site: Site) -> None:
    """A name that may be asked, for all that anybody knows, leads to one that may not."""
    site.pages["/1"] = Answer(302, b"", {"location": f"http://localhost:{site.port}/secret"})
    site.put("/secret", "secret")

    def look(host: str, port: int) -> list[str]:
        return ["93.184.216.34"] if host == "innocent.example" else ["127.0.0.1"]

    with pytest.raises(DeliveryError, match="private"), _sent_here("93.184.216.34", site.port):
        fetch(f"http://innocent.example:{site.port}/1", care=Care(seconds=10, look=look))
    assert [each.path for each in site.asked] == ["/1"]


@contextmanager
def _sent_here(address: str, port: int) -> Iterator[None]:
    """Connections to that address come to this machine."""
    connect = socket.create_connection

    def connected(to: tuple[str, int], *more: object) -> socket.socket:
        assert to == (address, port)
        return connect(("127.0.0.1", port), *more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "create_connection", connected)
        yield


def test_loopback_is_not_asked_unless_that_is_allowed(site: Site) -> None:
    site.put("/a", "text")
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"):
        with pytest.raises(DeliveryError, match="private"):
            fetch(f"http://{host}:{site.port}/a")
    assert site.asked == []


def test_a_name_is_looked_up_once_and_that_address_is_asked(site: Site) -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    site.put("/a", "text")
    with _sent_here("93.184.216.34", site.port):
        care = Care(seconds=10, look=lambda *_: answers.pop(0))
        assert fetch(f"http://rebinding.example:{site.port}/a", care=care).body == b"text"
    assert answers == [["127.0.0.1"]]


# --------------------------------------------------------------------------------------------------------------- bounds


def test_a_document_that_is_too_large(site: Site) -> None:
    url = site.put("/a", bytes(HERE.size + 1))
    with pytest.raises(DeliveryError, match="more than"):
        fetch(url, care=HERE)
    site.put("/a", bytes(HERE.size))
    assert len(fetch(url, care=HERE).body) == HERE.size


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb(site: Site, encoding: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    url = site.put("/bomb", bomb, **{"content-encoding": encoding})
    with pytest.raises(DeliveryError, match="more than"):
        fetch(url, care=HERE)


def said(*pieces: bytes, pause: float = 0.0, closes: bool = True) -> Callable[[socket.socket, Event], None]:
    def speak(connection: socket.socket, over: Event) -> None:
        for piece in pieces:
            connection.sendall(piece)
            if over.wait(pause):
                return
        if not closes:
            over.wait(20)

    return speak


@contextmanager
def speaking(speak: Callable[[socket.socket, Event], None]) -> Iterator[str]:
    """A server that hears nothing out, and says this."""
    over = Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            with suppress(OSError), listener.accept()[0] as connection:
                connection.recv(1 << 16)
                speak(connection, over)

        thread = Thread(target=run, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            over.set()
            thread.join(10)


HEAD = b"HTTP/1.1 200 OK\r\n"
SLOW = {
    "the head letter by letter": said(*(bytes([each]) for each in HEAD * 100), pause=0.02),
    "headers without an end": said(HEAD, *[b"x: y\r\n"] * 1_000, pause=0.02),
    "the body letter by letter": said(HEAD + b"content-length: 1000\r\n\r\n", *[b"x"] * 1_000, pause=0.02),
    "chunks letter by letter": said(HEAD + b"transfer-encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 500, pause=0.02),
    "not a word": said(closes=False),
    "go on, go on": said(*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 1_000, pause=0.02),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_server_that_speaks_slowly_holds_nobody_up(name: str) -> None:
    with speaking(SLOW[name]) as url, pytest.raises(DeliveryError, match="took too long"):
        fetch(url, care=Care(seconds=0.5, private=True))


BROKEN = {
    "no HTTP": said(b"what do you want?\r\n\r\n"),
    "nothing": said(),
    "a body that ends before its end": said(HEAD + b"content-length: 10\r\n\r\nabc"),
    "chunks that end before their end": said(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nabc"),
    "a header without an end": said(HEAD, b"x: " + b"y" * 100_000),
    "too many headers": said(HEAD, b"x: y\r\n" * 1_000),
    "chunks of no size": said(HEAD + b"transfer-encoding: chunked\r\n\r\nxyz\r\nabc\r\n"),
    "a size that is none": said(HEAD + b"transfer-encoding: chunked\r\n\r\n-5\r\nabc\r\n"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_answer(name: str) -> None:
    with speaking(BROKEN[name]) as url, pytest.raises(DeliveryError, match="no answer"):
        fetch(url, care=Care(seconds=5, private=True))


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(DeliveryError, match="refused"):
        fetch(f"http://127.0.0.1:{port}/", care=HERE)
    with pytest.raises(DeliveryError, match="address of a document"):
        fetch("ftp://example.org/", care=HERE)


def test_a_look_up_that_does_not_end() -> None:
    held, over, began = Event(), Event(), Event()

    def look(host: str, port: int) -> list[str]:
        began.set()
        held.wait(60)
        return []

    before = time.monotonic()
    with pytest.raises(DeliveryError, match=r"slow\.example is not known: it took too long"):
        fetch("http://slow.example/", care=Care(seconds=0.3, look=look))
    began.clear()
    Thread(target=lambda: began.wait(30) and over.set(), daemon=True).start()
    with pytest.raises(DeliveryError, match="it took too long"):
        fetch("http://slow.example/", care=Care(seconds=60, look=look, over=over.is_set))
    assert time.monotonic() - before < 20
    held.set()


def test_tags_that_are_too_long_are_not_sent_back() -> None:
    assert Fetched("u", 200, {"etag": f'"{"x" * 5_000}"', "last-modified": "y"}, b"").known == Known(None, "y")


def test_addresses_are_made_plain() -> None:
    assert plain_url(" http://x/é?q=a b&c=%20#part ") == "http://x/%C3%A9?q=a%20b&c=%20"
