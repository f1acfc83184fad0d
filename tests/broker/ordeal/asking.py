"""Requests to a server, with what they say written down."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from tests.broker.ordeal.history import Heard, History, Seen, moment

SSE = {"accept": "text/event-stream"}
PAGE = 200


def place_of(cursor: str) -> tuple[int, int]:
    stream, _, place = cursor.partition("-")
    return int(stream), int(place)


class Told:
    """The notifications of a stream of lines, when they are complete."""

    def __init__(self) -> None:
        self.notifications: list[dict[str, Any]] = []
        self.gone = False
        self._kind, self._data = "", ""

    def line(self, line: str) -> None:
        if line.startswith("event: "):
            self._kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            self._data = line.removeprefix("data: ")
        elif not line and self._data:
            if self._kind == "notification":
                self.notifications.append(json.loads(self._data))
            elif self._kind not in ("paused", "resumed", "missed"):
                self.gone = True
            self._data = ""


class Asking:
    """One connection or more, and the history that its answers go into."""

    def __init__(self, url: str, history: History) -> None:
        self.http = httpx2.Client(base_url=url, timeout=httpx2.Timeout(30.0), verify=False)
        self.history = history

    def close(self) -> None:
        self.http.close()

    def page(self, id: str, after: str | None, limit: int = PAGE, *, how: str = "page") -> tuple[list[str], str] | None:
        """The cursors of a page, and the one behind it; None where there is no such subscription or place."""
        asked = moment()
        parameters = {"limit": str(limit)} | ({} if after is None else {"after": after})
        answer = self.http.get(f"/v1/subscriptions/{id}/notifications", params=parameters)
        if answer.status_code in (404, 410):
            return None
        assert answer.status_code == 200, answer.text
        page = answer.json()
        stream, _ = place_of(page["cursor"])
        places = tuple(self.hear(each) for each in page["notifications"])
        start = None if after is None else place_of(after)[1]
        with self.history.lock:
            acked = self.history.acks[stream].places if after is None else ()
        self.history.note(Seen(how, stream, asked, start, places, len(places) < limit, acked))
        return [each["cursor"] for each in page["notifications"]], page["cursor"]

    def hear(self, told: dict[str, Any]) -> int:
        stream, place = place_of(told["cursor"])
        self.history.hear(stream, place, Heard(told["id"], told["event"], told["version"]))
        return place

    def listen(self, id: str, after: str | None, most: int) -> str | None:
        """Hear so many notifications, or until nothing comes for a while. Where he is then; None where he has to begin
        anew.
        """
        asked, told = moment(), Told()
        headers = SSE | ({} if after is None else {"last-event-id": after})
        with self.history.lock:
            before = {stream: acks.sure for stream, acks in self.history.acks.items()}
        try:
            path = f"/v1/subscriptions/{id}/notifications"
            with self.http.stream("GET", path, headers=headers, timeout=httpx2.Timeout(30.0, read=0.7)) as answer:
                if answer.status_code in (404, 410):
                    return None
                assert answer.status_code == 200
                for line in answer.iter_lines():
                    told.line(line)
                    if told.gone or len(told.notifications) >= most:
                        break
        except httpx2.ReadTimeout:
            pass
        finally:
            places = tuple(self.hear(each) for each in told.notifications)
            if places:
                stream, _ = place_of(told.notifications[0]["cursor"])
                start = None if after is None else place_of(after)[1]
                with self.history.lock:
                    acked = before.get(stream, 0), max(self.history.acks[stream].places)
                self.history.note(Seen("stream", stream, asked, start, places, False, acked))
        if told.gone:
            return None
        return told.notifications[-1]["cursor"] if told.notifications else after

    def log(self, after: int) -> list[dict[str, Any]]:
        """The events behind a place, in order, with where they are."""
        newest = self.http.get("/v1/events", params={"limit": "1"}).json()["events"]
        found: list[dict[str, Any]] = []
        if not newest or newest[0]["place"] <= after:
            return found
        with self.http.stream("GET", "/v1/events", params={"after": str(after)}, headers=SSE) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: ")))
                    if found[-1]["place"] >= newest[0]["place"]:
                        break
        return found
