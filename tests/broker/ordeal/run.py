"""A server under load that is killed again and again, and what it says when it is back."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Thread

from tests.broker.ordeal.asking import Asking
from tests.broker.ordeal.gate import Gate
from tests.broker.ordeal.history import History
from tests.broker.ordeal.owners import Owner
from tests.broker.ordeal.publishers import Numbers, Publisher
from tests.broker.ordeal.readers import Endpoint, Listener, Pager
from tests.broker.ordeal.verdict import Entry, Log, verdict
from tests.broker.server import Server

_PATIENCE = 60.0
"""Seconds in which what is due by itself has to happen: looking back, webhooks."""


@dataclass(frozen=True, slots=True)
class Load:
    """A server is killed when `least` events were taken, and up to `longest` seconds later. `keep` is how many bytes
    the database may have; then old events go while all this happens.
    """

    publishers: int = 4
    pulled: int = 6
    hooked: int = 3
    listeners: int = 3
    pause: float = 0.01
    least: int = 60
    longest: float = 1.0
    keep: int | None = None


class Ordeal:
    """One server, and everybody who speaks to it. What is drawn is drawn by the seed."""

    def __init__(self, folder: Path, seed: int, load: Load, tell: Callable[[str], None] = lambda text: None) -> None:
        self._folder = folder
        self._dice = random.Random(seed)
        self._load = load
        self._tell = tell
        self._history = History()
        self._gate = Gate()
        self._port = "0"
        self._entries: list[Entry] = []
        self._askings: list[Asking] = []
        self.problems: list[str] = []
        self.gone = 0
        """Streams of which something has gone."""

    def run(self, kills: int) -> list[str]:
        """What is wrong, in the end; it ends with the first thing that is."""
        endpoint = Endpoint(self._history, self._more())
        server = self._started()
        self._port = server.url.rpartition(":")[2]
        try:
            threads, owners = self._everybody(server.url, endpoint.url)
            for number in range(kills):
                self._work()
                with server:
                    server.kill()
                    self._gate.shut()
                server = self._started()
                last = number == kills - 1
                self._check(server.url, owners, last=last)
                self._tell(f"kill {number + 1}: {self._counts()}")
                if self.problems:
                    break
            self._gate.end()
            for thread in threads:
                thread.join(30)
        finally:
            with server:
                server.kill()
            endpoint.close()
            for asking in self._askings:
                asking.close()
        return self.problems

    def _work(self) -> None:
        """Let them, until something has been done, and then for a while."""
        before, end = self._history.published, time.monotonic() + _PATIENCE
        self._gate.open()
        while self._history.published - before < self._load.least and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(self._dice.random() * self._load.longest)

    def _started(self) -> Server:
        keep = () if self._load.keep is None else ("--keep-bytes", str(self._load.keep))
        return Server(self._folder, "--open", "--private-webhooks", "--port", self._port, *keep)

    def _more(self) -> random.Random:
        return random.Random(self._dice.randrange(1 << 32))

    def _asking(self, url: str) -> Asking:
        self._askings.append(Asking(url, self._history))
        return self._askings[-1]

    def _everybody(self, url: str, hook: str) -> tuple[list[Thread], list[Owner]]:
        load, numbers = self._load, Numbers()
        turns: list[Callable[[], None]] = [
            Publisher(self._asking(url), numbers, self._more(), load.pause).turn for _ in range(load.publishers)
        ]
        owners = []
        for number in range(load.pulled + load.hooked):
            webhook = hook if number >= load.pulled else None
            back = load.keep is None and number % 2 == 1
            owners.append(Owner(self._asking(url), f"s{number}", self._more(), webhook=webhook, back=back))
            turns.append(owners[-1].turn)
        for make, count in ((Pager, load.pulled), (Listener, load.listeners)):
            turns += [make(self._asking(url), f"s{number}", self._more()).turn for number in range(count)]
        return [self._gate.run(turn, self._history.wrong.append) for turn in turns], owners

    # --------------------------------------------------------------------------------------------------------- checking

    def _check(self, url: str, owners: list[Owner], *, last: bool) -> None:
        """While nobody else asks."""
        asking = self._asking(url)
        self._read_log(asking)
        for owner in owners:
            owner.settle()
        gone: dict[int, int] = {}
        end = time.monotonic() + _PATIENCE
        while True:
            for owner in owners:
                stream = owner.stream
                if stream is not None and stream.number is not None:
                    gone[stream.number] = self._read(asking, owner, stream.number)
            found = list(verdict(self._history, Log(self._entries), gone, forgets=self._load.keep is not None))
            waits = last and not self._load.keep and self._not_sent(owners)
            unfinished = any(stream.looks_back for stream in self._history.streams if not stream.ended)
            if not waits and (not found or not unfinished):
                break
            if time.monotonic() > end:
                found += [f"not sent in a minute: {waits}"] if waits else []
                break
            time.sleep(0.3)
        self.problems = self._history.wrong + found
        self.gone = sum(map(bool, gone.values()))

    def _read_log(self, asking: Asking) -> None:
        known = {each.published.thing.id for each in self._entries}
        for each in asking.log(self._entries[-1].place if self._entries else 0):
            published = self._history.events.get(each["id"])
            if published is None or each["id"] in known:
                self._history.wrong.append(f"{each} was never published, or comes twice")
                continue
            accepted = round(datetime.fromisoformat(each["published"]).timestamp() * 1e6)
            self._entries.append(Entry(each["place"], published, accepted))
            known.add(each["id"])

    def _read(self, asking: Asking, owner: Owner, number: int) -> int:
        """All of a stream that is there; up to which place it is gone. More may go while this is looked for."""
        if owner.read(number):
            return 0
        places = [0, *(each.place for each in self._entries)]
        low = 0
        while low < len(places) - 1:
            high = len(places) - 1
            while high - low > 1:
                middle = (low + high) // 2
                page = asking.page(owner.id, f"{number}-{places[middle]}", 1, how="looking for what is left")
                low, high = (low, middle) if page is not None else (middle, high)
            if owner.read_behind(number, places[high]):
                return places[high]
            low = high
        raise AssertionError(f"nothing can be read of stream {number}, not even behind the last event")

    def _not_sent(self, owners: list[Owner]) -> str:
        """Who has not been sent all there is."""
        sent = {(each.stream, each.place) for each in self._history.sent if each.taken}
        for owner in owners[self._load.pulled :]:
            if owner.stream is not None and owner.is_active:
                number = owner.stream.number or 0
                missing = [place for place in self._history.heard[number] if (number, place) not in sent]
                if missing:
                    return f"{owner.id}: {missing[:10]}"
        return ""

    def _counts(self) -> str:
        told, sent = sum(map(len, self._history.heard.values())), len(self._history.sent)
        return (
            f"{len(self._entries)} events, {len(self._history.streams)} streams, {told} notifications, "
            f"{len(self._history.seen)} readings, {sent} sent, {self.gone} with gaps, {len(self.problems)} problems"
        )
