"""Bad input through the real command line: one clear message, the right exit code, and the good input is answered.

No case may show a traceback, crash or hang, and none may cost the good event beside it its match.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bad_input.cases import (
    CSV,
    EVENTS,
    GOOD_EVENT,
    GOOD_MATCH,
    GOOD_QUERY,
    NDJSON,
    ONTOLOGIES,
    SUBSCRIPTIONS,
    Case,
    Files,
    quad,
)

from tidings.match.matcher import Matcher

TIMEOUT = 60
OTHER_EVENT = quad("other", "<http://e.x/x>", "other").encode()


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Kernels are compiled at their first use: not in the time that a case has."""
    matcher = Matcher()
    matcher.add("any", GOOD_QUERY)
    assert matcher.match_nquads(OTHER_EVENT).num_rows == len(list(matcher.match(OTHER_EVENT, "nq")))


def run(*args: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own, in a locale that is not UTF-8."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-c", "from tidings.cli import main; main()", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT, env=environment, check=False)


def matches(result: subprocess.CompletedProcess[bytes]) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in result.stdout.decode().splitlines()]
    return [(line["event"], line["subscription"]) for line in lines]


def errors(result: subprocess.CompletedProcess[bytes]) -> list[str]:
    """The messages on stderr, each with the lines that belong to it."""
    text = result.stderr.decode()
    assert "Traceback" not in text
    assert "fault in tidings" not in text
    return ["error: " + part for part in ("\n" + text).split("\nerror: ")[1:]]


def lay_out(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.mark.parametrize("case", [*EVENTS, *SUBSCRIPTIONS, *ONTOLOGIES], ids=lambda case: case.name)
def test_bad_input(case: Case, tmp_path: Path) -> None:
    subscriptions = lay_out(tmp_path / "subscriptions", {"good.rq": GOOD_QUERY, **case.subscriptions})
    events = lay_out(tmp_path / "events", {"good.nq": GOOD_EVENT, **case.events})
    ontology = lay_out(tmp_path / "ontology", case.ontology)
    named = [part for file in sorted(ontology.iterdir()) for part in ("--ontology", file)]

    result = run("match", subscriptions, events, *named, *case.options)

    messages = errors(result)
    assert result.returncode == case.code, result.stderr.decode()
    assert sorted(matches(result)) == sorted([*([GOOD_MATCH] if case.code < 2 else []), *case.also])
    if case.says:
        assert len([m for m in messages if "no event could be processed" not in m]) == 1, messages
        assert len(messages[0]) < 2000
        for part in case.says:
            assert part in messages[0]
    else:
        assert messages == []


# --------------------------------------------------------------------------------- tables and files of subscriptions


@pytest.fixture
def good_event(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "events", {"good.nq": GOOD_EVENT}) / "good.nq"


@pytest.fixture
def good_query(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "subscriptions", {"good.rq": GOOD_QUERY}) / "good.rq"


def test_rows_of_ndjson(tmp_path: Path, good_event: Path) -> None:
    path = tmp_path / "subscriptions.ndjson"
    path.write_text(NDJSON)
    result = run("match", path, good_event)
    messages = errors(result)
    assert (result.returncode, matches(result)) == (1, [GOOD_MATCH])
    rows = [2, 3, 4, 5, 6, 7]
    assert len(messages) == len(rows)
    assert all(f"{path}:{row}" in message for row, message in zip(rows, messages, strict=True))


def test_rows_of_csv(tmp_path: Path, good_event: Path) -> None:
    path = tmp_path / "subscriptions.csv"
    path.write_text(CSV)
    result = run("match", path, good_event)
    messages = errors(result)
    assert (result.returncode, matches(result), len(messages)) == (1, [GOOD_MATCH], 2)
    assert f"{path}:3" in messages[0]
    assert f"{path}:4" in messages[1]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("s.csv", b"name,text\na,b\n", "'query'"),
        ("s.parquet", b"PAR1 this is no Parquet file PAR1", "Parquet"),
        ("s.ndjson", b"", "no subscription"),
        ("s.ndjson", b"\xff\xfe\x00\x00", "UTF-8"),
        ("s.txt", b"SELECT", "s.txt"),
    ],
)
def test_no_usable_subscription(name: str, content: bytes, says: str, tmp_path: Path, good_event: Path) -> None:
    (tmp_path / name).write_bytes(content)
    result = run("match", tmp_path / name, good_event)
    assert result.returncode == 2
    assert result.stdout == b""
    assert any(says in message for message in errors(result))


# ---------------------------------------------------------------------------------------------------------- wrong usage


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--matcher", "psychic"), "psychic"),
        (("--engine", "spark", "--matcher", "naive"), "one matcher"),
        (("--strategy", "chained"), "spark"),
        (("--events-by", "page"), "page"),
        (("--budget", "0"), "--budget"),
        (("--max-term", "large"), "large"),
        (("--context", "https://e.x/context"), "URL=FILE"),
        (("--ontology", "absent.ttl"), "absent.ttl"),
        (("--no-such-option",), "--no-such-option"),
    ],
)
def test_wrong_options(options: tuple[str, ...], says: str, good_query: Path, good_event: Path) -> None:
    result = run("match", good_query, good_event, *options)
    errors(result)
    assert (result.returncode, result.stdout) == (2, b"")
    assert says in result.stderr.decode()


def test_missing_files(tmp_path: Path, good_query: Path, good_event: Path) -> None:
    empty = lay_out(tmp_path / "empty", {})
    absent = tmp_path / "absent"
    for args in [
        (absent, good_event),
        (good_query, absent),
        (empty, good_event),
        (good_query, empty),
        (good_query, tmp_path / "*.nq"),
        (good_query,),
    ]:
        result = run("match", *args)
        errors(result)
        assert (result.returncode, result.stdout) == (2, b""), args
        assert len(result.stderr.decode()) < 1000


def test_one_missing_file_among_others_is_a_reject(tmp_path: Path, good_query: Path, good_event: Path) -> None:
    result = run("match", good_query, tmp_path / "absent.nq", good_event)
    assert (result.returncode, matches(result), len(errors(result))) == (1, [GOOD_MATCH], 1)


def test_standard_input(good_query: Path) -> None:
    result = run("match", good_query, "-", stdin=OTHER_EVENT + b"this is no quad\n" + GOOD_EVENT.encode())
    messages = errors(result)
    assert (result.returncode, matches(result), len(messages)) == (1, [GOOD_MATCH], 1)
    assert "stdin:2" in messages[0]


def test_fail_fast_stops_at_the_first(good_query: Path) -> None:
    broken = b"this is no quad\n"
    result = run("match", good_query, "-", "--fail-fast", stdin=broken * 3 + GOOD_EVENT.encode())
    assert (result.returncode, matches(result), len(errors(result))) == (1, [], 1)


def test_messages_cannot_steer_the_terminal(good_query: Path) -> None:
    hostile = b"\x1b[2J\x07 <http://e.x/\x1b]0;owned\x07> .\n"
    result = run("match", good_query, "-", stdin=OTHER_EVENT + hostile + GOOD_EVENT.encode())
    assert (result.returncode, matches(result), len(errors(result))) == (1, [GOOD_MATCH], 1)
    assert b"\x1b" not in result.stderr
    assert b"\x07" not in result.stderr


def test_a_reader_that_goes_away(good_query: Path, tmp_path: Path) -> None:
    events = tmp_path / "many.nq"
    events.write_text("".join(GOOD_EVENT.replace("/good>", f"/event-{i}>") for i in range(5000)))
    command = [sys.executable, "-c", "from tidings.cli import main; main()", "match", str(good_query), str(events)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(TIMEOUT) == 141
