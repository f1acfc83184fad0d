"""The same world for the other ways of matching: subscriptions in shards, and events that come in parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.world import MAX_FILES, Accepted, World, different, rows

from tidings.delivery.notification import notification_id
from tidings.errors import EventError, SubscriptionError
from tidings.lang import parse
from tidings.lang.conjunctive import conjunction
from tidings.rdf.read import read_events

_END = '<{0}> <urn:tidings:end> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> <{0}> .\n'


class Sharded(World):
    """Of what is written, nothing is different."""

    options = ("--shards", "4")


class Parts(World):
    """Events whose quads come in any order, over several documents and batches, with a mark at the end."""

    options = ("--strategy", "chained", "--timeout", "1h")

    def __init__(self, root: Path, seed: int) -> None:
        self._whole: list[str] = []
        self._open: list[list[str]] = []
        super().__init__(root, seed)

    def publish(self) -> None:
        for _ in range(MAX_FILES):
            self._begin_some()
            self._place_parts(0.5)

    def finish(self) -> None:
        """What is missing of all events, and their ends."""
        while self._open:
            self._place_parts(0.9)

    def change_subscriptions(self, new: int = 4) -> None:
        """Which subscriptions an open event has seen depends on when its parts came: they stay as they are."""
        if not self._generations:
            super().change_subscriptions(new)

    def differences(self) -> Iterator[str]:
        text = self.root / "whole.nq"
        text.write_text("".join(self._whole))
        problems: list[EventError] = []
        accepted = {event.id: Accepted(0, event) for event in read_events(str(text), report=problems.append)}
        assert not problems, "everything can be read"
        pairs, failed = self._matches(accepted)
        assert not failed, "the oracle decides everything"
        notified, archived = rows(self.notifications), rows(self.checkpoint / "archive")
        yield from different("notification", pairs, Counter((row["subscription"], row["event"]) for row in notified))
        ids = Counter(row["notification"] for row in notified)
        yield from different("id", Counter(notification_id(*pair) for pair in pairs), ids)
        whole = Counter((row["event"], row["body"]) for row in archived if row["part"] is None)
        yield from different("event", Counter((id, event.body) for id, (_, event) in accepted.items()), whole)
        yield from different("late part", Counter(), Counter(row["event"] for row in archived if row["part"] == "late"))

    def _begin_some(self) -> None:
        for _ in range(self._random.randrange(20, 60)):
            lines = self._event(large=False)
            self._whole += lines
            graph = lines[0].rpartition(" <")[2].partition(">")[0]
            # What is taken next is at the end of the list.
            self._open.append([_END.format(graph), *self._random.sample(lines, len(lines))])

    def _place_parts(self, share: float) -> None:
        draw, lines = self._random, []
        for event in self._open:
            if draw.random() < share:
                taken = [event.pop() for _ in range(draw.randint(1, len(event)))]
                # A quad may come twice, as long as the event is open.
                lines += taken + ([taken[0]] if event else [])
        self._open = [event for event in self._open if event]
        draw.shuffle(lines)
        self._place(f"{self._files:05}.nq", "".join(lines))

    def _query(self) -> str:
        while True:
            text = super()._query()
            try:
                conjunction(parse(text), "drawn")
            except SubscriptionError:
                continue
            return text
