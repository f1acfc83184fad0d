"""Text to fill feeds, tables and pages with: words by Zipf's law, sentences, and what has to be escaped."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import accumulate

_SYLLABLES = (
    "ba",
    "co",
    "di",
    "fe",
    "gu",
    "ha",
    "ka",
    "le",
    "mi",
    "no",
    "qui",
    "ro",
    "sa",
    "te",
    "vu",
    "né",
    "tri",
    "plo",
)
_COUNT = 3_000
_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)


class Words:
    """The same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._words = ["".join(self.dice.choices(_SYLLABLES, k=self.dice.randint(1, 4))) for _ in range(_COUNT)]
        self._weights = list(accumulate(1 / rank for rank in range(1, _COUNT + 1)))

    def word(self) -> str:
        return self.some(1)[0]

    def some(self, count: int) -> list[str]:
        return self.dice.choices(self._words, cum_weights=self._weights, k=count)

    def sentence(self, least: int, most: int) -> str:
        return " ".join(self.some(self.dice.randint(least, most))).capitalize()

    def prose(self, length: int) -> str:
        """Sentences, some with words in quotation marks, of about so many characters."""
        text = ""
        while len(text) < length:
            text += f'{self.sentence(6, 14)}, “{self.word()}” and "{self.word()}". '
        return text.rstrip()

    def name(self) -> str:
        return f"{self.word().capitalize()} {self.word().capitalize()}"

    def slug(self, count: int = 4) -> str:
        return "-".join(self.some(count)).encode("ascii", "ignore").decode()

    def moment(self) -> datetime:
        return _BEGIN + timedelta(seconds=self.dice.randrange(5 * 365 * 86_400))
