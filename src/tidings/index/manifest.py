"""The manifest of a snapshot: what it says, how it is written, and every check that needs no data.

It may come from anywhere, so nothing in it is believed before it is checked: its size and its own digest first, then
what it was made by, then each field. What passes can be mapped without leaving the data file.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import numpy as np

import tidings
from tidings.errors import SnapshotError, UsageError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

FORMAT: Final = 1
ALIGNMENT: Final = 64
MAX_BYTES: Final = 4 << 20
DTYPES: Final = {name: np.dtype(name).newbyteorder("<") for name in ("uint8", "int32", "int64", "uint64", "float64")}
DATA_FILE: Final = re.compile(r"data-[0-9a-f]{32}\.bin")
AGAIN: Final = "compile it again, or restore it from a copy"

_BYTE_ORDER = "little"
_ARRAY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,119}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")
_MAX_DIMENSIONS = 8
_MAX_ARRAY_BYTES = 1 << 60

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """An array: what it is, where in the data file it is, and the SHA-256 of its bytes."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`file` is the name of the data file, `size` how long it is."""

    file: str
    size: int
    entries: Mapping[str, Entry]
    about: Mapping[str, Json]


def check_array(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """A snapshot may hold such an array."""
    if not _ARRAY_NAME.fullmatch(name):
        raise UsageError(f"no name for an array of a snapshot: {name!r}; take letters, digits and _ . -")
    if dtype not in DTYPES.values():
        raise UsageError(f"the array '{name}' is of {dtype}; a snapshot holds {', '.join(DTYPES)}")
    if len(shape) > _MAX_DIMENSIONS:
        raise UsageError(f"the array '{name}' has {len(shape)} dimensions; a snapshot takes up to {_MAX_DIMENSIONS}")


def render(manifest: Manifest) -> bytes:
    """The text of the manifest; `parse` gives the manifest back."""
    fields = {
        "format": FORMAT,
        "product": tidings.__version__,
        "unicode": unicodedata.unidata_version,
        "byte_order": _BYTE_ORDER,
        "data": {"file": manifest.file, "bytes": manifest.size},
        "arrays": {
            name: {
                "dtype": entry.dtype,
                "shape": list(entry.shape),
                "offset": entry.offset,
                "bytes": entry.bytes,
                "sha256": entry.digest,
            }
            for name, entry in manifest.entries.items()
        },
        "about": dict(manifest.about),
    }
    try:
        # What the text will be read as, which is what the digest has to be of: keys are strings, tuples are lists.
        fields = json.loads(json.dumps(fields, allow_nan=False))
        text = json.dumps(fields | {"digest": _digest(fields)}, indent=1).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"what is said about a snapshot cannot be written as JSON: {error}") from error
    if len(text) > MAX_BYTES:
        raise UsageError(f"the manifest would have {len(text):,} bytes, and may have {MAX_BYTES:,}: say less in it")
    return text


def parse(folder: Path, text: bytes) -> Manifest:
    """The manifest that `text` is. Raises SnapshotError where it is damaged, or does not fit this product."""
    fields = _checked(folder, text)
    _check_origin(folder, fields)
    data = _field(folder, fields, "data", dict)
    file, size = _field(folder, data, "file", str), _natural(folder, data, "bytes")
    if not DATA_FILE.fullmatch(file):
        _malformed(folder, f"it names a data file {file!r:.60}")
    arrays = _field(folder, fields, "arrays", dict)
    entries = {name: _entry(folder, name, array, size) for name, array in arrays.items()}
    return Manifest(file, size, entries, _field(folder, fields, "about", dict))


def _checked(folder: Path, text: bytes) -> dict[str, Any]:
    """The fields of the manifest, whose format is ours and whose digest is right."""
    if len(text) > MAX_BYTES:
        _malformed(folder, f"it has more than {MAX_BYTES:,} bytes")
    try:
        fields = json.loads(text)
        if not isinstance(fields, dict):
            _malformed(folder, "it is no JSON object")
        # Before the digest: another format may compute it in another way.
        number = _natural(folder, fields, "format")
        if number != FORMAT:
            advice = "compile it again with this version"
            raise SnapshotError(folder, f"it is of format {number}, and this version reads format {FORMAT}", advice)
        digest = _field(folder, fields, "digest", str)
        del fields["digest"]
        if digest != _digest(fields):
            _malformed(folder, "it has changed since it was written (digest mismatch)")
    except (ValueError, RecursionError) as error:
        _malformed(folder, f"it cannot be read as JSON: {error}")
    return fields


def _check_origin(folder: Path, fields: dict[str, Any]) -> None:
    """Made by a product, with a Unicode and on a machine whose arrays mean the same here."""
    product = _version(folder, fields, "product")
    if _series(product) != _series(tidings.__version__):
        problem = f"it was written by tidings {product}, and this is tidings {tidings.__version__}"
        raise SnapshotError(folder, problem, "compile it again with this version")
    unicode = _version(folder, fields, "unicode")
    if unicode != unicodedata.unidata_version:
        problem = f"its words follow Unicode {unicode}, and this Python has Unicode {unicodedata.unidata_version}"
        raise SnapshotError(folder, problem, "compile it again with this Python")
    order = _field(folder, fields, "byte_order", str)
    if order != _BYTE_ORDER or sys.byteorder != _BYTE_ORDER:
        problem = f"its byte order is {order!r:.20}, and this machine's is '{sys.byteorder}'"
        raise SnapshotError(folder, problem, "snapshots are for little-endian machines")


def _series(version: str) -> list[str]:
    """What two versions share if they read each other's snapshots: major and minor."""
    return version.split(".")[:2]


def _entry(folder: Path, name: str, fields: object, size: int) -> Entry:
    if not isinstance(fields, dict):
        _malformed(folder, f"the array {name!r:.60} is not described")
    entry = Entry(
        _field(folder, fields, "dtype", str),
        tuple(_field(folder, fields, "shape", list)),
        _natural(folder, fields, "offset"),
        _natural(folder, fields, "bytes"),
        _field(folder, fields, "sha256", str),
    )
    if not _ARRAY_NAME.fullmatch(name) or entry.dtype not in DTYPES or not _DIGEST.fullmatch(entry.digest):
        _malformed(folder, f"the array {name!r:.60} has a name, dtype or digest that cannot be")
    if len(entry.shape) > _MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in entry.shape):
        _malformed(folder, f"the array {name!r:.60} has a shape that cannot be")
    width = DTYPES[entry.dtype].itemsize
    # Of an empty array, too, numpy wants the other dimensions to be small enough together.
    if math.prod(max(n, 1) for n in entry.shape) * width > _MAX_ARRAY_BYTES:
        _malformed(folder, f"the array {name!r:.60} has a shape that cannot be")
    if math.prod(entry.shape) * width != entry.bytes:
        _malformed(folder, f"the array {name!r:.60} has {entry.bytes} bytes, which its shape contradicts")
    if entry.offset % ALIGNMENT or entry.offset + entry.bytes > size:
        _malformed(folder, f"the array {name!r:.60} does not lie in the data file")
    return entry


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _field(folder: Path, fields: dict[str, Any], key: str, kind: type[T]) -> T:
    value = fields.get(key)
    if not isinstance(value, kind):
        _malformed(folder, f"'{key}' is missing or of the wrong type")
    return value


def _natural(folder: Path, fields: dict[str, Any], key: str) -> int:
    value = fields.get(key)
    if type(value) is not int or value < 0:
        _malformed(folder, f"'{key}' is not a number of the right kind")
    return value


def _version(folder: Path, fields: dict[str, Any], key: str) -> str:
    value = _field(folder, fields, key, str)
    if not _VERSION.fullmatch(value):
        _malformed(folder, f"'{key}' is not a version")
    return value


def _malformed(folder: Path, reason: str) -> NoReturn:
    raise SnapshotError(folder, f"its manifest is damaged: {reason}", AGAIN)
