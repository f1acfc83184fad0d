"""The shell session of the README, typed into a shell as it is printed, each line when the one before has answered."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support import ROOT

PORT = 8420
PATIENCE = 60
pytestmark = pytest.mark.skipif(
    shutil.which("curl") is None or shutil.which("bash") is None, reason="there is no curl here, or no bash"
)


def test_the_session_of_curl(tmp_path: Path) -> None:
    [session] = re.findall(r"```sh\n(tidings serve .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    serve, put, post, get, listen = _on_a_free_port(session).splitlines()
    with _shell(tmp_path) as typed:
        assert typed(serve, _line).startswith("http://127.0.0.1:")
        subscription = typed(put, json.loads)
        assert (subscription["id"], subscription["state"]) == ("cheap", "active")
        [event] = typed(post, json.loads)["events"]
        [told] = typed(get, json.loads)["notifications"]
        assert told["event"] == event["id"]
        assert [row["pc"]["value"] for row in told["bindings"]] == ["http://shop.example/offer7"]
        assert typed(listen, _heard)["event"] == event["id"]


def test_the_second_example_is_a_table(tmp_path: Path) -> None:
    second = re.findall(
        r"```\w+\n(.*?)```", (ROOT / "README.md").read_text().partition("## Quick start")[2], re.DOTALL
    )[1]
    assert len(second.splitlines()) <= 10
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-e"], input=second, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    [line] = map(json.loads, run.stdout.splitlines())
    assert line["subscription"] == "cheap"
    assert line["bindings"] == [{"pc": {"type": "uri", "value": "http://shop.example/7"}}]


def _on_a_free_port(session: str) -> str:
    """As it is printed, unless somebody has the usual port."""
    with socket.socket() as tried:
        if tried.connect_ex(("127.0.0.1", PORT)) != 0:
            return session
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    return session.replace("--open", f"--open --port {port}").replace(f":{PORT}", f":{port}")


@contextmanager
def _shell(folder: Path) -> Iterator[Callable[[str, Callable[[str], Any]], Any]]:
    """A function that types a line, and gives what is made of the answer as soon as that is a whole one."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NO_PROXY": "*", "NO_COLOR": "1"}
    with subprocess.Popen(
        ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, start_new_session=True
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        given, output = shell.stdin, shell.stdout.fileno()

        def typed(line: str, whole: Callable[[str], Any]) -> Any:
            given.write(f"{line}\n".encode())
            given.flush()
            answer = b""
            while select.select([output], [], [], PATIENCE)[0] and (chunk := os.read(output, 1 << 16)):
                answer += chunk
                try:
                    return whole(answer.decode())
                except ValueError:
                    continue
            raise AssertionError(f"{line}\n{answer!r}")

        try:
            yield typed
        finally:
            os.killpg(shell.pid, signal.SIGTERM)


def _line(answer: str) -> str:
    return answer[: answer.index("\n")]


def _heard(answer: str) -> Any:
    return json.loads(answer[answer.index("data: ") + len("data: ") :])
