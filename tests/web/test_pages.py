"""Pages in detail: what is linked, marked and offered."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests import archive
from tests.web_app import COOKIE, client

MONTHS = [f"{year}-{month:02}" for year in (2022, 2023, 2024) for month in range(1, 13)]
CITED = "The hedge nursery is called Malva Gardens."


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with a chat of three years, two messages a month; that of June 2022 is cited."""
    folder = tmp_path_factory.mktemp("pages")
    config = archive.make(folder)
    lines = []
    for number, month in enumerate(MONTHS):
        year, of_year = month.split("-")
        said = CITED if month == "2022-06" else f"Bring {number} pots on Monday"
        lines += [
            f"10/{of_year}/{year}, 10:15 - Dana Levi: {said}\n",
            f"10/{of_year}/{year}, 10:16 - Petr Kolar: Fine, {number}\n",
        ]
    (folder / "chats" / "WhatsApp Chat with Allotment.txt").write_text("".join(lines))
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def links(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', page)]


def link_to(page: str, path: str) -> str:
    """The first link of a page to a path."""
    return next(link for link in links(page) if link.startswith(path))


def members(page: str) -> list[str]:
    return re.findall(r'<p class="said" dir="auto">(.*?)</p>', page)


def marked(page: str) -> list[str]:
    """The texts of the marked messages of a thread."""
    return re.findall(r'<li id="at" aria-current="true">.*?<p class="said" dir="auto">(.*?)</p>', page, re.DOTALL)


def test_a_citation_opens_its_chat_at_the_cited_message(browser: TestClient) -> None:
    answer = browser.get("/ask?q=What is the hedge nursery called?").text
    passage = browser.get(link_to(answer, "/source")).text
    to_thread = link_to(passage, "/thread")
    assert to_thread.endswith("#at")
    page = browser.get(to_thread).text
    assert marked(page) == [CITED]
    assert len(members(page)) == 20
    assert members(page)[10] == CITED
    later = browser.get(link_to(page, "/thread?id=")).text
    earlier = browser.get(next(link for link in reversed(links(page)) if link.startswith("/thread"))).text
    assert (members(later)[-1], members(page)[0]) == ("Fine, 10", "Bring 10 pots on Monday")
    assert (members(page)[-1], members(earlier)) == ("Fine, 0", ["Bring 0 pots on Monday"])


def test_a_message_opens_its_chat_where_it_is(browser: TestClient) -> None:
    passage = browser.get(link_to(browser.get("/ask?q=What is the hedge nursery called?").text, "/source")).text
    thread = browser.get(link_to(passage, "/thread")).text
    message = re.search(r'<li id="at".*?<a href="([^"]+)"', thread, re.DOTALL)
    assert message is not None
    record = browser.get(unescape(message[1])).text
    assert marked(browser.get(link_to(record, "/thread")).text) == [CITED]
    window = browser.get(link_to(record, "/record?ref=whatsapp%3Achunk")).text
    assert CITED in browser.get(link_to(window, "/thread")).text


def test_a_thread_without_the_record_begins_with_the_newest(browser: TestClient) -> None:
    passage = browser.get(link_to(browser.get("/ask?q=What is the hedge nursery called?").text, "/source")).text
    thread = link_to(passage, "/thread").partition("&at=")[0]
    page = browser.get(f"{thread}&at=jsonl:notes:n1").text
    assert (marked(page), members(page)[0]) == ([], "Fine, 35")
