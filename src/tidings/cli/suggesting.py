"""`tidings ingest --suggest`: a mapping and an ontology to start from."""

from __future__ import annotations

from pathlib import Path

import click

from tidings.cli.terminal import Terminal, printable
from tidings.errors import EventError, UsageError
from tidings.ingest.read import documents
from tidings.ingest.registry import KINDS, of_path
from tidings.ingest.suggest import Suggestion, suggest
from tidings.rdf.formats import COMPRESSED
from tidings.rdf.limits import MIB

_SAMPLE = 1 * MIB
_TREES = {".json": "json", ".xml": "xml"}
"""As data to be taken in; as events they would be RDF."""


def suggestion(
    terminal: Terminal, files: tuple[str, ...], format: str | None, output: Path | None, base: str, record: str | None
) -> int:
    """Print both, or write them as two files into the folder `output`."""
    file = files[0]
    if len(files) > 1:
        terminal.warning(f"only {file} is looked at")
    name = Path(file).name
    while Path(name).suffix.lower() in COMPRESSED:
        name = Path(name).stem
    found = next(documents(file, format or of_path(name) or _TREES.get(Path(name).suffix.lower())), None)
    if found is None:
        raise UsageError(f"{file}: there is nothing in it that can be taken in; the formats are {', '.join(KINDS)}")
    if isinstance(found, EventError):
        raise found
    with found.opener().stream as stream:
        sample = stream.read(_SAMPLE)
    stem = "record" if file == "-" else Path(name).stem
    made = suggest(sample, found.format, name=stem, base=base, record=record)
    if made.record is not None:
        terminal.detail(f"a record is {made.record}")
    if output is None:
        click.echo(_text(made), nl=False)
        return 0
    try:
        output.mkdir(parents=True, exist_ok=True)
        for ending, text in (("rml", made.mapping), ("ontology", made.ontology)):
            if text:
                path = output / f"{stem}.{ending}.ttl"
                path.write_text(text, "utf-8", newline="\n")
                click.echo(printable(str(path)))
    except OSError as error:
        raise UsageError(f"cannot write into {output}: {error.strerror or error}") from error
    return 0


def _text(made: Suggestion) -> str:
    """One Turtle document of both."""
    mapping = f"# A mapping: put it into a file for --mapping.\n{made.mapping}\n" if made.mapping else ""
    return f"{mapping}# An ontology: put it into a file for --ontology.\n{made.ontology}"
