"""What became of subscriptions between two batches, for the second one to tell."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidings.errors import TidingsError
from tidings.spark.changing import Taken
from tidings.spark.records import Tell


@dataclass
class Meanwhile:
    """How many were put and went; what was wrong; and how many notifications late ones have had."""

    put: int = 0
    gone: int = 0
    late: int = 0
    problems: list[TidingsError] = field(default_factory=list)

    def count(self, taken: Taken) -> None:
        self.put += taken.put
        self.gone += taken.gone

    def added_to(self, taken: Taken, report: Tell) -> Taken:
        for problem in self.problems:
            report(problem)
        return taken._replace(put=taken.put + self.put, gone=taken.gone + self.gone)
