"""`tidings check`: every problem of every subscription."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import click

from tidings.cli.options import OntologyFiles, ontology_options
from tidings.cli.terminal import Command, Terminal, printable, styled
from tidings.errors import SubscriptionError, UsageError
from tidings.index.unindexed import unindexed
from tidings.lang.check import Problem, Severity, check, problem_of
from tidings.lang.conjunctive import STRATEGY, conjunction
from tidings.lang.files import Subscription, read_subscriptions
from tidings.ontology import Ontology

_EXAMPLE = """
tidings check subscriptions/ --ontology auction.ttl
tidings check subscriptions.ndjson --json | jq -r 'select(.severity == "error") | .subscription'
"""
_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="SUBSCRIPTIONS")
@ontology_options
@click.option(
    "--strategy",
    type=click.Choice(["one-step", "chained"]),
    default="one-step",
    show_default=True,
    help="What they are for: chained takes conjunctions only.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
@click.pass_obj
def command(terminal: Terminal, subscriptions: str, ontology_files: OntologyFiles, strategy: str, as_json: bool) -> int:
    """Print every problem of every one of the SUBSCRIPTIONS.

    Errors: what cannot be read, or the --strategy does not take. Warnings: names the ontology does not know (with a
    near one that it does), pairs of class and property that no meta-statement allows, filters that contradict each
    other, patterns without a common variable, variables that never get a value, subscriptions that match everything,
    duplicates. For information: subscriptions that another one covers, and those that no index helps with.

    The exit code is 1 where there is an error, 0 where there is none.
    """
    ontology = ontology_files.load()
    problems: list[Problem] = []
    with terminal.progress("checking") as progress:
        found: list[Subscription] = []
        for subscription in read_subscriptions(subscriptions, report=lambda e: problems.append(problem_of(e))):
            found.append(subscription)
            progress.update(subscriptions=len(found))
        for problem in check(found, ontology):
            problems.append(problem)
            progress.update(problems=len(problems))
        problems += _unindexed(found, problems, ontology)
        if strategy == STRATEGY:
            problems += _refused(found)
    if not found and not problems:
        raise UsageError(f"{subscriptions}: there are no subscriptions")
    # What is about one file stands together; what is about the set as a whole comes last.
    problems.sort(key=lambda problem: (problem.source is None, problem.source or "", problem.row or 0))
    for problem in problems:
        click.echo(json.dumps(problem.to_json(), ensure_ascii=False) if as_json else _text(problem))
    counts = Counter(problem.severity for problem in problems)
    rejected = sum(problem.code == "syntax" for problem in problems)
    if not as_json and not terminal.quiet:
        click.echo(_summary(len(found) + rejected, counts), err=True)
    return 1 if counts["error"] else 0


def _unindexed(found: list[Subscription], problems: list[Problem], ontology: Ontology) -> Iterator[Problem]:
    """The subscriptions that every event has to be tried on, unless more than that was said about them."""
    told = {problem.subscription for problem in problems if problem.code in ("matches-everything", "never-matches")}
    for each in found:
        if each.id not in told and unindexed(each.query, ontology.resource_classes):
            hint = "ask for a property, a class, a node or a word that every match has"
            message = "every event has to be tried: nothing that must be in an event is known from it"
            yield Problem(each.id, "info", "unindexed", message, hint=hint, source=each.source, row=each.line)


def _refused(found: list[Subscription]) -> Iterator[Problem]:
    """Those that the strategy chained does not take."""
    for each in found:
        try:
            conjunction(each.query, each.id)
        except SubscriptionError as error:
            why = error.reason.removeprefix(f"subscription '{each.id}': ")
            yield Problem(each.id, "error", "not-chained", why, hint=error.hint, source=each.source, row=each.line)


def _text(problem: Problem) -> str:
    text = printable(str(problem))
    label = f"{problem.severity}:"
    return text.replace(label, styled(label, _COLOURS[problem.severity]), 1)


def _summary(subscriptions: int, counts: Counter[Severity]) -> str:
    words: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
    said = [_counted(n, word) for kind, word in words.items() if (n := counts[kind])]
    return f"{_counted(subscriptions, 'subscription')}{': ' + ', '.join(said) if said else ', no problems'}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
