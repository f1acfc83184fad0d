"""The converters, by the name of their format: each is loaded when it is first used, and says which extra it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import cast

from tidings.errors import UsageError
from tidings.ingest.base import Converter
from tidings.rdf.formats import COMPRESSED


@dataclass(frozen=True, slots=True)
class Kind:
    """A format: the module whose `convert` reads it, how its files and media types are called."""

    module: str
    suffixes: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    extra: str = "ingest"


KINDS: Mapping[str, Kind] = {
    "json": Kind("trees.json_events"),
    "xml": Kind("trees.xml_events"),
    "html": Kind("documents.html", (".html", ".htm", ".xhtml"), ("text/html", "application/xhtml+xml")),
    "pdf": Kind("documents.pdf", (".pdf",), ("application/pdf",)),
    "image": Kind(
        "documents.image",
        (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp"),
        ("image/jpeg", "image/png", "image/tiff", "image/webp"),
    ),
    "feed": Kind(
        "feeds.convert",
        suffixes=(".rss", ".atom"),
        media_types=("application/rss+xml", "application/atom+xml", "application/feed+json"),
    ),
    "csv": Kind("rows.csv_files", (".csv",), ("text/csv",)),
    "tsv": Kind("rows.tsv", (".tsv", ".tab"), ("text/tab-separated-values",)),
    "jsonl": Kind("rows.jsonl", (".jsonl", ".ndjson"), ("application/x-ndjson", "application/jsonl")),
    "parquet": Kind("rows.parquet", (".parquet",), ("application/vnd.apache.parquet",)),
}


def converter(name: str) -> Converter:
    """The converter of a format; a `UsageError` where there is none, or what it needs is not installed."""
    if name not in KINDS:
        raise UsageError(f"'{name}' is no format that can be taken in; the formats are {', '.join(sorted(KINDS))}")
    kind = KINDS[name]
    try:
        return cast(Converter, import_module(f"tidings.ingest.{kind.module}").convert)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("tidings"):
            raise
        raise UsageError(
            f"'{name}' needs {error.name}, which is not installed; install it with: pip install 'tidings[{kind.extra}]'"
        ) from error


def of_path(path: str | PurePath) -> str | None:
    """The format by a file's name, below `.gz` or `.zst`."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return next((name for name, kind in KINDS.items() if suffixes and suffixes[-1] in kind.suffixes), None)


def of_media_type(media_type: str) -> str | None:
    wanted = media_type.partition(";")[0].strip().lower()
    return next((name for name, kind in KINDS.items() if wanted in kind.media_types), None)
