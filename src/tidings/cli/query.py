"""`tidings query`: the solutions of a subscription over the events of an archive."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.options import OntologyFiles, ontology_options
from tidings.cli.run import need_spark, peak_memory, telling_of_kernels
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import time_options
from tidings.errors import SubscriptionError, UsageError
from tidings.lang import parse
from tidings.lang.files import read_subscriptions
from tidings.lang.pattern import Dialect, Query
from tidings.lang.rows import QUERY_SUFFIXES, TABLES, suffix_of
from tidings.match.run import DEFAULT_BUDGET

if TYPE_CHECKING:
    from tidings.spark.archive.find import Touched

_EXAMPLE = """
tidings query cheap.rq state/archive --ontology auction.ttl
tidings query 'SELECT ?title WHERE { ?x <http://purl.org/dc/terms/title> ?title }' state/archive --since 30d
tidings query 'SELECT * WHERE { GRAPH <http://example.org/event/7> { ?s ?p ?o } }' state/archive
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("query", metavar="QUERY")
@click.argument("archive", metavar="ARCHIVE")
@ontology_options
@click.option("--dialect", type=click.Choice(["sparql", "ops", "gtopss"]), help="Of a QUERY that is no file.")
@time_options
@click.option("--limit", type=click.IntRange(min=1), metavar="NUMBER", help="At most so many events.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="STEPS",
    default=DEFAULT_BUDGET,
    show_default=True,
    help="What the query may spend on one event.",
)
@click.option("--stats", is_flag=True, help="Print as JSON on stderr what was read, of what there is.")
@click.pass_obj
def command(
    terminal: Terminal,
    query: str,
    archive: str,
    ontology_files: OntologyFiles,
    dialect: Dialect | None,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
    budget: int,
    stats: bool,
) -> int:
    """Print the solutions of QUERY in the events of ARCHIVE, each event by itself, one JSON object a line.

    QUERY is the text of a subscription, or a file with one. ARCHIVE is the folder of a pipeline's archive. What the
    query names, an event, a property and its object, a range of numbers, is looked up first, so that most files are
    not read; tidings archive compact makes them so.

    The exit code is 0 when all went well, 1 when the query failed on some event, 2 when nothing could be done.
    """
    need_spark("tidings query")
    asked = _query(query, dialect)
    ontology = ontology_files.load()
    from tidings.spark.archive.ask import answers
    from tidings.spark.archive.find import Finder
    from tidings.spark.archive.layout import Archive, Span

    started = time.perf_counter()
    found = failed = 0
    with (
        Finder(Archive.at(archive), Span(since, until)) as finder,
        terminal.progress("looking") as progress,
        telling_of_kernels(progress),
    ):
        for rows in answers(finder, asked, ontology, budget=budget):
            for row in rows.to_pylist():
                if row["candidates"] is not None:
                    continue
                if row["reason"] is not None:
                    failed += 1
                    terminal.error(f"event <{row['event']}>: {row['reason']}")
                    continue
                click.echo(_line(row))
                found += 1
                if found == limit:
                    break
            progress.update(groups=finder.touched.groups_read, events=found)
            if found == limit:
                break
        if stats:
            click.echo(json.dumps(_stats(finder.touched, found, time.perf_counter() - started)), err=True)
    return 1 if failed else 0


def _query(given: str, dialect: Dialect | None) -> Query:
    """The one that is meant: a text has blanks in it, and a name of a file its ending."""
    path = Path(given)
    known = suffix_of(path) in {**QUERY_SUFFIXES, **TABLES}
    if not known or any(mark in given for mark in "{(\n"):
        return parse(given, dialect or "sparql")
    if not path.is_file():
        raise UsageError(f"there is no file {given}")
    problems: list[SubscriptionError] = []
    found = list(read_subscriptions(given, report=problems.append))
    if problems:
        raise problems[0]
    if len(found) != 1:
        raise UsageError(f"{given} has {len(found)} subscriptions; a query is one: tidings replay takes many")
    return found[0].query


def _line(row: dict[str, Any]) -> str:
    solutions = json.loads(row["bindings"])
    record = {"event": row["event"], "source": row["source"]}
    record |= solutions if isinstance(solutions, dict) else {"bindings": solutions}
    return json.dumps(record, ensure_ascii=False)


def _stats(touched: Touched, found: int, seconds: float) -> dict[str, Any]:
    return {**asdict(touched), "events": found, "seconds": round(seconds, 4), "peak_memory": peak_memory()}
