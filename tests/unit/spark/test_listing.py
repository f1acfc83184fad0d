"""Which files a path stands for, here and in a store, and in what order."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

import pytest
from pyarrow import fs

from tidings.errors import UsageError
from tidings.spark import listing
from tidings.spark.listing import files
from tidings.spark.options import Options

NAMES = [
    "b/2.nq",
    "b/1.trig.gz",
    "a.nq",
    "c.nq",
    "notes.txt",
    ".hidden.nq",
    "_tmp/x.nq",
    "_x.nq",
    "d/_y=1/z.nq",
    "e f%20.nq",
]
SEEN = ["a.nq", "b/1.trig.gz", "b/2.nq", "c.nq", "d/_y=1/z.nq", "e f%20.nq"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text("x")
    return tmp_path / "in"


def names(folder: Path, *paths: str, format: str | None = None, waiting: bool = False) -> list[str]:
    return [os.path.relpath(file.name, folder) for file in files(paths, format, waiting=waiting)]


def test_a_folder_in_name_order_without_what_is_hidden(folder: Path) -> None:
    assert names(folder, str(folder)) == names(folder, f"file://{folder}") == SEEN
    assert "notes.txt" in names(folder, str(folder), format="nq")


def test_several_paths_and_globs_give_each_file_once(folder: Path) -> None:
    assert names(folder, f"{folder}/c.nq", f"{folder}/?.nq", str(folder / "b")) == [
        "c.nq",
        "a.nq",
        "b/1.trig.gz",
        "b/2.nq",
    ]
    assert names(folder, f"{folder}/*") == names(folder, f"{folder}/**") == SEEN


def test_what_is_named_itself_is_taken_or_an_error(folder: Path) -> None:
    assert names(folder, f"{folder}/_x.nq") == ["_x.nq"]
    with pytest.raises(UsageError, match=r"notes.txt' does not tell the RDF format"):
        files([f"{folder}/notes.txt"], None)
    with pytest.raises(UsageError, match=r"no such file or folder: '.*nope'"):
        files([f"{folder}/nope"], None, waiting=True)
    with pytest.raises(UsageError, match=r"no file matches: '.*\*.ttl'"):
        files([f"{folder}/*.ttl"], None)
    assert files([f"{folder}/*.ttl"], None, waiting=True) == []


def test_a_folder_may_be_left_out(folder: Path) -> None:
    found = files([str(folder)], None, without=str(folder / "b"))
    assert [os.path.relpath(file.name, folder) for file in found] == [name for name in SEEN if name[0] != "b"]


def test_a_move_is_a_change_and_a_date_of_old_is_none(folder: Path) -> None:
    os.utime(folder / "a.nq", (1_000_000_000, 1_000_000_000))
    (before,) = files([f"{folder}/a.nq"], None)
    assert before.changed > 1_700_000_000 * 10**9
    (folder / "a.nq").rename(folder / "moved.nq")
    (after,) = files([f"{folder}/moved.nq"], None)
    assert after.changed >= before.changed


def test_a_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of this machine as if it were the bucket of a store."""
    store = fs.SubTreeFileSystem(str(folder.parent), fs.LocalFileSystem())

    def from_uri(uri: str) -> tuple[fs.FileSystem, str]:
        return store, unquote(uri.partition("?")[0].removeprefix("s3://"))

    class Stores:
        FileSystem = type("FileSystem", (), {"from_uri": staticmethod(from_uri)})
        FileSelector, FileType, LocalFileSystem = fs.FileSelector, fs.FileType, fs.LocalFileSystem

    monkeypatch.setattr(listing, "fs", Stores)
    found = files(["s3://in?region=x"], None)
    assert [file.name for file in found] == [f"s3://in/{name}?region=x" for name in [*SEEN[:-1], "e%20f%2520.nq"]]
    assert found[0].changed == (folder / "a.nq").stat().st_mtime_ns
    assert [file.name for file in files(["s3://in/"], None)][:2] == ["s3://in/a.nq", "s3://in/b/1.trig.gz"]
    assert [file.name for file in files(["s3://in/b/*.nq?x=y"], None)] == ["s3://in/b/2.nq?x=y"]
    assert [file.name for file in files(["s3://in/[ac].nq"], None)] == ["s3://in/a.nq", "s3://in/c.nq"]
    assert files(["s3://in/x*"], None, waiting=True) == []
    assert [file.name for file in files(["s3://in/**/z.nq"], None)] == ["s3://in/d/_y=1/z.nq"]
    assert [file.name for file in files(["s3://in/c.nq"], None)] == ["s3://in/c.nq"]
    with listing.opened("s3://in/c.nq") as data:
        assert data.read() == b"x"
    with pytest.raises(UsageError, match="no such file or folder: 's3://in/nope'"):
        files(["s3://in/nope"], None)


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("by", "graf", "graph, document, subject, nanopub"),
        ("format", "csv", "nt, nq, ttl, trig, rdf, jsonld"),
        ("strict", "yes", "true or false"),
        ("problems", "1", "true or false"),
        ("maxFilesPerTrigger", "0", "a whole number from 1 on"),
        ("maxBytesPerTrigger", "-1", "a number of bytes"),
        ("splitBytes", "many", "a number of bytes"),
        ("settle", "soon", "a number of seconds"),
        ("paths", "a, b", "a JSON list"),
        ("path", "", "a path is missing"),
    ],
)
def test_an_option_that_cannot_be_says_what_can(option: str, value: str, allowed: str) -> None:
    with pytest.raises(UsageError, match=allowed):
        Options.of({"path": "in", option: value})


def test_options_have_no_case() -> None:
    options = Options.of(
        {"PATHS": '["a", "b"]', "BY": "Subject", "splitbytes": "1K", "STRICT": "True", "Format": "N-Quads"}
    )
    assert (options.paths, options.split_bytes) == (("a", "b"), 1024)
    assert (options.reading.by, options.reading.strict, options.reading.format) == ("subject", True, "nq")
