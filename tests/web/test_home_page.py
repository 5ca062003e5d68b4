"""What the page that asks shows before a question."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests import archive
from tests.web_app import BEARER, COOKIE, client


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home_page")
    config = archive.make(folder)
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        yield opened


def _questions(html: str, heading: str) -> list[str]:
    section = re.search(rf'<h2 id="{heading}">.*?</section>', html, re.DOTALL)
    return [unescape(text) for text in re.findall(r"<li><a [^>]*>(.*?)</a>", section[0])] if section else []


def test_examples_name_people_of_the_archive_and_the_last_questions_are_the_owners(browser: TestClient) -> None:
    before = browser.get("/", headers=COOKIE).text
    assert _questions(before, "examples")[:2] == [
        "What is the latest from Dana Levi?",
        "What is the latest from Petr Kolar?",
    ]
    assert _questions(before, "asked") == []
    assert browser.get("/ask?q=Who+has+the+<key>%3F", headers=COOKIE).status_code == 200
    assert browser.get("/ask/stream?q=Where+is+the+boiler%3F", headers=COOKIE).status_code == 200
    browser.post("/api/v1/ask", json={"question": "What does a program ask?"}, headers=BEARER)
    asked = ["Where is the boiler?", "Who has the <key>?"]
    assert _questions(browser.get("/", headers=COOKIE).text, "asked") == asked
    assert browser.post("/owner/clear_questions", json={}, headers=BEARER).status_code == 401
    assert browser.post("/owner/clear_questions", json={}, headers=COOKIE).status_code == 200
    assert _questions(browser.get("/", headers=COOKIE).text, "asked") == []
