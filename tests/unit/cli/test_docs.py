"""The page on the command line says what the commands say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result
from tests.support import ROOT

from tidings.cli.app import COMMANDS, app

Tidings = Callable[..., Result]
PAGE = (ROOT / "docs" / "command-line.md").read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_on_the_page(name: str) -> None:
    assert f"\n## {name}\n" in PAGE
    command = app.get_command(click.Context(app), name)
    assert command is not None
    options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
    assert {option for option in options if option not in PAGE} <= {"--quiet", "--verbose", "--engine", "--strategy"}


def test_the_example_of_an_explanation_is_what_the_command_prints(tidings: Tidings, tmp_path: Path) -> None:
    world = tmp_path / "world"
    tidings("demo", "--write", world)
    result = tidings(
        "explain",
        world / "subscriptions" / "ops-computer-under-400-dollars.ops",
        world / "events" / "offers.trig",
        "--event=http://example.org/event/offer-05",
        f"--ontology={world / 'ontologies' / 'auction.ttl'}",
    )
    assert result.stdout in PAGE, result.stdout


def test_the_example_of_a_reject_is_what_the_command_prints(tidings: Tidings, tmp_path: Path) -> None:
    example = re.search(r"```\n(error: subscriptions/cheap\.rq.*?)```", PAGE, re.DOTALL)
    assert example
    query = tmp_path / "cheap.rq"
    query.write_text("PREFIX auc: <http://e.x/>\nSELECT ?x WHERE { ?x auk:price ?p FILTER(?p < 400) }")
    event = tmp_path / "event.ttl"
    event.write_text("<e:s> <e:p> <e:o> .")
    said = tidings("match", query, event).stderr.replace(str(query), "subscriptions/cheap.rq")
    assert said.startswith(example[1])
