"""A Chromium to test with: the machine's own, or one that Playwright has. `install.py` is for where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# In a container there is often no user namespace for its sandbox; what it opens here is our own.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def found(playwright: Playwright) -> str | None:
    """Where there is one."""
    own = next(filter(None, map(shutil.which, _NAMES)), None)
    fetched = playwright.chromium.executable_path
    return own or (fetched if Path(fetched).exists() else None)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = found(playwright)
        if path is None:
            pytest.skip("there is no Chromium here; `make browser` tries to install one")
        try:
            browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        except Exception as error:
            pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
        yield browser
        browser.close()
