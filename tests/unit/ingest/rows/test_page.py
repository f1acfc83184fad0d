"""What the page about rows shows, runs."""

from __future__ import annotations

import re

import pytest
from tests.support import ROOT


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "rows.md").read_text(), re.DOTALL)
    exec(compile(code, "rows.md", "exec"), {})
    s = "<http://example.org/shop/7> <http://example.org/shop/"
    xsd = "<http://www.w3.org/2001/XMLSchema#"
    assert capsys.readouterr().out.splitlines() == [
        f'{s}id> "7"^^{xsd}integer> .',
        f'{s}name> "Café" .',
        f'{s}price> "1.50"^^{xsd}decimal> .',
        f'{s}since> "2024-02-29"^^{xsd}date> .',
        "",
    ]
