"""`tidings ingest`: feeds, tables, trees and documents to events."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import click

from tidings.cli.options import OntologyFiles, limit, mapping_of, ontology_options
from tidings.cli.run import Run, Stop
from tidings.cli.suggesting import suggestion
from tidings.cli.terminal import Command, Terminal, printable
from tidings.errors import UsageError
from tidings.ingest.base import DATA, How
from tidings.ingest.read import documents, read
from tidings.ingest.registry import KINDS
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.limits import Limits

_EXAMPLE = """
tidings ingest offers.csv --key id --class http://example.org/Offer | tidings match subscriptions/ -
tidings ingest news.rss | tidings publish -
tidings ingest items.json --as json --record '$.items[*]' --preview
tidings ingest offers.csv --suggest
"""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PREVIEWED = 3


class _Ingest(Command):
    """`--preview` may have a number behind it, and what is none is a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        after = dict(enumerate(args[1:]))
        alone = [arg == "--preview" and not after.get(at, "").isdigit() for at, arg in enumerate(args)]
        given = [f"--preview={_PREVIEWED}" if single else arg for arg, single in zip(args, alone, strict=True)]
        return super().parse_args(ctx, given)


def _settings(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE, each; NAME.KEY=VALUE is one entry of an option that has several."""
    found: dict[str, Any] = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"'{value}' should be NAME=VALUE.", ctx, option)
        outer, dot, inner = name.partition(".")
        if dot:
            found.setdefault(outer, {})[inner] = text
        else:
            found[name] = text
    return found


@click.command(cls=_Ingest, example=_EXAMPLE)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--as", "format", metavar="FORMAT", help=f"What it is, where no name tells: {', '.join(sorted(KINDS))}.")
@click.option("--base", metavar="IRI", default=DATA, show_default=True, help="Properties and records are below it.")
@click.option("--key", metavar="NAME", multiple=True, help="A column or member that a record's IRI is made of.")
@click.option("--class", "classes", metavar="IRI", multiple=True, help="A class of every record.")
@click.option("--home", is_flag=True, help="Records are home vertices, as the OPS model wants them.")
@click.option("--record", metavar="PATH", help="In JSON and XML, what is one event: $.items[*], /catalog/item.")
@click.option("--mapping", type=_FILE, metavar="FILE", help="A mapping: RML, R2RML or CSVW.")
@click.option(
    "--context",
    "contexts",
    metavar="FILE",
    multiple=True,
    help="A JSON-LD context for JSON; URL=FILE: a local copy of a remote one.",
)
@click.option(
    "--set", "options", callback=_settings, multiple=True, metavar="NAME=VALUE", help="An option of the format."
)
@click.option("--shapes", type=_FILE, metavar="FILE", help="SHACL shapes that events must conform to.")
@ontology_options
@click.option("--validate", is_flag=True, help="Reject what the ontology, or with --home the OPS model, rules out.")
@click.option(
    "--preview", type=click.IntRange(min=1), metavar="[N]", help="Print the first N events as Turtle instead."
)
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw the first event.")
@click.option("--suggest", is_flag=True, help="Print a mapping and an ontology to start from instead.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first input that is rejected.")
@limit("term", "4M", "The largest term.")
@limit("event", "64M", "The largest event.")
@limit("document", "512M", "The largest document not read as a stream.")
@click.option("--max-triples", type=click.IntRange(min=1), default=500_000, show_default=True, help="Triples an event.")
@click.option("--max-depth", type=click.IntRange(1, 1000), default=100, show_default=True, help="The deepest nesting.")
@click.pass_obj
def command(
    terminal: Terminal,
    /,
    files: tuple[str, ...],
    format: str | None,
    shapes: Path | None,
    ontology_files: OntologyFiles,
    validate: bool,
    preview: int | None,
    svg: Path | None,
    suggest: bool,
    output: Path | None,
    fail_fast: bool,
    **how: Any,
) -> int:
    """Turn data that is no RDF into events, and print these as N-Quads, each in a graph of its id.

    FILE is a file of a format that can be taken in, plain, .gz or .zst, a folder or glob of them, or - for standard
    input with --as. What cannot be read is named, and the rest converted. The exit code is 0 when all went well, 1 when
    some input was rejected, 2 when nothing could be converted.
    """
    if suggest:
        return suggestion(terminal, files, format, output, how["base"], how["record"])
    if next(documents(files, format), None) is None:
        raise UsageError(f"no file that can be taken in in {', '.join(files)}; the formats are {', '.join(KINDS)}")
    run = Run(terminal, fail_fast)
    given = _how(**how)
    events = read(files, given, format=format, report=run.reject_event)
    events = _checked(events, given, shapes, ontology_files, validate, run)
    try:
        if preview is not None or svg is not None:
            _show(events, preview or 1, svg, output, given.base, run, printed=preview is not None)
        else:
            _write(events, output, "-" in files, run)
    except Stop:
        run.stopped = True
        terminal.warning("stopped at the first reject, as --fail-fast asks")
    return _exit_code(run, terminal)


def _how(
    *,
    base: str,
    key: tuple[str, ...],
    classes: tuple[str, ...],
    home: bool,
    record: str | None,
    mapping: Path | None,
    contexts: tuple[str, ...],
    options: dict[str, Any],
    max_term: int,
    max_event: int,
    max_document: int,
    max_triples: int,
    max_depth: int,
) -> How:
    context, copies = _contexts(contexts)
    text, written = mapping_of(mapping)
    limits = replace(
        Limits(),
        max_term=max_term,
        max_event=max_event,
        max_document=max_document,
        max_triples=max_triples,
        max_depth=max_depth,
    )
    return How(
        base=base,
        key=key,
        classes=classes,
        home=home,
        record=record,
        mapping=text,
        mapping_format=written,
        context=context,
        limits=limits,
        options={**options, "contexts": copies} if copies else options,
    )


def _contexts(given: tuple[str, ...]) -> tuple[str | None, dict[str, bytes]]:
    """The context for JSON, and local copies of remote ones by their address."""
    context: str | None = None
    copies: dict[str, bytes] = {}
    for value in given:
        url, _, file = ("", "", value) if Path(value).is_file() else value.rpartition("=")
        if not Path(file).is_file():
            raise UsageError(f"--context '{value}' should be FILE or URL=FILE, with a file that exists")
        data = Path(file).read_bytes()
        if url:
            copies[url] = data
        elif context is not None:
            raise UsageError("there can be one context for JSON; local copies of others are URL=FILE")
        else:
            context = data.decode("utf-8-sig", "replace")
    return context, copies


def _checked(
    events: Iterator[Event], how: How, shapes: Path | None, files: OntologyFiles, validate: bool, run: Run
) -> Iterator[Event]:
    """The events that are as they should be."""
    if validate:
        from tidings.ingest.validate import valid

        if not files.paths and not how.home:
            raise UsageError("--validate needs --ontology, --home, or both: there is nothing to compare events with")
        ontology = files.load() if files.paths else None
        events = valid(events, run.reject_event, ontology, home=how.home)
    elif files.paths:
        raise UsageError("--ontology is for --validate")
    if shapes is not None:
        from tidings.ingest.shapes import Shapes

        checked = Shapes(shapes.read_bytes(), shapes.suffix.lstrip(".") or "ttl", limits=how.limits)
        events = checked.valid(events, run.reject_event)
    return events


def _show(
    events: Iterator[Event], count: int, svg: Path | None, output: Path | None, base: str, run: Run, *, printed: bool
) -> None:
    """The first events as text and as a picture."""
    from tidings.ingest.preview import PREFIXES, preview

    first = list(islice(events, count))
    run.counts["events"] = len(first)
    if printed:
        with _opened(output) as out:
            out.write(preview(first, base).encode())
    if svg is not None and first:
        from tidings.draw import graph_svg
        from tidings.match.explain import Names
        from tidings.ontology import Ontology

        svg.write_text(graph_svg(first[0], Names(Ontology.empty(), {"": base, **PREFIXES})), "utf-8", newline="\n")
        if not run.terminal.quiet:
            click.echo(printable(f"the drawing is in {svg}"), err=True)


def _write(events: Iterator[Event], output: Path | None, live: bool, run: Run) -> None:
    with _opened(output) as out, run.terminal.progress("converting") as progress:
        for event in events:
            out.write(to_nquads(event))
            if live:
                out.flush()
            run.counts["events"] += 1
            progress.update(events=run.counts["events"])


@contextmanager
def _opened(output: Path | None) -> Iterator[BinaryIO]:
    """The file, or standard output, as bytes."""
    if output is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        file = output.open("wb")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror or error}") from error
    with file:
        yield file


def _exit_code(run: Run, terminal: Terminal) -> int:
    if not run.counts["events"] and not run.stopped:
        if run.rejected["events"]:
            terminal.error("nothing could be converted")
            return 2
        terminal.warning("there is nothing in the input")
    return 1 if run.rejected["events"] else 0
