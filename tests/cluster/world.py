"""Documents and subscriptions for a pipeline, and what has to come of them, worked out in one process.

Of what the pipeline writes, only two things are believed: which document Spark put into which batch, and which batches
had begun when the subscriptions were changed.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow.dataset as ds

from tidings import Event
from tidings.delivery.notification import notification_id
from tidings.errors import EventError
from tidings.lang import parse
from tidings.match.base import Failure
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.read import read_events
from tidings.spark.pipeline import SMALL

NS = "http://e.x/"
MAX_FILES = 3
CLASSES, WORDS = 12, ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath")
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LARGE = 70_000
_FIRST_MOMENT = 1_790_000_000
Row: TypeAlias = dict[str, Any]
Reject: TypeAlias = tuple[str, str | None, int | None, str | None, str]


class Accepted(NamedTuple):
    batch: int
    event: Event


class World:
    """A folder with everything in it. Whatever is random follows from the seed."""

    options: tuple[str, ...] = ()
    """Of `tidings pipeline`."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self._random = random.Random(seed)
        self._groups = self._files = self._events = 0
        self._early: list[list[str]] = []
        self._standing: dict[str, str] = {}
        self._generations: list[tuple[int, dict[str, str]]] = []
        for folder in (self.events, self.queries):
            folder.mkdir(parents=True)
        (self.queries / "bad.rq").write_text("SELECT ?x { ")
        self.change_subscriptions(24)

    @property
    def events(self) -> Path:
        return self.root / "in"

    @property
    def queries(self) -> Path:
        return self.root / "subscriptions"

    @property
    def checkpoint(self) -> Path:
        return self.root / "checkpoint"

    @property
    def notifications(self) -> Path:
        return self.root / "notifications"

    # ---------------------------------------------------------------------------------------------------- what goes in

    def publish(self) -> None:
        """Documents for a batch or two. The second batch of five has many events, the third one that is large."""
        turn = self._groups % 5
        self._groups += 1
        for place in range(MAX_FILES):
            size = SMALL + 100 if turn == 1 and place == 0 else self._random.randrange(20, 60)
            self._write([self._event(large=turn == 2 and place == number == 0) for number in range(size)])

    def finish(self) -> None:
        """Documents for the end, if any are needed."""

    def _write(self, events: list[list[str]]) -> None:
        number, draw = self._files, self._random
        again = draw.sample(self._early, min(3, len(self._early)))
        if self._early and number % 4 == 0:
            graph = draw.choice(self._early)[0].rpartition(" <")[2]
            again.append([f"<{NS}other> {TYPE} <{NS}Other> <{graph}"])
        self._early += events[:3]
        lines = [line for event in (*events, *again) for line in event]
        if number % 5 == 2:
            lines.insert(draw.randrange(len(lines)), f"<{NS}broken> <{NS}line .\n")
        self._place(f"{number:05}.nq", "".join(lines))
        if number % 7 == 3:
            self._place(f"{number:05}-broken.ttl", f"<{NS}s> a <{NS}C1> ;\n  nonsense .\n")

    def _place(self, name: str, text: str) -> None:
        self._files += 1
        beside = self.root / name
        beside.write_text(text)
        # Spark takes the oldest first; those of one moment come in any order.
        os.utime(beside, (_FIRST_MOMENT + self._files, _FIRST_MOMENT + self._files))
        beside.rename(self.events / name)

    def _event(self, *, large: bool) -> list[str]:
        self._events += 1
        draw, item, end = self._random, f"<{NS}item{self._events}>", f"<{NS}event{self._events}> .\n"
        words = " ".join(draw.choices(WORDS, k=4)) + (" x" * (_LARGE // 2) if large else "")
        return [
            f"{item} {TYPE} <{NS}C{draw.randrange(CLASSES)}> {end}",
            f'{item} <{NS}text> "{words}" {end}',
            f'{item} <{NS}price> "{draw.randrange(100)}"^^<http://www.w3.org/2001/XMLSchema#integer> {end}',
            f"{item} <{NS}next> <{NS}item{draw.randrange(1, self._events + 1)}> {end}",
        ]

    def change_subscriptions(self, new: int = 4) -> None:
        """Some come, some are replaced, some go. Nothing may be running."""
        draw, standing = self._random, dict(self._standing)
        for id in draw.sample(sorted(standing), min(2, len(standing))):
            del standing[id]
            (self.queries / f"{id}.rq").unlink()
        replaced = draw.sample(sorted(standing), min(2, len(standing)))
        for id in (*replaced, *(f"s{len(self._generations)}-{number}" for number in range(new))):
            standing[id] = self._query()
            (self.queries / f"{id}.rq").write_text(standing[id])
        self._generations.append((max(self.begun(), default=-1), standing))
        self._standing = standing

    def _query(self) -> str:
        draw = self._random
        cls, price, one, other = draw.randrange(CLASSES), draw.randrange(100), *draw.sample(WORDS, 2)
        patterns = [
            f"?x a <{NS}C{cls}>",
            f"?x a <{NS}C{cls}> ; <{NS}price> ?p FILTER(?p > {price})",
            f'?x <{NS}text> ?t FILTER(REGEX(?t, "{one}.*{other}"))',
            f"?x <{NS}price> ?p ; <{NS}next> ?x FILTER(?p < {price})",
            f'?x <{NS}text> ?t ; a ?c FILTER(CONTAINS(?t, "{one}") && STRLEN(STR(?c)) > {len(NS) + 2})',
            f"?x <{NS}price> ?p OPTIONAL {{ ?x a <{NS}C{cls}> ; <{NS}price> ?q }} FILTER(!BOUND(?q) && ?p = {price})",
        ]
        return f"SELECT ?x {{ {draw.choice(patterns)} }}"

    # --------------------------------------------------------------------------------------------------- how far it is

    def begun(self) -> list[int]:
        """The batches of which there is a record."""
        return _numbers(self.checkpoint / "tidings" / "batches", ".json")

    def done(self) -> list[int]:
        """The batches of which there are figures."""
        return _numbers(self.checkpoint / "metrics", ".json")

    def under_way(self) -> int | None:
        """The batch that has begun, as Spark and the pipeline say, and is not done."""
        last = max(self.begun(), default=None)
        planned = _numbers(self.checkpoint / "offsets", "")
        return last if last is not None and last in planned and not self.over(last) else None

    def over(self, batch: int) -> bool:
        """Whether a batch is done; of one in which nothing came, only Spark may tell."""
        return batch in self.done() or (self.checkpoint / "commits" / str(batch)).exists()

    def seconds(self) -> list[float]:
        """What the batches took that are done."""
        return [figures["seconds"]["total"] for figures in self._figures()]

    def _figures(self) -> list[Row]:
        return [json.loads(file.read_text()) for file in sorted((self.checkpoint / "metrics").glob("*.json"))]

    # ---------------------------------------------------------------------------------------------------- what came out

    def differences(self) -> Iterator[str]:
        """What is not as it has to be, now that the pipeline has come to its end."""
        accepted, rejects = self._accepted()
        notified = rows(self.notifications)
        pairs, failed = self._matches(accepted)
        yield from different("notification", pairs, Counter((row["subscription"], row["event"]) for row in notified))
        ids = Counter(row["notification"] for row in notified)
        yield from different("id", Counter(notification_id(*pair) for pair in pairs), ids)
        archived = Counter((row["event"], row["batch"], row["body"]) for row in rows(self.checkpoint / "archive"))
        events = Counter((id, batch, event.body) for id, (batch, event) in accepted.items())
        yield from different("event", events, archived)
        told = [_reject(row) for row in rows(self.checkpoint / "rejected")]
        bad = Counter(row[0:2] for row in told if row[0] == "subscription")
        yield from different("bad subscription", Counter([("subscription", "bad.rq")]), Counter(set(bad)))
        others = Counter(row for row in told if row[0] != "subscription")
        yield from different("reject", rejects + failed, others)
        counted = Counter({figures["batch"]: figures["matches"] for figures in self._figures()})
        yield from different("count", Counter(row["batch"] for row in notified), +counted)
        yield from different("batch", Counter(_numbers(self.checkpoint / "offsets", "")), Counter(self.done()))

    def ways(self) -> set[str]:
        """How batches were done: by the driver itself, or spread."""
        files = self.notifications.glob("batch=*/*.parquet")
        return {"here" if file.name == "part-0.parquet" else "spread" for file in files}

    def _accepted(self) -> tuple[dict[str, Accepted], Counter[Reject]]:
        """Every event with the batch in which it first came, and what is wrong with documents."""
        accepted: dict[str, Accepted] = {}
        rejects: Counter[Reject] = Counter()
        for batch, path in sorted(self._batches()):
            problems: list[EventError] = []
            for event in read_events(str(path), report=problems.append):
                first = accepted.setdefault(event.id, Accepted(batch, event)).event
                if first.body != event.body:
                    reason = f"the event {event.id} was read before, with other triples"
                    rejects[("event", path.name, None, event.id, reason)] += 1
            for problem in problems:
                line = problem.span.line if problem.span else None
                rejects[("document", path.name, line, None, problem.reason)] += 1
        return accepted, rejects

    def _batches(self) -> Iterator[tuple[int, Path]]:
        """Which document Spark put into which batch. Every one of them is in exactly one."""
        found: dict[Path, int] = {}
        for log in (self.checkpoint / "sources" / "0").glob("[0-9]*"):
            for line in log.read_text().splitlines()[1:]:
                entry = json.loads(line)
                path, batch = Path(entry["path"].removeprefix("file://")), entry["batchId"]
                assert found.setdefault(path, batch) == batch, f"{path} is in two batches"
        assert set(found) == set(self.events.iterdir()), "Spark has taken all documents"
        return ((batch, path) for path, batch in found.items())

    def _matches(self, accepted: dict[str, Accepted]) -> tuple[Counter[tuple[str, str]], Counter[Reject]]:
        """What the oracle finds, with the subscriptions that stood when the batch began."""
        texts = {text for _, standing in self._generations for text in standing.values()}
        oracle = Naive(Ontology.empty())
        for text in texts:
            oracle.add(text, parse(text))
        pairs: Counter[tuple[str, str]] = Counter()
        rejects: Counter[Reject] = Counter()
        for id, (batch, event) in accepted.items():
            failures: list[Failure] = []
            matching = {match.subscription for match in oracle.match(event, failures.append)}
            reasons = {failure.subscription: failure.reason for failure in failures}
            standing = [those for after, those in self._generations if after < batch][-1]
            for subscription, text in standing.items():
                if text in matching:
                    pairs[(subscription, id)] += 1
                elif text in reasons:
                    rejects[("evaluation", None, None, id, reasons[text])] += 1
        return pairs, rejects


def _numbers(folder: Path, suffix: str) -> list[int]:
    names = os.listdir(folder) if folder.is_dir() else []
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if stem.isdigit())


def rows(folder: Path) -> list[Row]:
    rows: list[Row] = ds.dataset(folder, format="parquet", partitioning="hive").to_table().to_pylist()
    return rows


def _reject(row: Row) -> Reject:
    source = Path(row["source"]).name if row["source"] else None
    return row["kind"], source, row["line"], row["event"], row["reason"]


def different(what: str, expected: Counter[Any], found: Counter[Any]) -> Iterator[str]:
    for each, count in (expected - found).items():
        yield f"{what} {each}: {count} missing"
    for each, count in (found - expected).items():
        yield f"{what} {each}: {count} too many"
