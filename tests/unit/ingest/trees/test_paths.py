"""Paths of records: what is understood, and what they lead to."""

from __future__ import annotations

import pytest

from tidings.errors import UsageError
from tidings.ingest.trees.paths import ANY, SEPARATOR, json_path, selects, xml_path


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", ()),
        ("$.items[*]", ("items", ANY)),
        ("items[*]", ("items", ANY)),
        ("$['odd name'][0].x", ("odd name", 0, "x")),
        ('$["it\'s"].*', ("it's", ANY)),
        (r"$['it\'s']", ("it's",)),
        ("/items/*", ("items", ANY)),
        ("/a~1b/m~0n/0", ("a/b", "m~n", "0")),
    ],
)
def test_json_paths(text: str, steps: tuple[object, ...]) -> None:
    assert json_path(text) == steps


@pytest.mark.parametrize("text", ["$..x", "$.items[?(@.a)]", "$.a[1:2]", "$[", "$.a b"])
def test_json_paths_that_are_not_understood(text: str) -> None:
    with pytest.raises(UsageError, match="is not understood"):
        json_path(text)


@pytest.mark.parametrize(
    ("path", "names", "selected"),
    [
        ("/catalog/item", ["catalog", "item"], True),
        ("catalog/item", ["catalog", "item"], True),
        ("/catalog/item", ["catalog", "group", "item"], False),
        ("//item", ["catalog", "group", "item"], True),
        ("/catalog//item", ["catalog", "group", "item"], True),
        ("/shop//item", ["catalog", "group", "item"], False),
        ("/catalog/*", ["catalog", "x"], True),
        ("//item", [f"http://n.s/{SEPARATOR}item"], True),
        ("//{http://n.s/}item", [f"http://n.s/{SEPARATOR}item"], True),
        ("//{http://n.s/}item", ["item"], False),
        ("/a//b//c", ["a", "b", "x", "c"], True),
        ("/a//b//c", ["a", "c", "x", "b"], False),
    ],
)
def test_xml_paths(path: str, names: list[str], selected: bool) -> None:
    assert selects(xml_path(path), names) is selected


@pytest.mark.parametrize("text", ["/a[1]", "/a/@id", "x:item", "/", "//"])
def test_xml_paths_that_are_not_understood(text: str) -> None:
    with pytest.raises(UsageError, match="is not understood"):
        xml_path(text)
