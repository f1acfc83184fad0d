"""What was rejected, written beside the events: rows of JSON in a folder, one file for what one task read."""

from __future__ import annotations

import json
import uuid
from types import TracebackType
from typing import Any, Self

from tidings.errors import EventError
from tidings.spark.listing import located


class Rejects:
    """One file, which is complete or not there at all.

    Its name says what was read, so a task that is tried again replaces it. Where nothing is rejected there is none.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._store, place = located(folder)
        self._folder = place.rstrip("/")
        self._final = f"{self._folder}/{name}.ndjson"
        self._beside = f"{self._folder}/.{name}.{uuid.uuid4().hex}"
        self._out: Any = None

    def take(self, error: EventError) -> None:
        if self._out is None:
            self._store.create_dir(self._folder, recursive=True)
            self._out = self._store.open_output_stream(self._beside)
        row = {"source": error.source, "line": error.line, "column": error.column, "reason": error.reason}
        self._out.write(f"{json.dumps(row)}\n".encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._out is None:
            return
        self._out.close()
        if kind is None:
            self._store.move(self._beside, self._final)
        else:
            self._store.delete_file(self._beside)
