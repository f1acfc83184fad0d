"""Ids of notifications, against the rule spelled out by hand."""

from __future__ import annotations

import hashlib
import struct

from hypothesis import given
from hypothesis import strategies as st

from tidings.delivery.notification import notification_id, notification_ids

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def by_hand(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(struct.pack(">Q", len(part.encode("utf-8"))))
        digest.update(part.encode("utf-8"))
    return digest.hexdigest()


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 1 << 40))
def test_an_id_is_the_hash_of_its_four_parts(tenant: str, subscription: str, event: str, version: int) -> None:
    expected = by_hand(tenant, subscription, str(version), event)
    assert notification_id(subscription, event, tenant=tenant, version=version) == expected


@given(st.lists(st.tuples(TEXTS, TEXTS)))
def test_many_at_once_are_the_same(pairs: list[tuple[str, str]]) -> None:
    found = notification_ids([subscription for subscription, _ in pairs], [event for _, event in pairs])
    assert found == [notification_id(subscription, event) for subscription, event in pairs]


def test_where_one_part_ends_and_the_next_begins_matters() -> None:
    assert notification_id("ab", "c") != notification_id("a", "bc")
    assert notification_id("1", "2", version=12) != notification_id("1", "12", version=1)
