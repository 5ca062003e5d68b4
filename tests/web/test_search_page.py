"""The page of a search: marks, counts and links that narrow, as they are without JavaScript."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from starlette.testclient import TestClient

from relrag_query.web.rendering import split_at_marks
from tests import archive
from tests.web_app import COOKIE, client

NOTES = (
    {"id": "a", "text": f"{'Long before. ' * 60}The ferry <b>leaves</b> at nine.", "timestamp": "2022-05-01T10:00:00Z"},
    {"id": "b", "text": "Dana took the ferry.", "from": "Omer Gal", "timestamp": "2024-05-01T10:00:00Z"},
    {"id": "c", "text": "Ferries are late today.", "from": "Dana Levi", "timestamp": "2023-06-01T10:00:00Z"},
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("search_page")
    config = archive.make(folder)
    archive.write_notes(folder, *NOTES)
    archive.first_sync(config)
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def _links(html: str) -> dict[str, str]:
    """Text of each link that narrows or orders -> its address."""
    links = re.findall(r'<a (?:class="chosen" )?href="(/search[^"]*)"[^>]*>(.*?)</a>', html)
    return {" ".join(re.sub(r"<[^>]*>", "", text).split()): unescape(address) for address, text in links}


def test_words_are_marked_and_the_part_around_them_is_shown(browser: TestClient) -> None:
    html = browser.get("/search?q=ferry").text
    assert "3 passages hold words of it." in html
    assert "The <mark>ferry</mark> &lt;b&gt;leaves&lt;/b&gt; at nine." in html
    assert "<mark>Ferries</mark> are late" in html
    assert "Dana took the <mark>ferry</mark>." in html


def test_a_link_narrows_and_another_widens_again(browser: TestClient) -> None:
    links = _links(browser.get("/search?q=ferry").text)
    assert {"2024 1", "2023 1", "2022 1", "Newest first"} <= set(links)
    narrowed = browser.get(links["2023 1"]).text
    assert "1 passage holds words of it." in narrowed
    assert "took the" not in narrowed
    assert _links(narrowed)["2023 ×"] == "/search?q=ferry"


def test_order_and_filters_stay_in_links_and_form(browser: TestClient) -> None:
    html = browser.get("/search?q=ferry&kind=jsonl&source=notes&order=oldest").text
    assert html.index("leaves") < html.index("are late") < html.index("took the")
    assert '<b aria-current="true">Oldest first</b>' in html
    assert _links(html)["2023 1"] == "/search?q=ferry&source=notes&kind=jsonl&from=2023&to=2023&order=oldest"
    assert '<input type="hidden" name="kind" value="jsonl">' in html
    assert '<input type="hidden" name="order" value="oldest">' in html


def test_an_order_that_is_none_is_the_best_first(browser: TestClient) -> None:
    assert '<b aria-current="true">Best first</b>' in browser.get("/search?q=ferry&order=%22%3E%3Cscript%3E").text


def test_the_order_can_be_left_and_a_value_that_all_have_is_no_link(browser: TestClient) -> None:
    alone = _links(browser.get("/search?q=took&order=newest").text)
    orders = {"Best first": "/search?q=took", "Oldest first": "/search?q=took&order=oldest"}
    assert alone == {"Search": "/search", **orders}
    assert "Best first" in _links(browser.get("/search?q=xylophone&order=newest").text)


def test_a_period_is_named_by_both_its_ends(browser: TestClient) -> None:
    assert "from 2023 ×" in _links(browser.get("/search?q=ferry&from=2023").text)
    assert "from 2022 to 2023 ×" in _links(browser.get("/search?q=ferry&from=2022&to=2023").text)


def test_the_part_around_a_mark_needs_no_spaces() -> None:
    parts = split_at_marks("字" * 1000 + "木" + "字" * 1000, [(1000, 1001)], 100)
    assert ("木", True) in parts
    assert sum(len(text) for text, _ in parts) <= 104
