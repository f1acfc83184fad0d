"""Files, folders, globs, stdin, bytes and streams; plain and compressed."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.rdf.helpers import good, ids, read, refused

from tidings.errors import UsageError
from tidings.rdf.read import read_triples

QUAD = b"<e:s> <e:p> <e:o> <e:%s> .\n"


def quad(name: str) -> bytes:
    return QUAD % name.encode()


def zstd(data: bytes) -> bytes:
    result: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Names in another order than they were written, a folder inside, files of other kinds."""
    (tmp_path / "c.nq").write_bytes(quad("c"))
    (tmp_path / "a.trig").write_bytes(b"<e:a> { <e:s> <e:p> <e:o> }")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.nq.gz").write_bytes(gzip.compress(quad("b2")))
    (tmp_path / "b" / "1.nq.zst").write_bytes(zstd(quad("b1")))
    (tmp_path / "b" / "0.txt").write_bytes(b"not RDF")
    (tmp_path / ".hidden.nq").write_bytes(quad("hidden"))
    (tmp_path / "README.md").write_bytes(b"# not RDF")
    return tmp_path


def test_a_folder_is_read_recursively_in_name_order(folder: Path) -> None:
    events = good(folder)
    assert ids(events) == ["e:a", "e:b1", "e:b2", "e:c"]
    assert [Path(event.source).name for event in events] == ["a.trig", "1.nq.zst", "2.nq.gz", "c.nq"]


def test_globs(folder: Path) -> None:
    assert ids(good(str(folder / "*.nq"))) == ["e:c"]
    assert ids(good(str(folder / "**" / "*.nq*"))) == ["e:b1", "e:b2", "e:c"]


def test_a_name_with_glob_characters_is_a_name_first(tmp_path: Path) -> None:
    (tmp_path / "[a].nq").write_bytes(quad("x"))
    assert ids(good(str(tmp_path / "[a].nq"))) == ["e:x"]


def test_several_sources_keep_their_order(folder: Path) -> None:
    assert ids(good(folder / "c.nq", folder / "a.trig")) == ["e:c", "e:a"]


def test_what_is_not_there_is_reported_and_the_rest_read(folder: Path) -> None:
    events, errors = read(str(folder / "nothing.nq"), str(folder / "*.rdf"), folder / "c.nq")
    assert ids(events) == ["e:c"]
    assert [error.reason for error in errors] == ["no such file or folder", "no file matches this pattern"]


def test_a_file_of_unknown_kind_is_reported_where_it_is_named(folder: Path) -> None:
    error = refused(folder / "README.md")
    assert "format" in error.reason
    assert ".ttl" in str(error.hint)


def test_format_overrides_the_extension(folder: Path) -> None:
    (folder / "data.txt").write_bytes(quad("x"))
    assert ids(good(folder / "data.txt", format="nq")) == ["e:x"]


def test_bytes_and_streams_need_a_format() -> None:
    assert ids(good(quad("x"), format="nq")) == ["e:x"]
    assert ids(good(io.BytesIO(quad("x")), format="nq")) == ["e:x"]
    assert "format=" in refused(quad("x")).reason
    assert "format=" in refused(io.BytesIO(quad("x"))).reason


def test_one_source_need_not_be_a_list(folder: Path) -> None:
    from tidings.rdf.read import read_events

    assert len(list(read_events(folder / "c.nq", report=pytest.fail))) == 1
    assert len(list(read_events(quad("x"), format="nq", report=pytest.fail))) == 1
    assert len(list(read_events(io.BytesIO(quad("x")), format="nq", report=pytest.fail))) == 1


def test_a_stream_that_cannot_go_back_is_read_in_every_format() -> None:
    class Once(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self._inner = io.BytesIO(data)

        def read(self, size: int = -1) -> bytes:
            return self._inner.read(min(size, 7))

    assert ids(good(Once(b"<e:g> { <e:s> <e:p> <e:o> , [] }"), format="trig")) == ["e:g"]
    assert ids(good(Once(quad("x") * 3 + quad("y")), format="nq")) == ["e:x", "e:y"]


def test_stdin_is_n_quads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(quad("x") + quad("y"))))
    events = good("-")
    assert ids(events) == ["e:x", "e:y"]
    assert events[0].source == "stdin"


def test_a_pipe_gives_its_events_while_it_is_open() -> None:
    from tidings.rdf.read import read_events

    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        events = read_events(source, format="nq", report=pytest.fail)
        sink.write(quad("x") + quad("y"))
        assert next(events).id == "e:x"
        sink.write(quad("z"))
        assert next(events).id == "e:y"
        sink.close()
        assert next(events).id == "e:z"


def test_compression_is_known_by_content_too() -> None:
    assert ids(good(gzip.compress(quad("x")), format="nq")) == ["e:x"]
    assert ids(good(zstd(quad("x")), format="nq")) == ["e:x"]


def test_gzip_of_several_members() -> None:
    assert ids(good(gzip.compress(quad("x")) + gzip.compress(quad("y")), format="nq")) == ["e:x", "e:y"]


@pytest.mark.parametrize(("suffix", "compress"), [("gz", gzip.compress), ("zst", zstd)])
@pytest.mark.parametrize("kind", ["nq", "ttl"])
def test_cut_off_data_are_an_error(tmp_path: Path, suffix: str, compress: object, kind: str) -> None:
    data = b"".join(b"<e:s%d> <e:p%d> <e:o%d> .\n" % (i * 7919, i * 31, i * 17) for i in range(3000))
    assert callable(compress)
    for cut in (-1, -9, 20):
        path = tmp_path / f"cut{cut}.{kind}.{suffix}"
        path.write_bytes(compress(data)[:cut])
        error = refused(path)
        assert "cut off or damaged" in error.reason
        assert error.source == str(path)


def test_events_before_the_cut_are_answered(tmp_path: Path) -> None:
    data = b"".join(quad(f"g{i * 7919}") for i in range(20_000))
    path = tmp_path / "cut.nq.gz"
    path.write_bytes(gzip.compress(data)[:-100])
    events, errors = read(path)
    assert 1000 < len(events) < 20_000
    assert ids(events) == [f"e:g{i * 7919}" for i in range(len(events))]
    assert len(errors) == 1


@pytest.mark.parametrize("name", ["a.nq.gz", "a.nq.zst"])
def test_a_name_that_promises_compression(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(quad("x"))
    assert "as its name says" in refused(tmp_path / name).reason


def test_empty_documents_have_no_events() -> None:
    for format in ("nt", "nq", "ttl", "trig"):
        assert good(b"", format=format) == []
        assert good(b"\n# only a comment\n", format=format) == []


def test_a_byte_order_mark_is_skipped() -> None:
    bom = b"\xef\xbb\xbf"
    assert ids(good(bom + quad("x"), format="nq")) == ["e:x"]
    assert ids(good(bom + b"<e:g> { <e:s> <e:p> <e:o> }", format="trig")) == ["e:g"]
    assert len(good(bom + b'{"@id": "e:s", "e:p": 1}', format="jsonld")) == 1


def test_relative_iris_are_resolved_against_the_file_or_the_base(tmp_path: Path) -> None:
    path = tmp_path / "a b.ttl"
    path.write_bytes(b"<#x> <e:p> <y> .")
    assert f"<{path.as_uri()}#x>" in good(path)[0].body
    assert "<http://e.x/y>" in good(path, base="http://e.x/z")[0].body
    assert "no base" in refused(b"<x> <e:p> <e:y> .", format="ttl").reason
    with pytest.raises(UsageError, match="no absolute IRI"):
        read(path, base="not an IRI")


def test_read_triples_merges_the_graphs_of_one_document(folder: Path) -> None:
    assert list(read_triples(b"<e:a> { <e:s> <e:p> 1 } <e:s> <e:p> [] .", format="trig")) == [
        ("<e:s>", "<e:p>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("<e:s>", "<e:p>", "_:b0"),
    ]
    assert list(read_triples(folder / "c.nq")) == [("<e:s>", "<e:p>", "<e:o>")]


def test_read_triples_raises(folder: Path) -> None:
    from tidings.errors import EventError

    with pytest.raises(EventError, match="no such file"):
        list(read_triples(folder / "nothing.ttl"))
    with pytest.raises(EventError, match="bytes:2:1"):
        list(read_triples(quad("x") + b"x\n", format="nq"))
    with pytest.raises(EventError, match="4 documents"):
        list(read_triples(folder))


def test_that_data_are_cut_off_is_told_even_where_the_event_is_lost_already(tmp_path: Path) -> None:
    data = b'<e:s> <e:p> "open <e:g> .\n' + b"".join(b"<e:s%d> <e:p> <e:o> <e:g> .\n" % (i * 7919) for i in range(9000))
    path = tmp_path / "cut.nq.gz"
    path.write_bytes(gzip.compress(data)[:-100])
    for by in ("graph", "subject", "document", "nanopub"):
        events, errors = read(path, by=by)
        assert not events
        assert [error.line for error in errors] == [1, None]


def test_an_empty_name_is_not_the_folder_one_stands_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert "empty" in refused("").reason
