"""From what a user names to events: files, folders, globs, streams, bytes."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest

from tidings.errors import EventError, UsageError
from tidings.ingest.base import SCHEMA, How
from tidings.ingest.read import read, read_batches
from tidings.ingest.registry import KINDS
from tidings.rdf.formats import EXTENSIONS


def sources(names: object, format: str | None = None) -> tuple[list[str], list[str]]:
    told: list[EventError] = []
    found = [event.source for event in read(names, How(), format=format, report=told.append)]  # type: ignore[arg-type]
    return found, [str(error) for error in told]


def test_no_format_has_an_ending_that_is_one_of_rdf() -> None:
    assert not [suffix for kind in KINDS.values() for suffix in kind.suffixes if suffix in EXTENSIONS]


def test_files_folders_and_globs(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.html", "b/c.htm", "d.html.gz", "e.txt", ".f.html", "g.json"):
        data = b"<title>x</title>"
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    everything, told = sources(tmp_path)
    assert (everything, told) == ([str(tmp_path / name) for name in ("a.html", "b/c.htm", "d.html.gz")], [])
    assert sources(str(tmp_path / "*.html*"))[0] == [str(tmp_path / "a.html"), str(tmp_path / "d.html.gz")]


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "x.what").write_text("{}")
    (tmp_path / "bad.html.gz").write_bytes(b"no gzip")
    (tmp_path / "good.html").write_text("<p>")
    names = ["none.html", "*.none", "", "x.json", "x.what", "bad.html.gz", "good.html"]
    found, told = sources([str(tmp_path / name) if name else "" for name in names])
    assert found == [str(tmp_path / "good.html")]
    said = (
        "no such file",
        "no file matches",
        "is empty",
        "by its name this is RDF",
        "does not tell",
        "is not gzip data",
    )
    assert len(told) == len(said)
    assert all(words in error for words, error in zip(said, told, strict=True))


def test_bytes_and_streams_need_a_format(tmp_path: Path) -> None:
    assert sources(b"{}", "json") == (["bytes"], [])
    assert sources(io.BytesIO(b"{}"), "json") == (["stream"], [])
    assert "the format must be given" in sources(b"{}")[1][0]
    with pytest.raises(UsageError, match="'jsn' is no format"):
        sources(b"{}", "jsn")


def test_batches_have_the_schema() -> None:
    [batch] = read_batches(b"[1, 2]", How(), format="json", report=print)
    assert isinstance(batch, pa.RecordBatch)
    assert (batch.schema, batch.num_rows) == (SCHEMA, 2)


def test_cut_off_data_costs_the_rest_alone() -> None:
    data = gzip.compress(b"[" + b",".join(b'{"n": %d}' % n for n in range(40_000)) + b"]")[:-2000]
    told: list[EventError] = []
    found = list(read(data, How(), format="json", report=told.append))
    assert found
    assert ["cut off or damaged" in str(error) for error in told] == [True]
