"""A Chromium for the tests of the console, where there is none: `make browser`, or `python -m tests.browser.install`.

By the machine's packages, for root on a Debian; by Playwright elsewhere. It takes a few minutes at most, says in a line
how it went, and never fails: where no browser can be had, the tests that need one skip, and say so.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

from playwright.sync_api import sync_playwright
from tests.browser.browsers import found

_APT = [
    "apt-get",
    "-qq",
    "-y",
    "-o",
    "DPkg::Lock::Timeout=30",
    "-o",
    "Acquire::Retries=1",
    "-o",
    "Acquire::http::Timeout=20",
]
_WANTED = ["install", "--no-install-recommends", "chromium"]
# What is fetched may be broken off; what is being unpacked had better come to its end.
_BY_PACKAGES = (
    ([*_APT, "update"], 45),
    ([*_APT, *_WANTED, "--download-only"], 75),
    ([*_APT, *_WANTED, "--no-download"], 120),
)
_BY_PLAYWRIGHT = (([sys.executable, "-m", "playwright", "install", "chromium"], 60),)


def main() -> None:
    tried = []
    if _there() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        tried.append(f"apt-get: {_run(_BY_PACKAGES)}")
    if _there() is None:
        tried.append(f"playwright: {_run(_BY_PLAYWRIGHT)}")
    browser = _there()
    print(f"browser: {browser}" if browser else f"browser: none could be installed ({'; '.join(tried)})", flush=True)


def _there() -> str | None:
    with sync_playwright() as playwright:
        return found(playwright)


def _run(commands: tuple[tuple[list[str], int], ...]) -> str:
    """How it ended, in a few words."""
    for command, seconds in commands:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                # With all that it has started, which would otherwise go on.
                os.killpg(process.pid, signal.SIGTERM)
                return f"not done after {seconds} seconds"
        if process.returncode:
            return next(reversed(said.strip().splitlines()), f"exit code {process.returncode}")
    return "done"


if __name__ == "__main__":
    main()
