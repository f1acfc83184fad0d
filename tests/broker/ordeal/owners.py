"""Those who subscribe: they leave texts, the same again and others, pause, resume, cancel, and look back."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from tests.broker.ordeal.asking import Asking, place_of
from tests.broker.ordeal.history import Span, Stage, Stream, moment
from tests.broker.ordeal.world import Asked, asked

Deed: TypeAlias = Literal["register", "same", "pause", "resume", "cancel"]
State: TypeAlias = tuple[int, str, str]
"""Version, state and text of what stands."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What is under way: what stands when it is done, and from which moment on it may have been."""

    deed: Deed
    begun: int
    after: State | None
    asked: Asked | None = None
    since: int | None = None


class Owner:
    """One subscription, by what its owner was answered."""

    def __init__(self, asking: Asking, id: str, dice: random.Random, *, webhook: str | None, back: bool) -> None:
        self.id = id
        self._asking = asking
        self._history = asking.history
        self._dice = dice
        self._webhook = webhook
        self._back = back
        self._highest = 0
        self._standing: tuple[State, Asked, int | None] | None = None
        self._doing: Doing | None = None
        self._stream: Stream | None = None

    # ------------------------------------------------------------------------------------------------------------ turns

    def turn(self) -> None:
        if self._doing is not None:
            # Nobody knows whether that has happened, until it is settled.
            time.sleep(0.05)
            return
        deed = self._drawn()
        if deed in ("register", "same"):
            self._register(deed)
        elif deed == "cancel":
            self._read_all()
            self._begin(Doing("cancel", moment(), None))
            answer = self._asking.http.delete(f"/v1/subscriptions/{self.id}")
            assert answer.status_code == 204, answer.text
            self._done(None)
        else:
            assert self._standing is not None
            (version, _, text), *_ = self._standing
            self._begin(Doing(deed, moment(), (version, "paused" if deed == "pause" else "active", text)))
            answer = self._asking.http.post(f"/v1/subscriptions/{self.id}/{deed}")
            assert answer.status_code == 200, answer.text
            self._done(answer.json())
        time.sleep(self._dice.random() * 0.2)

    def _drawn(self) -> Deed:
        if self._standing is None:
            return "register"
        paused = self._standing[0][1] == "paused"
        deeds: list[Deed] = ["register", "same", "resume" if paused else "pause", "resume", "cancel"]
        return self._dice.choices(deeds, [3, 3, 3, 1, 1])[0]

    def _register(self, deed: Deed) -> None:
        since: int | None = None
        if deed == "same" and self._standing is not None:
            state, query, since = self._standing
            after = state
        else:
            query = asked(self._dice)
            while self._standing is not None and query.text == self._standing[1].text:
                query = asked(self._dice)
            if self._back and self._dice.random() < 0.4:
                since = round((time.time() - self._dice.random() * 6) * 1_000) * 1_000
            after = (self._highest + 1, "active", query.text)
        if since is not None and deed == "register" and self._standing is not None:
            self._read_all()
        self._begin(Doing(deed, moment(), after, query, since))
        wanted: dict[str, object] = {"query": query.text}
        if self._webhook is not None:
            wanted["webhook"] = self._webhook
        if since is not None:
            wanted["since"] = datetime.fromtimestamp(since / 1e6, UTC).isoformat()
        answer = self._asking.http.put(f"/v1/subscriptions/{self.id}", json=wanted)
        expected = 201 if self._standing is None else 200
        assert answer.status_code == expected, answer.text
        self._done(answer.json())
        self._learn_number()

    # --------------------------------------------------------------------------------------------- what has been done

    def _begin(self, doing: Doing) -> None:
        self._doing = doing

    def _done(self, said: dict[str, Any] | None) -> None:
        doing = self._doing
        assert doing is not None
        found = None if said is None else _state(said)
        assert found == doing.after, f"{self.id}: {doing} was answered with {found}"
        self._apply(doing, Span(doing.begun, moment()))

    def _apply(self, doing: Doing, span: Span) -> None:
        """It has happened, at some moment of the span."""
        self._doing = None
        match doing.deed:
            case "cancel":
                self._end(span)
                self._standing = None
            case "pause" | "resume":
                assert self._standing is not None
                assert self._stream is not None
                assert doing.after is not None
                _, query, since = self._standing
                self._standing = doing.after, query, since
                matched = query if doing.deed == "resume" else None
                self._stream.stages.append(Stage(span, doing.after[0], matched))
            case "register":
                assert doing.asked is not None
                assert doing.after is not None
                stage = Stage(span, doing.after[0], doing.asked, doing.since)
                if self._standing is not None and doing.since is None:
                    assert self._stream is not None
                    self._stream.stages.append(stage)
                else:
                    if self._standing is not None:
                        self._end(span)
                    self._stream = Stream(self.id, [stage])
                    with self._history.lock:
                        self._history.streams.append(self._stream)
                self._highest = doing.after[0]
                self._standing = doing.after, doing.asked, doing.since

    def _end(self, span: Span) -> None:
        assert self._stream is not None
        self._stream.stages.append(Stage(span, 0, None))
        self._stream.ended = True

    def settle(self) -> None:
        """After a kill, when nobody else asks: what was under way has happened, or not; what was answered has."""
        answer = self._asking.http.get(f"/v1/subscriptions/{self.id}")
        assert answer.status_code in (200, 404), answer.text
        found = _state(answer.json()) if answer.status_code == 200 else None
        before = None if self._standing is None else self._standing[0]
        doing, self._doing = self._doing, None
        if doing is not None and found == doing.after and found != before:
            self._apply(doing, Span(doing.begun, moment()))
        else:
            assert found == before, f"{self.id}: {before} was acknowledged, {doing} under way, and {found} is there"
        if found is not None:
            self._learn_number()

    # ---------------------------------------------------------------------------------------------------------- reading

    def _learn_number(self) -> None:
        page = self._asking.page(self.id, None, 1, how="first page")
        if page is not None and self._stream is not None:
            number, _ = place_of(page[1])
            assert self._stream.number in (None, number), f"{self.id} is {number}, and was {self._stream.number}"
            self._stream.number = number

    def _read_all(self) -> None:
        """Before it ends, for afterwards nobody can."""
        begun, stream = moment(), self._stream
        if stream is not None and stream.number is not None and self.read(stream.number) and not stream.looks_back:
            stream.whole = begun

    def read(self, number: int) -> bool:
        """All there is of the stream that stands. Whether it was there from the beginning."""
        return self.read_behind(number, 0)

    def read_behind(self, number: int, place: int) -> bool:
        after = f"{number}-{place}"
        while (page := self._asking.page(self.id, after, 1_000, how="all")) is not None:
            cursors, after = page
            if not cursors:
                return True
        return False

    @property
    def is_active(self) -> bool:
        return self._standing is not None and self._standing[0][1] == "active"

    @property
    def stream(self) -> Stream | None:
        return self._stream if self._standing is not None else None


def _state(said: dict[str, Any]) -> State:
    return said["version"], said["state"], said["query"]
