"""A snapshot gives back what was written, is replaced as a whole, and is refused with the reason when it is damaged."""

from __future__ import annotations

import fcntl
import json
import math
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from tests.unit.index.snapshots import ABOUT, ARRAYS, assert_same, data_file, names, refusal

from tidings.errors import SnapshotError, UsageError
from tidings.index import manifest, snapshot
from tidings.index.snapshot import open_snapshot, verify, write

# What is written is what is opened.


def test_arrays_and_what_is_said_about_them_come_back(folder: Path) -> None:
    for opened in (open_snapshot(folder), open_snapshot(folder, verify=True), verify(folder)):
        assert opened.folder == folder
        assert opened.about == ABOUT
        assert_same(opened.arrays, ARRAYS)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays=st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True),
        hnp.arrays(
            st.sampled_from(list(manifest.DTYPES.values())), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)
        ),
        max_size=5,
    ),
    about=st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
    ),
)
def test_any_arrays_come_back(tmp_path: Path, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    write(tmp_path, arrays, about)
    opened = verify(tmp_path)
    assert opened.about == about
    assert_same(opened.arrays, arrays)


def test_an_array_larger_than_a_chunk_and_one_that_is_not_contiguous(tmp_path: Path) -> None:
    large = np.arange(3 * snapshot._CHUNK // 8 + 5, dtype=np.int64)
    arrays: dict[str, NDArray[Any]] = {"large": large, "strided": large[::7], "columns": large[:100].reshape(10, 10).T}
    write(tmp_path, arrays, {})
    assert_same(verify(tmp_path).arrays, arrays)


def test_no_arrays_at_all(tmp_path: Path) -> None:
    write(tmp_path, {}, {})
    assert verify(tmp_path).arrays == {}


def test_folders_above_are_made(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "c", ARRAYS, {})
    assert_same(open_snapshot(tmp_path / "a" / "b" / "c").arrays, ARRAYS)


def test_arrays_are_aligned(folder: Path) -> None:
    for array in open_snapshot(folder).arrays.values():
        assert array.ctypes.data % manifest.ALIGNMENT == 0 or array.size == 0
        assert array.flags.aligned


def test_what_is_written_into_an_array_stays_here(folder: Path) -> None:
    opened, other = open_snapshot(folder), open_snapshot(folder)
    before = other.arrays["longs"].copy()
    opened.arrays["longs"][:] = 7
    assert (other.arrays["longs"] == before).all()
    assert (verify(folder).arrays["longs"] == before).all()
    assert isinstance(opened.arrays, MappingProxyType)


def test_processes_share_the_pages(folder: Path) -> None:
    if not Path("/proc/self/smaps").exists():
        pytest.skip("the maps of a process are read from /proc")
    code = (
        "import sys; from pathlib import Path; from tidings.index.snapshot import open_snapshot\n"
        "opened = open_snapshot(Path(sys.argv[1]))\n"
        "print(int(opened.arrays['longs'].sum()))\n"
        "maps = open('/proc/self/smaps').read().partition(sys.argv[2])[2].splitlines()\n"
        "print(next(line.split()[1] for line in maps if line.startswith('Anonymous:')))\n"
    )
    command = [sys.executable, "-c", code, str(folder), data_file(folder).name]
    for _ in range(2):
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert result.stdout.splitlines() == [str(ARRAYS["longs"].sum()), "0"], "pages of its own"


# A write replaces the whole.


def test_a_write_replaces_the_snapshot_and_leaves_nothing_else(folder: Path) -> None:
    write(folder, {"other": ARRAYS["longs"]}, {"generation": 2})
    opened = verify(folder)
    assert opened.about == {"generation": 2}
    assert_same(opened.arrays, {"other": ARRAYS["longs"]})
    assert names(folder) == {"manifest.json", "writer.lock", "data"}
    assert data_file(folder).exists()


def test_who_has_the_old_one_keeps_it(folder: Path) -> None:
    old = open_snapshot(folder)
    write(folder, {"longs": np.zeros(3, np.int64)}, {})
    assert_same(old.arrays, ARRAYS)


def test_a_snapshot_can_be_written_over_itself(folder: Path) -> None:
    opened = open_snapshot(folder)
    write(folder, opened.arrays, opened.about)
    assert_same(verify(folder).arrays, ARRAYS)


def test_leftovers_are_swept_and_other_files_are_not(folder: Path) -> None:
    live = data_file(folder).name
    (folder / f"data-{'0' * 32}.bin").write_bytes(b"half")
    (folder / "manifest.json.new").write_text("{")
    (folder / "data-of-mine.bin").write_text("not a data file of ours")
    assert_same(verify(folder).arrays, ARRAYS)
    write(folder, ARRAYS, {})
    left = {path.name for path in folder.iterdir()}
    assert live not in left
    assert left - {json.loads((folder / "manifest.json").read_text())["data"]["file"]} == {
        "manifest.json",
        "writer.lock",
        "data-of-mine.bin",
    }


def test_leftovers_go_before_new_data_need_their_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leftover, live = folder / f"data-{'0' * 32}.bin", data_file(folder)
    leftover.write_bytes(b"half")
    there = []

    def replace(*_: Any) -> None:
        there.extend([leftover.exists(), live.exists()])

    monkeypatch.setattr(snapshot, "_replace", replace)
    write(folder, ARRAYS, {})
    assert there == [False, True]


def test_a_damaged_snapshot_can_be_replaced(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")
    write(folder, ARRAYS, {})
    assert_same(verify(folder).arrays, ARRAYS)
    assert data_file(folder).exists()


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_disk_that_refuses_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, refuse)
        with pytest.raises(SnapshotError, match="could not be written: No space left on device; check the disk"):
            write(folder, {"longs": np.zeros(1, np.int64)}, {})
    assert_same(verify(folder).arrays, ARRAYS)
    write(folder, ARRAYS, {})
    assert names(folder) == {"manifest.json", "writer.lock", "data"}
    assert data_file(folder).exists()


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SnapshotError, match="could not be written"):
        write(tmp_path / "file", ARRAYS, {})
    assert "there is none" in refusal(tmp_path / "file")


def test_two_writers(folder: Path) -> None:
    with open(folder / "writer.lock", "r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(
            SnapshotError, match=rf"another writer is at work \(process {os.getpid()}\); write it again"
        ):
            write(folder, {}, {})
        assert_same(verify(folder).arrays, ARRAYS)
    write(folder, {}, {})
    assert verify(folder).arrays == {}


def test_many_writers_and_readers_at_once(folder: Path) -> None:
    refused: list[SnapshotError] = []

    def writer(number: int) -> None:
        for n in range(40):
            try:
                write(folder, {"a": np.full(5000, n, np.int64), "b": np.full(3, n, np.int32)}, {"n": n, "by": number})
            except SnapshotError as error:
                refused.append(error)

    threads = [threading.Thread(target=writer, args=(number,)) for number in range(2)]
    write(folder, {"a": np.full(5000, -1, np.int64), "b": np.full(3, -1, np.int32)}, {"n": -1})
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        found = open_snapshot(folder)
        assert {int(n) for array in found.arrays.values() for n in array} == {found.about["n"]}
    assert all("another writer is at work" in error.problem for error in refused)
    assert names(folder) == {"manifest.json", "writer.lock", "data"}
    assert data_file(folder).exists()


def test_the_lock_is_not_left_to_forked_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process forked in the middle of a write does not hold up the next one."""
    forked = []
    original = snapshot._replace

    def replace(*arguments: Any) -> None:
        process = multiprocessing.get_context("fork").Process(target=threading.Event().wait, args=(30,), daemon=True)
        process.start()
        forked.append(process)
        original(*arguments)

    monkeypatch.setattr(snapshot, "_replace", replace)
    write(folder, ARRAYS, {})
    monkeypatch.undo()
    write(folder, {}, {"after": True})
    assert forked[0].is_alive()
    forked[0].kill()
    forked[0].join()
    assert open_snapshot(folder).about == {"after": True}


# What a snapshot cannot hold.


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("../a", ARRAYS["longs"], "no name for an array"),
        ("", ARRAYS["longs"], "no name for an array"),
        ("a" * 121, ARRAYS["longs"], "no name for an array"),
        ("a\n", ARRAYS["longs"], "no name for an array"),
        ("a", np.zeros(3, np.float32), "is of float32; a snapshot holds uint8, int32"),
        ("a", np.zeros(3, ">i8"), "is of >i8"),
        ("a", np.array([None]), "is of object"),
        ("a", np.zeros((1,) * 9, np.uint8), "has 9 dimensions"),
    ],
)
def test_arrays_it_cannot_hold(tmp_path: Path, name: str, array: NDArray[Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write(tmp_path / "snapshot", {name: array}, {})
    assert not (tmp_path / "snapshot").exists()


@pytest.mark.parametrize("value", [math.nan, object(), "x" * manifest.MAX_BYTES])
def test_what_cannot_be_said_about_it(folder: Path, value: Any) -> None:
    with pytest.raises(UsageError, match=r"cannot be written as JSON|the manifest would have"):
        write(folder, ARRAYS, {"value": value})
    assert_same(verify(folder).arrays, ARRAYS)
    assert names(folder) == {"manifest.json", "writer.lock", "data"}
    assert data_file(folder).exists()


# What is refused.


def test_no_snapshot(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "there is none (no manifest.json)"
    assert refusal(tmp_path / "nowhere") == "there is none (no manifest.json)"


def test_a_truncated_data_file(folder: Path) -> None:
    path = data_file(folder)
    size = path.stat().st_size
    os.truncate(path, size - 1)
    assert refusal(folder) == f"its data file {path.name} has {size - 1:,} bytes, and the manifest says {size:,}"


def test_a_missing_data_file(folder: Path) -> None:
    path = data_file(folder)
    path.unlink()
    assert refusal(folder) == f"its data file {path.name} is missing"


def test_another_data_file_of_the_same_size(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", ARRAYS, ABOUT)
    os.replace(data_file(tmp_path / "other"), data_file(folder))
    assert "is not the data file that was written here" in refusal(folder)


def test_changed_data_are_found_by_verify(folder: Path) -> None:
    fields = json.loads((folder / "manifest.json").read_text())
    with open(data_file(folder), "r+b") as file:
        for name in ("starts", "one"):
            file.seek(fields["arrays"][name]["offset"] + 3)
            file.write(b"\x55")
    assert open_snapshot(folder).about == ABOUT
    assert "digest mismatch in starts, one)" in refusal(folder, verify=True)
    with pytest.raises(SnapshotError, match="digest mismatch"):
        verify(folder)


@pytest.mark.parametrize("path_of", [data_file, lambda folder: folder / "manifest.json"], ids=["data", "manifest"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_plain_file(folder: Path, kind: str, path_of: Callable[[Path], Path]) -> None:
    path = path_of(folder)
    outside = folder.parent / "outside"
    path.rename(outside)
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    assert "could not be read" in refusal(folder)
