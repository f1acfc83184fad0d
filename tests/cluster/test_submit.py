"""What the page about clusters says, works: its commands and scripts are taken from it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution, requires
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from tests.cluster.cluster import Cluster
from tests.support import IN_SOAK, ROOT

from tidings.spark.standalone import spark_home

PAGE = (ROOT / "docs" / "cluster.md").read_text()
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
BARE = getattr(sys, "_base_executable", sys.executable)


class Site:
    """A folder in which the commands of the page are run, with an archive made and a shared folder."""

    def __init__(self, cluster: Cluster, root: Path) -> None:
        self._cluster = cluster
        self.root = root
        self.shared = root / "shared"
        for folder in ("events", "subscriptions"):
            (self.shared / folder).mkdir(parents=True)
        (self.shared / "subscriptions" / "a.rq").write_text("SELECT ?x { ?x a <http://e.x/A> }")
        for name in "12":
            line = f"<http://e.x/x> <{TYPE}> <http://e.x/A> <http://e.x/{name}> .\n"
            (self.shared / "events" / f"{name}.nq").write_text(line)
        install(root / "environment")
        self.run(shown("sh", "pip install").splitlines()[-1])

    def run(self, commands: str) -> str:
        """The output of commands, with this cluster and this shared folder in place of those of the page."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            ["bash", "-ec", self.here(shown("sh", "export PYSPARK_PYTHON") + commands)],
            cwd=self.root,
            env={**self._cluster.environment, "PATH": path, "SPARK_HOME": str(spark_home())},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ran.returncode == 0, _without_chatter(ran.stderr + ran.stdout)
        return ran.stdout

    def here(self, text: str) -> str:
        text = text.replace("spark://host:7077", self._cluster.url).replace("/shared", str(self.shared))
        return text.replace("python3.11", BARE)

    def notified(self, folder: str) -> list[tuple[str, str]]:
        rows = ds.dataset(self.shared / folder, format="parquet").to_table().to_pylist()
        return sorted((row["subscription"], row["event"]) for row in rows)


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Site:
    without = subprocess.run([BARE, "-c", "import tidings"], capture_output=True, check=False).returncode
    if not without:
        pytest.skip("there is no Python here without the package, to try whether the archive brings it")
    return Site(cluster, tmp_path_factory.mktemp("site"))


def test_an_application_is_submitted(site: Site) -> None:
    (site.root / "notify.py").write_text(shown("python", "sys.argv"))
    site.run(shown("sh", "spark-submit"))
    assert site.notified("notifications") == [("a", "http://e.x/1"), ("a", "http://e.x/2")]


@IN_SOAK
def test_the_pipeline_takes_the_archive(site: Site) -> None:
    site.run(shown("sh", "tidings pipeline"))
    assert site.notified("out") == [("a", "http://e.x/1"), ("a", "http://e.x/2")]


@IN_SOAK
def test_a_session_is_used_as_it_is(site: Site) -> None:
    (site.root / "mine.py").write_text(site.here(shown("python", "session() is mine")))
    assert site.run("python mine.py").split() == ["2"]


def _without_chatter(log: str) -> str:
    return "\n".join(line for line in log.splitlines() if " INFO " not in line and not line.startswith("\tat "))


def shown(language: str, about: str) -> str:
    """The one block of the page in this language in which this comes up."""
    [block] = [code for code in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if about in code]
    return str(block)


def install(folder: Path) -> None:
    """What `pip install --target` brings, from what is installed: the package itself, and links to all others."""
    shutil.copytree(ROOT / "src", folder)
    for path in {*_parts("pandas"), *_needed(["tidings", "pandas"])}:
        (folder / path.name).symlink_to(path)


def _needed(names: Sequence[str]) -> Iterator[Path]:
    """The files and folders of what these require, and of what that requires."""
    for name in names:
        wanted = [re.split(r"[^\w.-]", line)[0] for line in requires(name) or () if "extra ==" not in line]
        for other in wanted:
            yield from _parts(other)
        yield from _needed(wanted)


def _parts(name: str) -> Iterator[Path]:
    found = distribution(name)
    for part in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
        yield Path(str(found.locate_file(part)))
