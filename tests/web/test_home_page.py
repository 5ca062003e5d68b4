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


def test_a_thread_of_mails_without_a_date_is_an_example(tmp_path: Path) -> None:
    config = archive.make(tmp_path, '[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"\n')
    mail = "From: {sender}\nTo: p@x.cz\nSubject: {subject}\nMessage-ID: <{id}@x.cz>\n{more}\nThe kiln is cold.\n"
    mails = tmp_path / "mail"
    mails.mkdir()
    mails.joinpath("a.eml").write_text(mail.format(sender="Eva <e@x.cz>", subject="The kiln", id="a", more=""))
    reply = mail.format(sender="Jan <j@x.cz>", subject="Re: The kiln", id="b", more="In-Reply-To: <a@x.cz>\n")
    mails.joinpath("b.eml").write_text(reply)
    archive.first_sync(config)
    with client(config) as browser:
        page = browser.get("/", headers=COOKIE)
    assert page.status_code == 200
    assert "What happened with The kiln?" in _questions(page.text, "examples")
