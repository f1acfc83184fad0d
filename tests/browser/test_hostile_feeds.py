"""A feed whose items are full of scripts, in a real browser: all of it is shown as text, and nothing of it runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.broker.feeds import Item, atom, rss
from tests.broker.server import Server
from tests.browser.browsers import chromium
from tests.browser.test_console import opened
from tests.unit.delivery.site import Site

from tidings.broker.client import Client

SCRIPT = "</text></svg><script>window.hurt=1</script>"
IMAGE = '<img src=x onerror="window.hurt=1">'
LINK = '<a href="javascript:window.hurt=1">win</a><svg onload="window.hurt=1">'
HOSTILE = Item("1", f"{SCRIPT}{IMAGE}", f"{LINK}<iframe srcdoc='{SCRIPT}'></iframe>", (f"{IMAGE}sport",))
QUERY = """SELECT ?title ?text {
  ?item <http://purl.org/rss/1.0/title> ?title ; ?says ?text FILTER(CONTAINS(?text, "javascript:"))
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


def documents(kind: str) -> str:
    """The same item; the link of its RSS would run, too."""
    if kind == "atom":
        return atom([HOSTILE])
    return rss("2.0", [HOSTILE]).replace(f"<link>{HOSTILE.link}</link>", "<link>javascript:window.hurt=1</link>")


@pytest.mark.parametrize("kind", ["atom", "rss"])
def test_nothing_of_an_item_runs(browser: Browser, tmp_path: Path, kind: str) -> None:
    with (
        Site() as site,
        Server("--open", "--private-feeds") as server,
        Client(server.url) as client,
        opened(browser, server.url) as page,
    ):
        page.on("dialog", lambda dialog: pytest.fail(f"a script asks: {dialog.message}"))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        expect(page.locator("#state")).to_have_text("connected")
        images, scripts = page.locator("img").count(), page.locator("script").count()
        client.subscribe(f"sport {IMAGE}", QUERY)
        client.poll_feed(client.add_feed(site.put("/feed", documents(kind)))["id"])

        # As it comes.
        row = page.locator("#events li")
        expect(row).to_have_count(1)
        match = row.locator(".match")
        expect(match).to_contain_text("sport <img src=x onerror=")
        page.screenshot(path=tmp_path / "live.png")

        # Why, as a picture and in words.
        with page.expect_response(lambda answer: answer.headers["content-type"].startswith("image/svg")) as drawn:
            match.click()
        expect(page.get_by_role("heading", name="Why it matches")).to_be_visible()
        expect(page.locator("#words")).to_contain_text("<script>window.hurt=1</script>")
        expect(page.locator("#words")).to_contain_text("javascript:window.hurt=1")
        page.evaluate("document.getElementById('picture').decode()")
        page.screenshot(path=tmp_path / "why.png", full_page=True)

        # The event itself.
        page.get_by_text("The event itself").click()
        expect(page.locator("#source-text")).to_contain_text("onerror")
        assert (page.locator("img").count(), page.locator("script").count()) == (images, scripts)
        assert page.locator("[onerror], [onload], [href^=javascript], iframe").count() == 0
        assert page.evaluate("window.hurt") is None

        # The picture by itself, where nothing forbids scripts.
        svg = drawn.value.text()
        assert "onerro" in svg
        with browser.new_context() as context:
            alone = context.new_page()
            (tmp_path / "why.svg").write_text(svg)
            alone.goto((tmp_path / "why.svg").as_uri())
            expect(alone.locator("text").first).to_be_visible()
            assert alone.locator("script, img, iframe, a, [onerror], [onload], foreignObject").count() == 0
            alone.screenshot(path=tmp_path / "alone.png")
            assert alone.evaluate("window.hurt") is None
        assert [each for each in asked if each.endswith("/x")] == []
