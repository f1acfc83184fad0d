"""One round of the soak: histories of every theme, replayed; differences made small and written."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.soak import case_writer, generated, spoiling, themes
from tests.soak.composing import from_cases, from_theme
from tests.soak.history import OPTIONS, Difference, History, Tally, replay
from tests.soak.shrinking import Shrinker

from tidings.match.matcher import Matcher
from tidings.ontology import Ontology

EACH = 12
"""Cases drawn of every kind in a round."""
GUARDED = 20
FROM_THEME = 3
DOCUMENTS = 30
SHRINKING = 60.0


def run(seed: int, number: int, folder: Path, output: Path, deadline: float) -> tuple[Counter[str], list[str]]:
    """What was gone through, and what was found. A round that the time runs out on ends early."""
    counts: Counter[str] = Counter(rounds=1)
    problems: list[str] = []
    how = f"python -m tests.soak --seed {seed} --only {number}"
    dice = random.Random(f"{seed}/{number}")
    cases = generated.drawn(seed * 1_000_003 + number, EACH)
    for case in dice.sample(cases, GUARDED):
        try:
            generated.guard_the_oracle(case)
        except AssertionError as problem:
            problems.append(f"the oracle and brute force differ ({how}): {problem}")
            counts["differences"] += 1
        counts["guarded"] += 1
    for place, history in enumerate(histories(cases, dice)):
        tally = Tally()
        difference = replay(history, folder / str(place), tally)
        counts += Counter(
            histories=1,
            subscriptions=len(history.subscriptions),
            events=len(history.events),
            pairs=tally.asked,
            matches=tally.matches,
            undecided=tally.undecided,
        )
        if difference is not None:
            counts["differences"] += 1
            problems.append(_told(history, difference, folder / "shrinking", output, f"{seed}-{number}-{place}", how))
        if time.time() > deadline:
            return counts, problems
    problems += _documents(history, dice, output, f"{seed}-{number}", how)
    return counts + Counter(documents=DOCUMENTS, differences=len(problems) - counts["differences"]), problems


def histories(cases: list[generated.Case], dice: random.Random) -> Iterator[History]:
    left = dice.sample(cases, len(cases))
    while left:
        size = dice.randint(5, 40)
        yield from_cases(left[:size], random.Random(dice.random()))
        left = left[size:]
    for name in themes.present():
        for _ in range(FROM_THEME):
            yield from_theme(themes.theme(name), random.Random(dice.random()))


def _documents(history: History, dice: random.Random, output: Path, name: str, how: str) -> list[str]:
    """The events of a history as documents with mistakes."""
    ontology = Ontology.of(history.ontologies[0])
    both = Matcher("fast", ontology, **OPTIONS), Matcher("naive", ontology, **OPTIONS)
    for matcher in both:
        matcher.add_many(history.queries.items())
    for place in range(DOCUMENTS):
        events = dice.sample(history.events, min(3, len(history.events)))
        data = spoiling.document(events, dice)
        if spoiling.outcome(both[0], data) != spoiling.outcome(both[1], data):
            path = output / f"{name}-{place}.nq"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(spoiling.smaller(data, both))
            small = path.read_bytes()
            found = [spoiling.outcome(matcher, small) for matcher in both]
            return [f"difference: {path} ({how}): {small!r}, fast {found[0]}, oracle {found[1]}"]
    return []


def _told(history: History, difference: Difference, folder: Path, output: Path, name: str, how: str) -> str:
    """Makes the difference small, and says where it is written."""
    shrinker = Shrinker(history, difference, folder, SHRINKING)
    shrinker.run()
    path = case_writer.write(output, name, shrinker.history, shrinker.found, how)
    return f"difference: {path}\n{case_writer.text(shrinker.history, shrinker.found, how)}"
