"""Those who are told: page by page with acknowledgements, as a stream that resumes, and at an endpoint."""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from tests.broker.ordeal.asking import Asking, place_of
from tests.broker.ordeal.history import Heard, History, Sent


class Pager:
    """The only one who acknowledges for a subscription. He goes on behind his own cursor, or behind what the server
    knows him to have acknowledged.
    """

    def __init__(self, asking: Asking, id: str, dice: random.Random) -> None:
        self._asking = asking
        self._id = id
        self._dice = dice
        self._cursor: str | None = None

    def turn(self) -> None:
        after = self._cursor if self._dice.random() < 0.5 else None
        self._cursor = None
        page = self._asking.page(self._id, after, self._dice.choice((3, 20, 200)))
        if page is not None:
            cursors, self._cursor = page
            if cursors and self._dice.random() < 0.7:
                self._ack(self._dice.choice(cursors))
        time.sleep(self._dice.random() * 0.1)

    def _ack(self, cursor: str) -> None:
        stream, place = place_of(cursor)
        with self._asking.history.lock:
            acks = self._asking.history.acks[stream]
            acks.perhaps.append(place)
        answer = self._asking.http.post(f"/v1/subscriptions/{self._id}/ack", json={"cursor": cursor})
        # It may have been cancelled, or begun anew, meanwhile; or this may be gone.
        assert answer.status_code in (204, 404, 410), answer.text
        if answer.status_code == 204:
            with self._asking.history.lock:
                acks.sure = max(acks.sure, place)


class Listener:
    """Streams of notifications, resumed where the last one ended."""

    def __init__(self, asking: Asking, id: str, dice: random.Random) -> None:
        self._asking = asking
        self._id = id
        self._dice = dice
        self._place: str | None = None

    def turn(self) -> None:
        self._place = self._asking.listen(self._id, self._place, self._dice.choice((5, 50, 500)))
        time.sleep(self._dice.random() * 0.05)


class Endpoint:
    """For webhooks. It is slow at times, and at times it takes nothing."""

    def __init__(self, history: History, dice: random.Random) -> None:
        self._history = history
        self._dice = dice
        self._lock = Lock()
        self._failed = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    # The server was killed while it said so.
                    return
                self.send_response(outer._take(json.loads(body)))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

            def handle(self) -> None:
                with suppress(ConnectionError):
                    super().handle()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _take(self, body: dict[str, Any]) -> int:
        with self._lock:
            slow = self._dice.random() < 0.02
            # Never twice in a row: an endpoint that always fails is left alone for long.
            self._failed = not self._failed and self._dice.random() < 0.01
            taken = not self._failed
        if slow:
            time.sleep(0.3)
        told = body["data"]
        stream, place = place_of(told["cursor"])
        if body["id"] != told["id"]:
            self._history.wrong.append(f"a webhook says {body['id']} and {told['id']}")
        self._history.hear(stream, place, Heard(told["id"], told["event"], told["version"]))
        with self._history.lock:
            self._history.sent.append(Sent(stream, place, taken))
        return 200 if taken else 500
