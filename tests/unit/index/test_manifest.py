"""A manifest that is damaged, does not fit or was made to harm is refused before anything is mapped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.index.snapshots import ARRAYS, assert_same, forge, refusal

from tidings.index import manifest
from tidings.index.snapshot import open_snapshot, verify


def test_every_changed_byte_of_the_manifest_is_found(folder: Path) -> None:
    path = folder / "manifest.json"
    text = path.read_bytes()
    fields = json.loads(text)
    for at in range(0, len(text), 7):
        path.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        try:
            same = json.loads(path.read_bytes()) == fields
        except ValueError:
            same = False
        if not same:
            assert refusal(folder)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "cannot be read as JSON"),
        (b"\xff\xfe\xfa", "cannot be read as JSON"),
        (b"[1]", "it is no JSON object"),
        (b"{}", "'format' is not a number"),
        (b'{"format": true}', "'format' is not a number"),
        (b'{"format": 1}', "'digest' is missing"),
        (b'{"format": 1, "digest": "0"}', "digest mismatch"),
        (b'{"format": ' + b"9" * 5000 + b"}", "cannot be read as JSON"),
        (b"[" * 200_000, "cannot be read as JSON"),
        (b" " * (manifest.MAX_BYTES + 1), "it has more than 4,194,304 bytes"),
    ],
    ids=range(10),
)
def test_manifests_that_are_none(folder: Path, text: bytes, reason: str) -> None:
    (folder / "manifest.json").write_bytes(text)
    assert reason in refusal(folder)


def test_a_forged_manifest_without_changes_opens(folder: Path) -> None:
    forge(folder, lambda fields: None)
    assert_same(verify(folder).arrays, ARRAYS)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 2}, "it is of format 2, and this version reads format 1"),
        ({"product": "0.0.9"}, "it was written by tidings 0.0.9, and this is tidings "),
        ({"product": "\x1b[2J"}, "'product' is not a version"),
        ({"unicode": "3.2.0"}, "its words follow Unicode 3.2.0, and this Python has Unicode "),
        ({"byte_order": "big"}, "its byte order is 'big', and this machine's is 'little'"),
        ({"data": "data"}, "'data' is missing or of the wrong type"),
        ({"arrays": []}, "'arrays' is missing"),
        ({"arrays": {"a": 1}}, "the array 'a' is not described"),
        ({"about": None}, "'about' is missing"),
    ],
)
def test_fields_that_do_not_fit(folder: Path, change: dict[str, Any], reason: str) -> None:
    forge(folder, lambda fields: fields.update(change))
    assert reason in refusal(folder)


def test_a_version_that_differs_in_its_last_part_only_opens(folder: Path) -> None:
    forge(folder, lambda fields: fields.update(product=".".join([*fields["product"].split(".")[:2], "99"])))
    assert_same(open_snapshot(folder).arrays, ARRAYS)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "data-../x.bin", "manifest.json", "", "data-\n"])
def test_a_data_file_elsewhere(folder: Path, name: str) -> None:
    forge(folder, lambda fields: fields["data"].update(file=name))
    assert "it names a data file" in refusal(folder)


@pytest.mark.parametrize("size", [-1, 0, 64, 1 << 80, True, 1.5, None])
def test_a_size_that_is_not_the_files(folder: Path, size: Any) -> None:
    forge(folder, lambda fields: fields["data"].update(bytes=size))
    assert refusal(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"dtype": "object"}, "a name, dtype or digest that cannot be"),
        ({"dtype": "int64,int64"}, "a name, dtype or digest that cannot be"),
        ({"sha256": "00"}, "a name, dtype or digest that cannot be"),
        ({"shape": 4}, "'shape' is missing or of the wrong type"),
        ({"shape": [-1, -4]}, "a shape that cannot be"),
        ({"shape": [4.0]}, "a shape that cannot be"),
        ({"shape": [True, 4]}, "a shape that cannot be"),
        ({"shape": [1] * 9 + [4]}, "a shape that cannot be"),
        ({"shape": [0, 1 << 62, 1 << 62], "bytes": 0}, "a shape that cannot be"),
        ({"shape": [1 << 61], "bytes": 1 << 63}, "a shape that cannot be"),
        ({"shape": [5]}, "has 16 bytes, which its shape contradicts"),
        ({"shape": [1 << 40], "bytes": 1 << 42}, "does not lie in the data file"),
        ({"offset": 1 << 40}, "does not lie in the data file"),
        ({"offset": 4}, "does not lie in the data file"),
        ({"offset": -64}, "'offset' is not a number of the right kind"),
        ({"offset": "64"}, "'offset' is not a number of the right kind"),
        ({"bytes": None}, "'bytes' is not a number of the right kind"),
    ],
)
def test_an_array_that_cannot_be(folder: Path, change: dict[str, Any], reason: str) -> None:
    forge(folder, lambda fields: fields["arrays"]["starts"].update(change))
    assert reason in refusal(folder)


def test_an_array_name_that_cannot_be(folder: Path) -> None:
    forge(folder, lambda fields: fields["arrays"].update({"../x" * 50: fields["arrays"]["one"]}))
    problem = refusal(folder)
    assert "a name, dtype or digest that cannot be" in problem
    assert len(problem) < 200
