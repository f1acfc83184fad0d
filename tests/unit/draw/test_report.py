"""The report of a pipeline run: one well-formed page with everything in it, whatever the texts and numbers are."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from tests.unit.draw.worlds import drawn

from tidings.draw.report import BatchFigures, Reject, Report, TopSubscription, render

STARTED = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
SECONDS = {"subscriptions": 0.5, "read": 0.25, "archive": 0.25, "match": 0.75, "rejects": 0.125, "total": 2.0}
HOSTILE = "</script></style><img src=x onerror=alert(1)> \"q' &amp; \x00\x1b \u202e שלום " + "x" * 9_000
EMPTY = Report("Nothing", "", [], [], [], "", "", [], {})


def batches(count: int) -> list[BatchFigures]:
    return [
        BatchFigures(i, STARTED + timedelta(seconds=i), 1_000, 3_000, 2_000, 1, 40, 5 * (not i), i % 2, 2.5, SECONDS)
        for i in range(count)
    ]


def report(count: int = 8) -> Report:
    top = [TopSubscription("cheap", "Below 400", 1_234, ["offer-01", "offer-02"]), TopSubscription("rare", "", 0, [])]
    rejects = [Reject("offers.ttl", 1_203, "expected a predicate"), Reject("news.jsonld", None, "not JSON")]
    svg = drawn("SELECT * { ?x a :Computer ; :knows ?y }", ':o a :Notebook ; :knows :ada . :ada :name "url(#title)" .')
    reasons = ["✓ ?x a :Computer  :o a :Notebook", "                  :Notebook ⊑ :PC"]
    return Report("A run", "About it.", batches(count), top, rejects, "wanted on :o", svg, reasons, {"Spark": "4.3.0"})


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text outside of stylesheets."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self._said: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self._said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._said).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def rows(html: str, classes: str) -> list[list[str]]:
    """The cells of a table, row by row."""
    [table] = ElementTree.fromstring(html).findall(f".//table[@class='{classes}']")
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


@pytest.mark.parametrize("made", [report(), report(1), report(2_000), EMPTY], ids=["8", "1", "2000", "none"])
def test_the_page_stands_alone(made: Report) -> None:
    html = render(made)
    page = Page(html)
    assert ElementTree.fromstring(html).get("lang") == "en"
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.elements}
    assert not any(word in html for word in ("@import", "url(http", "@font-face", "href="))
    assert "prefers-color-scheme:dark" in html
    assert "@media print" in html
    assert render(made) == html


def test_headings_lead_through_the_page() -> None:
    root = ElementTree.fromstring(render(report()))
    assert [heading.text for heading in root.iter("h1")] == ["A run"]
    assert [heading.text for heading in root.iter("h2")] == [
        "At a glance",
        "Throughput",
        "Latency",
        "Batches",
        "Subscriptions with the most matches",
        "Rejects",
        "A match, explained",
        "How it was run",
    ]
    for section in root.iter("section"):
        assert section.get("aria-labelledby") == section.find("h2").get("id")  # type: ignore[union-attr]
    assert all(table.find("caption") is not None for table in root.iter("table"))
    assert all(figure.get("aria-label") or figure.find("figcaption") is not None for figure in root.iter("figure"))


def test_ids_are_there_once_and_references_lead_to_them() -> None:
    html = render(report())
    page = Page(html)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = [attributes.get("aria-labelledby") for _, attributes in page.elements]
    assert {part for names in named if names for part in names.split()} <= set(ids)
    markers = re.findall(r'marker-end="url\(#([^)]+)\)"', html)
    assert markers
    assert set(markers) <= set(ids)
    assert '"url(#title)"' in page.text, "what only looks like a reference stays as it is"


def test_the_rules_of_a_drawing_reach_no_further() -> None:
    html = render(report())
    styles = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    assert len(styles) == 1
    assert ".drawing .soft{" in styles[0]
    assert not re.search(r"[}{](?:svg|text|\.page|\.card)\{", styles[0])
    assert "@media (prefers" not in styles[0], "paper is light"


def test_headline_figures() -> None:
    root = ElementTree.fromstring(render(report()))
    [tiles] = root.findall(".//dl[@class='tiles']")
    said = [tuple("".join(part.itertext()) for part in tile) for tile in tiles]
    assert said == [
        ("Events", "8,000", "500 a second"),
        ("Matches", "16,000", "of 24,000 candidates"),
        ("Subscriptions", "40", "5 added, 4 cancelled"),
        ("Rejects", "8", "could not be read"),
        ("Batches", "8", "2 s each, in the mean"),
        ("Time in batches", "16 s", "longest lag 2.5 s"),
    ]


def test_the_table_of_batches() -> None:
    head, first, second, *_, last = rows(render(report()), "numbers")
    assert head[:4] == ["Batch", "Started, UTC", "Events", "Events/s"]
    assert first == ["0", "09:30:00", "1,000", "500", "3,000", "2,000", "1", "40", "+5", "2.000", "2.500"]
    assert second[8] == "−1"
    assert last == ["All", "", "8,000", "500", "24,000", "16,000", "8", "", "+5 −4", "16.000", ""]


def test_of_many_batches_the_first_and_last_are_listed() -> None:
    html = render(report(2_000))
    assert len(html) < 400_000
    listed = rows(html, "numbers")
    assert [row[0] for row in listed[15:18]] == ["14", "1,970 batches not shown", "1,985"]
    assert len(listed) == 1 + 15 + 1 + 15 + 1
    text = Page(html).text
    assert "The first 15 and the last 15 of 2,000 batches." in text
    assert "Each column joins 20 neighbouring batches" in text


def test_a_run_over_days_tells_the_days() -> None:
    later = batches(2)[1]._replace(started=STARTED + timedelta(days=2))
    html = render(report()._replace(batches=[later, batches(1)[0]]))
    assert [row[1] for row in rows(html, "numbers")[1:3]] == ["2026-05-04 09:30:00", "2026-05-06 09:30:00"]


def test_top_subscriptions() -> None:
    text = Page(render(report())).text
    assert "cheap Below 400 1,234 matches offer-01 , offer-02" in text
    assert "rare 0 matches" in text
    many = [TopSubscription(f"s{i}", "", 1, [f"e{j}" for j in range(20)]) for i in range(30)]
    text = Page(render(report()._replace(top=many))).text
    assert "5 more subscriptions not shown." in text
    assert "e7 and 12 more" in text
    assert "1 match e0" in text


def test_rejects_are_bounded_and_counted() -> None:
    assert rows(render(report()._replace(batches=[])), "rejects") == [
        ["Source", "Line", "Reason"],
        ["offers.ttl", "1,203", "expected a predicate"],
        ["news.jsonld", "–", "not JSON"],
    ]
    html = render(report()._replace(rejects=[Reject("a", i, "b") for i in range(1_300)]))
    assert len(rows(html, "rejects")) == 51
    assert "The first 50 of 1,300; 1,250 more are not shown." in Page(html).text
    assert "The first 2 of 8; 6 more are not shown." in Page(render(report())).text
    assert "8 rejects, of which no more is known." in Page(render(report()._replace(rejects=[]))).text


def test_the_explained_match() -> None:
    html = render(report())
    page = Page(html)
    assert "wanted on :o" in page.text
    assert "✓ wanted matches" in page.text
    assert ">                  :Notebook ⊑ :PC<" in html, "parts of lines stay below each other"
    alone = Page(render(EMPTY._replace(reasons=["because"])))
    assert "A match, explained" in alone.text
    assert not alone.all("svg")


def test_nothing_at_all() -> None:
    text = Page(render(EMPTY)).text
    for said in ("No batch has run.", "No subscription has matched.", "Nothing was rejected.", "no lag measured"):
        assert said in text
    assert "Throughput" not in text
    assert "A match, explained" not in text


def test_batches_without_events_or_times() -> None:
    idle = [batch._replace(events=0, matches=0, candidates=0, rejects=0, lag=None) for batch in batches(3)]
    html = render(report()._replace(batches=idle, rejects=[]))
    assert rows(html, "numbers")[1][2:7] == ["0", "0.00", "0", "0", "0"]
    assert rows(html, "numbers")[1][10] == "–"
    html = render(report()._replace(batches=[batch._replace(seconds={}, lag=None) for batch in batches(3)]))
    assert rows(html, "numbers")[1][3] == "–"
    assert '<h2 id="latency"' not in html


def test_huge_numbers() -> None:
    huge = [batch._replace(events=10**15, candidates=10**18, lag=1e9, seconds={"total": 1e7}) for batch in batches(2)]
    text = Page(render(report()._replace(batches=huge))).text
    assert "2.00e+15 2,000,000,000,000,000; 100 million a second" in text
    assert "231 days 11 h" in text
    assert "1,000,000,000,000,000,000" in text


def test_hostile_texts_are_texts() -> None:
    plain = report()
    made = plain._replace(
        title=HOSTILE,
        about=HOSTILE,
        top=[TopSubscription(HOSTILE, HOSTILE, 1, [HOSTILE])],
        rejects=[Reject(HOSTILE, 1, HOSTILE)],
        explained=HOSTILE,
        reasons=[HOSTILE, f"  {HOSTILE}"],
        facts={HOSTILE: HOSTILE},
    )
    html = render(made)
    ElementTree.fromstring(html)
    page = Page(html)
    assert not {"script", "img"} & {tag for tag, _ in page.elements}
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert not re.search("[\x00-\x08\x1b\u202e]", html)
    shown = "</script></style><img src=x onerror=alert(1)> \"q' &amp; \\u0000\\u001b \\u202e שלום x"
    assert page.text.count(shown) == 13, "once for every text, and twice for the title"
    assert "x" * 5_000 not in html


def test_a_script_in_a_drawing_is_left_out() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><a id="a"/><use href="#a"/></svg>'
    html = render(EMPTY._replace(drawing=svg))
    assert "alert" not in html
    assert '<a id="explained-a" /><use href="#explained-a" />' in html
