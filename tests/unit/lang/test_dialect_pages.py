"""What docs/dialects.md and docs/check.md show is so."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from tests.support import ROOT

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.check import check
from tidings.lang.check.problems import Code, Finding
from tidings.lang.files import Subscription
from tidings.lang.pattern import Dialect

DIALECTS = (ROOT / "docs" / "dialects.md").read_text(encoding="utf-8")
CHECK = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(ops|gtopss)\n(.*?)```", DIALECTS, re.DOTALL)


@pytest.mark.parametrize(("dialect", "text"), EXAMPLES)
def test_the_examples_are_good_subscriptions(dialect: Dialect, text: str) -> None:
    query = parse(text, dialect)
    assert parse(to_text(query), dialect) == query
    assert list(check([Subscription("a", query, text, dialect)])) == []


def test_the_message_is_as_shown() -> None:
    text = "PREFIX : <http://e.x/>\n(_:H, ?1, (Selling, p, A))\n(_:H, ?2, (Selling, p, Money))\n"
    with pytest.raises(SubscriptionError) as caught:
        parse(text + "(?2, ?3, (Money, value, A), ?1 < 400.00)", "ops", source="bids.ops")
    assert f"```\n{caught.value}\n```" in DIALECTS


def test_every_code_is_on_the_page_with_its_severity() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", CHECK, re.MULTILINE))
    assert rows == {code: Finding(code, "").severity for code in get_args(Code)}


@pytest.mark.parametrize("condition", ["?x < 3 && ?x > 5", "?x = 1 && ?x = 1.00000000001"])
def test_the_contradictions_are_as_told(condition: str) -> None:
    assert f"`{condition}`" in CHECK
    text = f"ASK {{ ?s <http://e.x/p> ?x FILTER({condition}) }}"
    assert len(list(check([Subscription("a", parse(text), text)]))) == (1 if "5" in condition else 0)
