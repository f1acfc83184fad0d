"""Whether what a server told is what it had to tell, by what its clients were answered.

A change of a subscription has its place in the order of events, somewhere between what was known to be accepted before
it was asked for, and what was asked for after it was answered. There has to be one place for each change, so that what
was told is exactly what matches between them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tests.broker.ordeal.history import NEVER, Heard, History, Published, Seen, Sent, Span, Stage, Stream

from tidings.delivery.notification import notification_id


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in the log of the server; `accepted` is in microseconds since 1970."""

    place: int
    published: Published
    accepted: int


class Log:
    """The order of events, and what is known about the place of something that happened at some time."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.last = entries[-1].place if entries else 0
        self.places = {each.published.thing.id: each.place for each in entries}
        known = sorted((e.published.answered, e.place) for e in entries if e.published.answered != NEVER)
        self._known = [when for when, _ in known]
        self._highest = list(accumulate((place for _, place in known), max))
        asked = sorted(((each.published.asked, each.place) for each in entries), reverse=True)
        self._asked = [when for when, _ in reversed(asked)]
        self._lowest = list(accumulate((place for _, place in asked), min))[::-1]

    def before(self, moment: int) -> int:
        """The last place that was certainly taken before it."""
        found = bisect_left(self._known, moment)
        return self._highest[found - 1] if found else 0

    def after(self, moment: int) -> int:
        """The last place that may have been taken before it."""
        found = bisect_right(self._asked, moment)
        return self._lowest[found] - 1 if found < len(self._asked) else self.last

    def window(self, span: Span) -> tuple[int, int]:
        return self.before(span.asked), self.after(span.answered)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a stream: notifications up to `gone` may have gone before anybody saw them, and all behind that
    up to `whole` have been read.
    """

    heard: Mapping[int, Heard]
    gone: int
    whole: int


class Timeline:
    """The stages of a stream along the log: at which place each can have begun."""

    def __init__(self, stream: Stream, log: Log, known: Known) -> None:
        self._stages = stream.stages
        self._log = log
        self._known = known
        self._windows = [log.window(stage.begins) for stage in stream.stages]
        self.problems: list[str] = []
        self.due = self._due(stream)

    def _due(self, stream: Stream) -> list[int]:
        """The places that had to be told. Stage 0 is before the first."""
        entries = self._log.entries
        forward: list[int] = []
        stages, place = 1, 0
        for entry in entries:
            stages = self._passed(stages, place, entry.place)
            stages = self._possible(stages, entry)
            if not stages:
                told = self._known.heard.get(entry.place)
                self.problems.append(
                    f"{stream.subscription} ({stream.number}): no moments of its changes explain that event "
                    f"{entry.place} ({entry.published.thing}) was told as {told}: {self._told_stages()}"
                )
                return sorted(self._known.heard)
            forward.append(stages)
            place = entry.place
        if not self._passed(stages, place, NEVER) >> len(self._stages) & 1:
            self.problems.append(f"{stream.subscription} ({stream.number}): a change of it was not seen")
        due = set(self._known.heard)
        for entry, possible in zip(entries, self._backward(forward), strict=True):
            wanted = {self._expected(stage, entry) for stage in range(len(self._stages) + 1) if possible >> stage & 1}
            if None not in wanted:
                due.add(entry.place)
        return sorted(due)

    def _passed(self, stages: int, low: int, high: int) -> int:
        """The stages that there can be behind `low`, before `high`, as bits."""
        number = (stages & -stages).bit_length() - 1
        while 0 <= number < len(self._windows) and stages >> number:
            first, last = self._windows[number]
            if stages >> number & 1 and first < high and last >= low:
                stages |= 1 << (number + 1)
            number += 1
        return stages

    def _possible(self, stages: int, entry: Entry) -> int:
        told = self._known.heard.get(entry.place)
        if told is None and (entry.place <= self._known.gone or entry.place > self._known.whole):
            return stages
        version = None if told is None else told.version
        possible = 0
        for stage in range(len(self._stages) + 1):
            if stages >> stage & 1 and self._expected(stage, entry) == version:
                possible |= 1 << stage
        return possible

    def _expected(self, number: int, entry: Entry) -> int | None:
        """The version that has to be told of it at this stage."""
        stage = self._stages[max(number - 1, 0)]
        before = number == 0 and (stage.since is None or entry.accepted < stage.since)
        matches = stage.asked is not None and not before and stage.asked.matches(entry.published.thing)
        return stage.version if matches else None

    def _backward(self, forward: Sequence[int]) -> list[int]:
        """Of the stages that are possible at each place, those from which the end can be reached."""
        entries = self._log.entries
        found: list[int] = []
        later = forward[-1] if forward else 0
        for index in reversed(range(len(forward))):
            if not forward[index] & (forward[index] - 1):
                later = forward[index]
            elif index + 1 < len(forward):
                kept = 0
                for stage in range(len(self._stages) + 1):
                    alone = forward[index] & (1 << stage)
                    if alone and self._passed(alone, entries[index].place, entries[index + 1].place) & later:
                        kept |= alone
                later = kept
            found.append(later)
        return found[::-1]

    def _told_stages(self) -> str:
        return "; ".join(
            f"{_name(stage)} in {window}" for stage, window in zip(self._stages, self._windows, strict=True)
        )


def _name(stage: Stage) -> str:
    return f"version {stage.version} {'paused' if stage.asked is None else stage.asked.text} since {stage.since}"


# ------------------------------------------------------------------------------------------------------------- the rest


def ids(stream: Stream, heard: Mapping[int, Heard], log: Log) -> Iterator[str]:
    """Notifications have the ids that they must have, and the places of their events."""
    for place, told in heard.items():
        wanted = notification_id(stream.subscription, told.event, version=told.version)
        if told.id != wanted:
            yield f"{stream.number}-{place} has the id {told.id}, and not {wanted}"
        if log.places.get(told.event, place) != place:
            yield f"{stream.number}-{place} is told of {told.event}, which is {log.places[told.event]}"


def seen(each: Seen, stream: Stream, due: Sequence[int], log: Log, *, forgets: bool) -> Iterator[str]:
    """What somebody was told in one go are all there are between the first and the last, behind where he was."""
    name = f"{stream.subscription} by {each.how}, behind {each.after} or one of {each.acked}: {each.places[:20]}"
    for one, other in pairwise(each.places):
        if one >= other or _next(due, one) != other:
            yield f"{name}: behind {one} comes {_next(due, one)}, and not {other}"
    if forgets or each.how == "first page":
        # Who is done with how much of it by then, nobody knows.
        return
    if each.places:
        starts = [each.after] if each.after is not None else list(each.acked)
        if each.how == "stream" and each.after is None:
            starts = [each.acked[0], *(place for place in due if each.acked[0] < place <= each.acked[1])]
        if each.places[0] not in {_next(due, start) for start in starts}:
            yield f"{name}: not what comes behind"
    if each.last and not stream.looks_back:
        behind = each.places[-1] if each.places else each.after if each.after is not None else max(each.acked)
        following = _next(due, behind)
        if following is not None and following <= log.before(each.asked):
            yield f"{name}: {following} was there already"


def _next(due: Sequence[int], place: int) -> int | None:
    found = bisect_right(due, place)
    return due[found] if found < len(due) else None


def sent(arrived: Sequence[Sent], stream: Stream, due: Sequence[int]) -> Iterator[str]:
    """What came to an endpoint is in order: one after the other, each again until it is taken."""
    before: Sent | None = None
    for each in arrived:
        follows = _next(due, before.place if before is not None else 0)
        again = before is not None and each.place == before.place
        if not again and (each.place != follows or (before is not None and not before.taken)):
            yield f"{stream.subscription}: {each} came behind {before}, where {follows} follows"
        before = each


def verdict(history: History, log: Log, gone: Mapping[int, int], *, forgets: bool) -> Iterator[str]:
    """All that is wrong. `gone` is the place, by stream, up to which notifications have gone, where some have."""
    missing = [id for id, each in history.events.items() if each.answered != NEVER and id not in log.places]
    if missing:
        yield f"{len(missing)} events were acknowledged, and are not there: {missing[:5]}"
    for stream in history.streams:
        if stream.number is None:
            continue
        heard = history.heard[stream.number]
        yield from ids(stream, heard, log)
        whole = log.before(stream.whole) if stream.ended else log.last
        timeline = Timeline(stream, log, Known(heard, gone.get(stream.number, 0), whole))
        yield from timeline.problems
        if not timeline.problems:
            for each in history.seen:
                if each.stream == stream.number:
                    yield from seen(each, stream, timeline.due, log, forgets=forgets)
            if not forgets:
                yield from sent([each for each in history.sent if each.stream == stream.number], stream, timeline.due)
