"""The console in a real browser: a wrong subscription is marked, a right one hears, and a picture says why."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.broker.server import TIDINGS, Server
from tests.browser.browsers import chromium
from tests.browser.looks import focus, pale, pixels, sticks_out

from tidings.draw.svg import DARK, LIGHT

WRONG = """PREFIX : <http://shop.example/>
SELECT ?what WHERE {
  ?offer :sells ?what ; :price ?price .
  FILTER(?price << 700)
}"""
RIGHT = WRONG.replace("<<", "<")
HOSTILE = '<img src=x onerror="window.hurt=1">'
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("broker"), "--open") as made:
        yield made


@contextmanager
def opened(
    browser: Browser, url: str, width: int = 1280, height: int = 900, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """The console, watched: it asks no other host, no script of it fails, and the browser has nothing to forbid."""
    with browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        asked: set[str] = set()
        wrong: list[str] = []
        page.on("request", lambda request: asked.add(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Security Policy" in said.text else None)
        page.goto(url)
        yield page
        assert wrong == []
        assert [each for each in asked if not each.startswith((f"{url}/", "blob:"))] == []


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with opened(browser, server.url) as page:
        expect(page.locator("#state")).to_have_text("connected")
        yield page


def subscribe(page: Page, name: str, query: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("What to be told of").fill(query)
    page.get_by_role("button", name="Subscribe", exact=True).click()


def test_a_wrong_subscription_is_marked_and_a_right_one_hears(page: Page) -> None:
    subscribe(page, "cheap", WRONG)
    expect(page.locator("#query-wrong")).to_contain_text("Line 4, column 18")
    expect(page.locator("#query-numbers .bad")).to_have_text("4")
    expect(page.locator("#query-marks mark")).to_have_text("<")
    assert page.evaluate("query.value.slice(0, query.selectionStart)").endswith("FILTER(?price <")
    area, mark = page.locator("#query").bounding_box(), page.locator("#query-marks mark").bounding_box()
    assert area is not None
    assert mark is not None
    # In a font of fixed width the mark is one sign wide, and seventeen from the left; the fourth line is between these.
    assert abs(mark["x"] - area["x"] - 9.6 - 17 * mark["width"]) < 2
    assert 3 * 21 < mark["y"] - area["y"] - 8 < 4 * 22
    subscribe(page, "cheap", RIGHT)
    expect(page.locator("#query-wrong")).to_be_empty()
    expect(page.locator("#query-marks mark")).to_have_count(0)
    expect(page.locator("#subscriptions li")).to_contain_text("cheap")
    page.get_by_role("button", name="Publish", exact=True).click()
    match = page.locator("#events .match").first
    expect(match).to_have_text("cheap")
    with page.expect_response(lambda answer: answer.headers["content-type"].startswith("image/svg")) as drawn:
        match.click()
    assert 'class="matched thick"' in drawn.value.text()
    expect(page.get_by_role("heading", name="Why it matches")).to_be_visible()
    expect(page.locator("#words")).to_contain_text("cheap matches")
    assert pixels(page, LIGHT["hit"]) > 500
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#why")).to_be_hidden()


def test_a_mistake_in_an_event_is_marked_too(page: Page) -> None:
    page.get_by_label("What happened").fill("@prefix : <http://shop.example/> .\n:a :price 3 :b .")
    page.get_by_label("Format").select_option("Turtle")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#event-wrong")).to_contain_text("Line 2")
    expect(page.locator("#event-numbers .bad")).to_have_text("2")


def test_every_sample_of_a_subscription_matches_a_sample_of_an_event(page: Page) -> None:
    for about in page.locator("#event-sample option").all_text_contents():
        page.locator("#event-sample").select_option(about)
        page.get_by_role("button", name="Publish", exact=True).click()
        expect(page.locator("#published")).to_contain_text("Published")
        expect(page.locator("#event-wrong")).to_be_empty()
    dialects = set()
    for about in page.locator("#query-sample option").all_text_contents()[1:]:
        page.locator("#query-sample").select_option(about)
        dialects.add(page.locator("#dialect").input_value())
        page.get_by_role("button", name="Try on recent events").click()
        expect(page.locator("#found li").first).to_be_visible()
    assert dialects == {"sparql", "ops", "gtopss"}
    page.locator("#found").get_by_role("button").first.click()
    expect(page.get_by_role("heading", name="Why it matches")).to_be_visible()


def test_an_event_that_does_not_match_is_explained_and_shown(page: Page) -> None:
    subscribe(page, "dear", RIGHT.replace("< 700", "> 70000"))
    expect(page.locator("#subscriptions")).to_contain_text("dear")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.locator("#events .link").first.click()
    page.get_by_label("Explained for").select_option("dear")
    expect(page.get_by_role("heading", name="Why it does not match")).to_be_visible()
    assert pixels(page, LIGHT["bad"]) > 20
    page.get_by_text("The event itself").click()
    expect(page.locator("#source-text")).to_contain_text("http://shop.example/sells")


def test_subscriptions_are_paused_resumed_edited_and_ended(page: Page) -> None:
    subscribe(page, "mine", RIGHT)
    row = page.locator("#subscriptions li", has_text="mine")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused by its owner")
    expect(row.get_by_role("button", name="Resume")).to_be_focused()
    row.get_by_role("button", name="Resume").press("Enter")
    expect(row).not_to_contain_text("paused")
    row.get_by_role("button", name="Edit").click()
    expect(page.locator("#query")).to_be_focused()
    subscribe(page, "mine", RIGHT.replace("700", "800"))
    expect(row).to_contain_text("version 2")
    row.get_by_role("button", name="End").click()
    expect(row.get_by_role("button", name="Really end")).to_be_focused()
    page.keyboard.press("Tab")
    expect(row.get_by_role("button", name="Really end")).to_have_count(0)
    row.get_by_role("button", name="End").click()
    row.get_by_role("button", name="Really end").click()
    expect(row).to_have_count(0)


def test_events_can_be_held_back_and_chosen(page: Page) -> None:
    subscribe(page, "cheap", RIGHT)
    expect(page.locator("#tried")).to_contain_text("Subscribed")
    page.get_by_role("button", name="Hold").click()
    before = page.locator("#events li").count()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#counts")).to_have_text(
        "1 event and 1 match since this page was opened. 1 newer one held back."
    )
    assert page.locator("#events li").count() == before
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#events li")).to_have_count(before + 1)
    page.get_by_label("with matches only").check()
    expect(page.locator("#events li:not(:has(.match))")).to_have_count(0)
    expect(page.locator("#events li").first.locator(".match").first).to_be_visible()


def test_by_keyboard_alone(page: Page) -> None:
    keys = page.keyboard
    keys.press("Tab")
    assert focus(page) == ("Write a subscription", True)
    keys.press("Enter")
    assert focus(page) == ("query", True)
    keys.press("Control+A")
    keys.type("ASK { ?s <http://shop.example/sells> ?o }")
    keys.press("Control+Enter")
    expect(page.locator("#tried")).to_contain_text("match")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#tried")).to_contain_text("Subscribed")
    _tab_to(page, "event")
    keys.press("Control+Enter")
    expect(page.locator("#events li").first.locator(".match").first).to_be_visible()
    _tab_to(page, "cheap")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Why it matches")).to_be_focused()
    _tab_to(page, "frame")
    keys.press("Escape")
    expect(page.locator("#why")).to_be_hidden()
    assert focus(page) == ("cheap", True)
    # No part of the page keeps who is in it: going on, one comes to the end, and back to the beginning.
    _tab_to(page, "Write a subscription")


def _tab_to(page: Page, name: str) -> None:
    """Press Tab until something is reached; wherever one is on the way there can be seen."""
    for _ in range(300):
        page.keyboard.press("Tab")
        at, visible = focus(page)
        if page.evaluate("document.activeElement === document.body"):
            continue
        assert visible, at
        if at == name:
            return
    raise AssertionError(f"{name} cannot be reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_can_be_read(browser: Browser, server: Server, scheme: Literal["light", "dark"], width: int) -> None:
    with opened(browser, server.url, width, 740, scheme) as page:
        subscribe(page, f"{'a-long-name-' * 12}{HOSTILE}", RIGHT)
        page.get_by_role("button", name="Publish", exact=True).click()
        expect(page.locator("#events .match").first).to_be_visible()
        subscribe(page, "wrong", WRONG)
        expect(page.locator("#query-marks mark")).to_be_visible()
        assert sticks_out(page) == []
        assert pale(page) == []
        page.locator("#events .match").first.click()
        expect(page.get_by_role("heading", name="Why it matches")).to_be_visible()
        assert sticks_out(page) == []
        assert pale(page) == []
        assert pixels(page, (LIGHT if scheme == "light" else DARK)["hit"]) > 500


def test_hostile_text_stays_text(page: Page) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script asks: {dialog.message}"))
    subscribe(page, HOSTILE, f"SELECT * {{ ?s ?p {HOSTILE} }}")
    expect(page.locator("#query-wrong")).to_contain_text("Line 1")
    subscribe(page, HOSTILE, "SELECT ?s ?o { ?s <http://shop.example/says> ?o }")
    expect(page.locator("#subscriptions")).to_contain_text(HOSTILE)
    page.get_by_label("Format").select_option("TriG")
    literal = HOSTILE.replace('"', '\\"') + "</text><script>window.hurt=1</script>"
    triple = f'<data:text/html,%3Cscript%3E> <http://shop.example/says> "{literal}"'
    page.get_by_label("What happened").fill(f"GRAPH <javascript:window.hurt=1> {{ {triple} }}")
    page.get_by_role("button", name="Publish", exact=True).click()
    row = page.locator("#events li", has_text="javascript:")
    expect(row).to_have_count(1)
    row.get_by_text(HOSTILE).click()
    expect(page.get_by_role("heading", name="Why it matches")).to_be_visible()
    page.get_by_text("The event itself").click()
    expect(page.locator("#source-text")).to_contain_text("onerror")
    assert page.locator("img").count() == 2
    assert page.locator("script").count() == 1
    assert page.evaluate("window.hurt") is None


def test_a_token_is_asked_for_and_kept_in_the_tab(browser: Browser, tmp_path: Path) -> None:
    made = subprocess.run(
        [TIDINGS, "token", tmp_path, "--scope", "subscribe"], capture_output=True, text=True, check=True
    )
    with Server(tmp_path) as closed, opened(browser, closed.url) as page:
        state = page.locator("#state")
        expect(state).to_have_text("this broker wants a token")
        expect(page.locator("#token")).to_be_focused()
        page.keyboard.type("nonsense")
        page.keyboard.press("Enter")
        expect(state).to_have_text("the token is not valid")
        page.locator("#token").fill(made.stdout.strip())
        page.get_by_role("button", name="Use it").click()
        expect(state).to_have_text("connected")
        page.get_by_role("button", name="Publish", exact=True).click()
        expect(page.locator("#event-wrong")).to_contain_text("'publish'")
        page.reload()
        expect(state).to_have_text("connected")
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
        page.get_by_text("Token", exact=True).click()
        page.get_by_role("button", name="Forget it").click()
        expect(state).to_have_text("this broker wants a token")
        assert page.evaluate("sessionStorage.length") == 0


def test_it_connects_again(browser: Browser, tmp_path: Path) -> None:
    with Server(tmp_path, "--open") as first, opened(browser, first.url) as page:
        expect(page.locator("#state")).to_have_text("connected")
        expect(page.locator(".empty").first).to_be_visible()
        page.get_by_role("button", name="Publish", exact=True).click()
        expect(page.locator("#events li")).to_have_count(1)
        first.kill()
        expect(page.locator("#state")).to_contain_text("not connected")
        with Server(tmp_path, "--open", "--port", first.url.rpartition(":")[2]):
            expect(page.locator("#state")).to_have_text("connected")
            page.get_by_role("button", name="Publish", exact=True).click()
            expect(page.locator("#events li")).to_have_count(2)
