"""An endpoint for webhooks."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Receiver:
    """An endpoint that takes what it is asked to, and remembers."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, str], dict[str, object], bytes]] = []
        self.answers: list[int] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.heard.append((headers, json.loads(body), body))
                status = outer.answers.pop(0) if outer.answers else 200
                self.send_response(status)
                if status == 302:
                    self.send_header("location", f"http://127.0.0.1:{outer.port}/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?x=1"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def events(self, count: int) -> list[str]:
        """Those that came, when so many have."""
        end = time.monotonic() + 10
        while len(self.heard) < count and time.monotonic() < end:
            time.sleep(0.01)
        return [str(body["data"]["event"]) for _, body, _ in self.heard]  # type: ignore[index]
