"""What the README and the docstrings show, runs."""

from __future__ import annotations

import doctest
import json
import re

import pytest
from tests.support import ROOT

import tidings
from tidings.match import registry

README = (ROOT / "README.md").read_text()


def test_the_quick_start_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    exec(compile(code, "README.md", "exec"), {})
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("cheap ")
    assert "offer7" in line
    assert "390" in line


def test_the_example_of_the_matchers_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "matchers.md").read_text(), re.DOTALL)
    exec(compile(code, "matchers.md", "exec"), {})
    assert capsys.readouterr().out == "['path']\n[]\n"


def test_the_example_of_the_feeds_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "feeds.md").read_text(), re.DOTALL)
    exec(compile(code, "feeds.md", "exec"), {})
    assert "<http://news.example/topics/tennis>" in capsys.readouterr().out


def test_the_matchers_page_names_every_matcher() -> None:
    page = (ROOT / "docs" / "matchers.md").read_text()
    assert all(f"`{name}`" in page for name in registry.names())


def test_the_package_docstring_runs() -> None:
    result = doctest.testmod(tidings)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_page_that_is_linked_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_the_files_that_the_architecture_names_exist() -> None:
    names = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text()))
    known = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    known |= {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")}
    assert names
    for name in names:
        assert any(path == name or path.endswith(f"/{name}") for path in known), name


def test_the_public_surface() -> None:
    assert sorted(tidings.__all__) == tidings.__all__
    for name in tidings.__all__:
        assert getattr(tidings, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tidings.nothing


def test_the_figures_of_the_readme_are_those_of_the_kept_run() -> None:
    kept = json.loads((ROOT / "bench" / "results" / "parsing.json").read_text())["tables"][0]["rows"]
    shown = re.findall(r"^\| .+ \| ([\d,]+) \| ([\d.]+) s \| ([\d,]+) µs \|$", README, re.MULTILINE)
    measured = [(f"{row['count']:,}", f"{row['seconds']:.1f}", f"{row['cpu µs each']:,.0f}") for row in kept]
    assert shown
    assert set(shown) <= set(measured)


def test_the_example_of_the_templates_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "templates.md").read_text(), re.DOTALL)
    exec(compile(code, "templates.md", "exec"), {})
    assert capsys.readouterr().out == "1000\n"
