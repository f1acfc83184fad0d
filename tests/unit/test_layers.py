"""The layering of the package, proved from its imports: a file imports its own folder and lower layers only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import ROOT

PACKAGE = ROOT / "src" / "tidings"
LAYERS = {
    "errors": 0,
    "rdf": 1,
    "ontology": 2,
    "lang": 3,
    "ingest": 3,
    "index": 4,
    "match": 5,
    "delivery": 6,
    "draw": 6,
    "broker": 7,
    "spark": 7,
    "demo": 7,
    "bench": 8,
    "cli": 9,
}
ONLY_IN = {
    "pyspark": {"spark"},
    "numba": {"index"},
    "click": {"cli"},
    "rich": {"cli"},
    "rdflib": {"bench", "ingest"},
    "matplotlib": {"bench"},
    "starlette": {"broker"},
    "uvicorn": {"broker"},
    "html5lib": {"bench", "ingest"},
    "pyRdfa": {"ingest"},
    "pypdf": {"bench", "ingest"},
    "PIL": {"bench", "ingest"},
    "pyshacl": {"ingest"},
    "feedparser": {"bench", "ingest"},
}
FILES = sorted(PACKAGE.rglob("*.py"))


def folder_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module a file imports, wherever in the file, as (line, dotted name)."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            assert node.module is not None
            yield node.lineno, node.module
            if node.module == "tidings":
                yield from ((node.lineno, f"tidings.{alias.name}") for alias in node.names)


def problems(path: Path) -> Iterator[str]:
    own = folder_of(path)
    for line, module in imports(path):
        root, _, rest = module.partition(".")
        place = f"{path.relative_to(ROOT)}:{line}"
        if root == "tidings" and rest:
            other = rest.split(".")[0]
            if own != "__init__" and other != own and LAYERS[other] >= LAYERS[own]:
                yield f"{place}: {own} (layer {LAYERS[own]}) imports {other} (layer {LAYERS[other]})"
        elif root in ONLY_IN and own not in ONLY_IN[root]:
            yield f"{place}: {root} does not belong in {own}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_imports_its_own_folder_and_lower_layers_only(path: Path) -> None:
    assert list(problems(path)) == []


def test_every_folder_has_a_layer() -> None:
    assert {folder_of(path) for path in FILES} - {"__init__", "__main__"} <= set(LAYERS)


def test_the_check_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "src" / "tidings" / "rdf" / "bad.py"
    bad.parent.mkdir(parents=True)
    bad.write_text("def f():\n    from tidings.match import naive\n    import pyspark\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path / "src" / "tidings")
    assert list(problems(bad)) == [
        "src/tidings/rdf/bad.py:2: rdf (layer 1) imports match (layer 5)",
        "src/tidings/rdf/bad.py:3: pyspark does not belong in rdf",
    ]
