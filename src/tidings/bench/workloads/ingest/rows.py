"""Tables of ten columns, of most kinds that columns are: numbers, truth values, times, words, and text to escape."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.bench.workloads.ingest.words import Words

Row: TypeAlias = dict[str, object]
_PARAGRAPHS = 0.1
_MISSING = 0.03
_DRAWN = 5_000
_AT_ONCE = 20_000


def rows(count: int, words: Words) -> list[Row]:
    return [_row(number, words) for number in range(count)]


def _row(number: int, words: Words) -> Row:
    dice, moment = words.dice, words.moment()
    note = f'{words.sentence(4, 10)}, "{words.word()}" \\ {words.word()}.'
    if dice.random() < _PARAGRAPHS:
        note = f"{note}\n{words.sentence(4, 10)}"
    found: Row = {
        "id": number,
        "name": words.name(),
        "city": f"{words.word().capitalize()}, {words.word().capitalize()}",
        "price": round(dice.uniform(1, 500), 2),
        "ratio": dice.random() * 1e-3,
        "stock": dice.randrange(-100, 10_000),
        "active": dice.random() < 0.5,
        "day": moment.date(),
        "seen": moment,
        "note": note,
    }
    return {key: None if key != "id" and dice.random() < _MISSING else value for key, value in found.items()}


def _written(row: Row) -> Row:
    """As text files have it."""
    return {key: _value(value) for key, value in row.items()}


def _value(value: object) -> object:
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else value


def _separated(rows: Sequence[Row], delimiter: str, head: bool = True) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    if head:
        writer.writeheader()
    for row in rows:
        written = _written(row)
        if written["active"] is not None:
            written["active"] = str(written["active"]).lower()
        writer.writerow(written)
    return out.getvalue().encode()


def as_csv(rows: Sequence[Row]) -> bytes:
    return _separated(rows, ",")


def as_tsv(rows: Sequence[Row]) -> bytes:
    return _separated(rows, "\t")


def as_jsonl(rows: Sequence[Row]) -> bytes:
    return b"".join(json.dumps(_written(row), ensure_ascii=False).encode() + b"\n" for row in rows)


def as_parquet(rows: Sequence[Row]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), out)
    return out.getvalue()


WRITERS: Mapping[str, Callable[[Sequence[Row]], bytes]] = {
    "csv": as_csv,
    "tsv": as_tsv,
    "jsonl": as_jsonl,
    "parquet": as_parquet,
}


def large(path: Path, format: str, size: int, seed: int) -> int:
    """A file of about so many bytes; the rows in it. A few thousand are drawn, and come again with other numbers."""
    drawn = rows(_DRAWN, Words(seed))
    head, records = b"", [as_jsonl([row]) for row in drawn]
    if format == "csv":
        head = as_csv(drawn[:1]).partition(b"\n")[0] + b"\n"
        records = [_separated([row], ",", head=False) for row in drawn]
    begin, separator = (b'{"id": ', b",") if format == "jsonl" else (b"", b",")
    rest = [record[record.index(separator) :] for record in records]
    count = 0
    with path.open("wb") as file:
        file.write(head)
        while file.tell() < size:
            file.write(b"".join(_numbered(count, begin, rest)))
            count += _AT_ONCE
    return count


def _numbered(start: int, begin: bytes, rest: Sequence[bytes]) -> Iterator[bytes]:
    for number in range(start, start + _AT_ONCE):
        yield b"%s%d%s" % (begin, number, rest[number % len(rest)])
