"""The subscriptions of a broker, as a pipeline has them: every version by its number.

A version stays until no event is left that it may be due, and the broker drops what it is not due: so it is enough to
ask for them when one knows where the batch ends. No times are compared here.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidings.errors import SubscriptionError
from tidings.lang import parse
from tidings.lang.rows import Report
from tidings.lang.watched import Change, Standing, digest_of
from tidings.match.run import DEFAULT_BUDGET
from tidings.spark.broker_client import Remote, Text


class BrokerSubscriptions:
    """`ontology` is the tag of the one that they are compiled with."""

    def __init__(self, remote: Remote, ontology: str) -> None:
        self._remote = remote
        self.ontology = ontology
        self._state: str | None = None
        self.steps = DEFAULT_BUDGET
        """What a subscription may take on an event, as the broker said last."""

    def changes(self, standing: Standing, report: Report) -> Iterator[Change]:
        listed = self._remote.listed(self._state)
        if listed.ontology != self.ontology:
            raise ConnectionError("the broker has another ontology now; start the pipeline again")
        self.steps = listed.steps
        if listed.numbers is None:
            return
        wanted = {str(number): number for number in listed.numbers}
        for id in standing.rows.keys() - wanted.keys():
            yield Change("gone", id)
        for text in self._remote.texts([number for id, number in wanted.items() if id not in standing.rows]):
            yield _put(text)
        # At the very end: whoever comes to grief before has taken nothing.
        self._state = listed.state


def _put(text: Text) -> Change:
    try:
        form = parse(text.query, text.dialect)
    except SubscriptionError as error:
        # The broker has read it. To leave it out would be to lose what it is due.
        raise ConnectionError(f"subscription {text.number} of the broker cannot be read here: {error}") from error
    return Change("put", str(text.number), text.query, text.dialect, digest=digest_of(text.query.encode()), form=form)
