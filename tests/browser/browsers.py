"""A Chromium to test with: the machine's own, or one that Playwright has or can fetch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium() -> Iterator[Browser]:
    own = next((found for found in map(shutil.which, _NAMES) if found), None)
    with sync_playwright() as playwright:
        if own is None and not Path(playwright.chromium.executable_path).exists() and not _fetched():
            pytest.skip("there is no Chromium here, and none can be fetched")
        try:
            # In a container there is often no user namespace for its sandbox; what it opens here is our own.
            browser = playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])
        except Exception as error:
            pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


def _fetched() -> bool:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
