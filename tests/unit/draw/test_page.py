"""The page about drawings: its example runs."""

from __future__ import annotations

import re
from typing import Any

from tests.support import ROOT
from tests.unit.draw.worlds import texts


def test_the_example_runs() -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "drawings.md").read_text("utf-8"), re.DOTALL)
    made: dict[str, Any] = {}
    exec(compile(code, "drawings.md", "exec"), made)
    assert "✓ offers matches" in texts(made["graph"])
    assert "?c ↔ _:c" in texts(made["tree"])
