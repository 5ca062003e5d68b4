"""What redaction replaced is shown to the owner who says why: noted, in no log, and to no program."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests import archive
from tests.web_app import BEARER, COOKIE, client

SECRET = "052-765-4321"
REF = "jsonl:notes:card"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reveal")
    config = archive.make(folder)
    archive.write_notes(folder, {"id": "card", "text": f"Ring <b>Zoe</b> on {SECRET}.", "ts": "1709280000"})
    archive.first_sync(config)
    return config


@pytest.fixture
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def notes(config: Path) -> list[dict[str, object]]:
    path = archive.home(config.parent) / "private" / "reveals.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_an_original_is_shown_once_its_reader_has_said_why(
    browser: TestClient, config: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    page = browser.get(f"/record?ref={REF}")
    assert SECRET not in page.text
    assert f'data-reveal="{REF}"' in page.text
    before = len(notes(config))
    shown = browser.post("/reveal", json={"ref": REF, "why": "she asked for her own number"})
    assert shown.status_code == 200
    assert SECRET in shown.text
    assert "&lt;b&gt;Zoe&lt;/b&gt;" in shown.text
    assert "no-store" in shown.headers["cache-control"]
    (noted,) = notes(config)[before:]
    assert noted["why"] == "she asked for her own number"
    assert "(page)" in str(noted["who"])
    assert SECRET not in json.dumps(noted)
    written = capfd.readouterr()
    assert SECRET not in caplog.text + written.out + written.err
    assert SECRET not in browser.get(f"/record?ref={REF}").text


@pytest.mark.parametrize("asked", [{"ref": REF}, {"ref": REF, "why": "  "}, {"ref": REF, "why": "x" * 501}, {}, []])
def test_without_a_reason_nothing_is_shown_or_noted(browser: TestClient, config: Path, asked: object) -> None:
    before = len(notes(config))
    refused = browser.post("/reveal", json=asked)
    assert refused.status_code == 422
    assert SECRET not in refused.text
    assert len(notes(config)) == before


def test_no_program_no_form_and_no_other_site_sees_it(browser: TestClient, config: Path) -> None:
    before = len(notes(config))
    asked = {"ref": REF, "why": "because I say so"}
    answers = [
        browser.post("/reveal", json=asked, headers={**BEARER, "cookie": ""}),
        browser.post("/reveal", data=asked),
        browser.post("/reveal", json=asked, headers={"origin": "http://evil.example"}),
        browser.post("/reveal", json=asked, headers={"sec-fetch-site": "same-site"}),
        browser.get("/reveal", params=asked),
    ]
    assert [one.status_code for one in answers] == [401, 415, 403, 403, 405]
    assert not any(SECRET in one.text for one in answers)
    assert len(notes(config)) == before


def test_what_is_not_there_is_said_and_not_noted(browser: TestClient, config: Path) -> None:
    before = len(notes(config))
    missing = browser.post("/reveal", json={"ref": "jsonl:notes:none", "why": "curious"})
    assert (missing.status_code, "no original" in missing.text) == (404, True)
    assert len(notes(config)) == before


def test_an_archive_without_redaction_has_nothing_to_reveal(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    config.write_text(config.read_text().replace("pii_redaction_enabled = true", "pii_redaction_enabled = false"))
    archive.first_sync(config)
    with client(config) as browser:
        browser.headers |= COOKIE
        assert "data-reveal" not in browser.get("/record?ref=jsonl:notes:n1").text
        assert browser.post("/reveal", json={"ref": REF, "why": "curious"}).status_code == 404
