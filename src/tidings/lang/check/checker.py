"""`check`: every problem of every subscription of a set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from tidings.lang.check import canonical
from tidings.lang.check.covering import MAX_STEPS, Coverings
from tidings.lang.check.filters import contradictions
from tidings.lang.check.mapping import Core
from tidings.lang.check.names import Label, Names
from tidings.lang.check.places import Places
from tidings.lang.check.problems import Finding, Problem
from tidings.lang.check.shape import matches_everything, never_bound, products, unbound_in_filters
from tidings.lang.files import Subscription
from tidings.lang.pattern import core
from tidings.ontology import Ontology


def check(
    subscriptions: Iterable[Subscription], ontology: Ontology | None = None, *, max_steps: int = MAX_STEPS
) -> Iterator[Problem]:
    """The problems of each subscription in turn, then those of the set: which ones are covered by another.

    Without an ontology, or with one that says nothing, names are not checked. `max_steps` bounds the search for covers;
    where it does not suffice, the last problem says so.
    """
    onto = ontology or Ontology.empty()
    names = None if onto.is_empty else Names(onto)
    twins = _Twins()
    comparable: list[tuple[Subscription, Core]] = []
    for order, subscription in enumerate(subscriptions):
        hopeless = False
        places = Places(subscription.text, subscription.dialect, onto.label)
        for finding in _findings(subscription, onto, names, places.label):
            yield _problem(subscription, finding, places)
            hopeless = hopeless or finding.code in ("contradictory-filter", "matches-everything", "never-matches")
        twin = twins.of(subscription)
        if twin is not None:
            message = f"asks for the same events as '{twin.id}': only names, order or columns differ"
            yield _problem(subscription, Finding("duplicate", message))
        elif not hopeless and (block := core(subscription.query)) is not None:
            comparable.append((subscription, Core(block, order)))
    coverings = Coverings([core for _, core in comparable], onto, max_steps=max_steps)
    yield from _covered(coverings, {core.order: subscription for subscription, core in comparable})
    unfinished = twins.unfinished + coverings.unfinished
    if unfinished:
        message = "the search for duplicates and covers stopped at its bound: it is not complete for"
        finding = Finding("covering-incomplete", f"{message} {unfinished:,} subscriptions")
        yield Problem(None, finding.severity, finding.code, finding.message)


def _findings(subscription: Subscription, ontology: Ontology, names: Names | None, label: Label) -> Iterator[Finding]:
    query = subscription.query
    yield from chain(
        names.unknown(query, label) if names else (),
        names.outside(query, label) if names else (),
        contradictions(query, ontology.is_subclass, label),
        unbound_in_filters(query),
        never_bound(query),
        products(query),
        matches_everything(query),
    )


def _problem(subscription: Subscription, finding: Finding, places: Places | None = None) -> Problem:
    span = places.span(finding.term) if places and finding.term is not None else None
    return Problem(
        subscription.id,
        finding.severity,
        finding.code,
        finding.message,
        span,
        finding.hint,
        subscription.source,
        subscription.line,
    )


class _Twins:
    """The first subscription of each condition. The forms that need work are made only for those that look alike."""

    def __init__(self) -> None:
        self.unfinished = 0
        self._forms = canonical.CanonicalForms()
        self._rough: dict[bytes, Subscription] = {}
        self._alike: dict[bytes, _Alike] = {}

    def of(self, subscription: Subscription) -> Subscription | None:
        """An earlier subscription with the same condition; None, and this one is kept, where there is none."""
        condition = canonical.condition(subscription.query)
        rough = _digest(canonical.rough_form(condition))
        first = self._rough.setdefault(rough, subscription)
        if first is subscription:
            return None
        if rough not in self._alike:
            self._alike[rough] = _Alike({}, {})
            self._twin(first, canonical.condition(first.query), self._alike[rough])
        return self._twin(subscription, condition, self._alike[rough])

    def _twin(self, subscription: Subscription, condition: canonical.Condition, alike: _Alike) -> Subscription | None:
        plain = _digest(canonical.plain_form(condition))
        if plain in alike.plain:
            return alike.plain[plain]
        form = self._forms.form(condition)
        self.unfinished += form is None
        first = subscription if form is None else alike.canonical.setdefault(_digest(form), subscription)
        alike.plain[plain] = first
        return None if first is subscription else first


class _Alike(NamedTuple):
    """Subscriptions that differ at most in where their variables stand, by two of their forms."""

    plain: dict[bytes, Subscription]
    canonical: dict[bytes, Subscription]


def _digest(form: str) -> bytes:
    return hashlib.blake2b(form.encode(), digest_size=16).digest()


def _covered(coverings: Coverings, subscriptions: Mapping[int, Subscription]) -> Iterator[Problem]:
    for narrow, broad, same in coverings:
        other = subscriptions[broad.order].id
        if same:
            finding = Finding("duplicate", f"matches exactly the events that '{other}' matches")
        else:
            finding = Finding("covered", f"every event that matches it matches '{other}' too")
        yield _problem(subscriptions[narrow.order], finding)
