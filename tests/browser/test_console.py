"""The console in a real browser: a wrong subscription is marked, a right one hears, and a picture says why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.broker.server import Server
from tests.browser.browsers import chromium

RIGHT = """PREFIX : <http://shop.example/>
SELECT ?what WHERE {
  ?what :price ?price .
  FILTER(?price < 700)
}"""
WRONG = RIGHT.replace("<", "<<", 2).replace("<<http", "<http")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("broker"), "--open") as made:
        yield made


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 1000}) as context:
        page = context.new_page()
        asked: set[str] = set()
        wrong: list[str] = []
        page.on("request", lambda request: asked.add(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(server.url)
        expect(page.locator("#state")).to_have_text("connected")
        yield page
        assert wrong == []
        assert all(url.startswith((server.url, "blob:", "data:")) for url in asked)


def test_a_wrong_subscription_is_marked_and_a_right_one_hears(page: Page) -> None:
    page.locator("#query").fill(WRONG)
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator("#wrong")).to_contain_text("Line 4, column 18")
    expect(page.locator("#numbers .bad")).to_have_text("4")
    expect(page.locator("#marks mark")).to_have_text("<")
    page.locator("#query").fill(RIGHT)
    expect(page.locator("#wrong")).to_be_empty()
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator("#subscriptions li")).to_contain_text("cheap")
    page.get_by_role("button", name="Publish", exact=True).click()
    match = page.locator("#events .match").first
    expect(match).to_have_text("cheap")
    match.click()
    expect(page.locator("#reason")).to_be_visible()
    expect(page.locator("#words")).to_contain_text("cheap matches")
    picture = page.locator("#picture")
    assert picture.evaluate("image => image.naturalWidth") > 100
    page.get_by_role("button", name="Try on recent events").click()
    expect(page.locator("#tried")).to_contain_text("of the last")
    expect(page.locator("#found li")).not_to_have_count(0)


def test_by_keyboard_alone(page: Page) -> None:
    page.locator("#name").focus()
    page.keyboard.press("Tab")
    assert page.locator("#query").evaluate("query => query === document.activeElement")
    page.keyboard.press("Tab")
    assert page.locator("#try").evaluate("button => button === document.activeElement")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#tried")).to_contain_text("Subscribed")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(browser: Browser, server: Server, scheme: str, tmp_path: Path) -> None:
    with browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(server.url)
        expect(page.locator("#state")).to_have_text("connected")
        # Nothing is wider than the screen.
        assert page.locator("html").evaluate("html => html.scrollWidth") <= 360
        dark = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
        assert dark == ("rgb(251, 250, 247)" if scheme == "light" else "rgb(22, 24, 28)")


def test_a_token_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    with Server(tmp_path) as closed, browser.new_context() as context:
        page = context.new_page()
        page.goto(closed.url)
        expect(page.locator("#state")).to_have_text("This broker wants a token.")
