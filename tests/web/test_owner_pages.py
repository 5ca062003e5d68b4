"""The pages that change the archive are for its logged-in owner alone, and show what they find inertly."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import lock
from relrag_query.operations.owner_table import OWNER_OPERATIONS
from relrag_query.web.owner_pages import UPLOAD
from tests import archive
from tests.web.test_app import HOSTILE, Page
from tests.web_app import BEARER, COOKIE, client

PAGES = ["/archive/add", "/archive/settings", "/archive/activity", "/forget?source=notes", "/people/pairs", "/calls"]
PATHS = [operation.path for operation in OWNER_OPERATIONS]
PIECE = {"content-type": "application/octet-stream"}
ID = "0" * 32


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("owner")
    for number, name in enumerate(HOSTILE[:40]):
        (folder / f"{number} {name.replace('/', '_')}").mkdir()
    (folder / "hostile").mkdir()
    (folder / "hostile" / "<img src=x onerror=alert(1)>.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "hostile" / "<svg onload=alert(1)>.md").write_text("# Lease\n\nThe tenant pays.\n")
    config = archive.make(folder, "web_writes_enabled = true")
    (folder / "papers" / "<img src=x onerror=alert(2)>.pdf").write_bytes(b"%PDF-1.4 nothing")
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def test_no_program_no_form_and_no_other_site_changes_anything(browser: TestClient, config: Path) -> None:
    before = archive.contents(archive.home(config.parent))
    for path in PATHS:
        answers = [
            browser.post(path, json={}, headers={**BEARER, "cookie": ""}),
            browser.post(path, data={"allowed": "true"}),
            browser.post(path, content="{}", headers={"content-type": "text/plain"}),
            browser.post(path, json={}, headers={"origin": "http://evil.example"}),
            browser.post(path, json={}, headers={"sec-fetch-site": "same-site"}),
            browser.get(path),
        ]
        assert [one.status_code for one in answers] == [401, 415, 415, 403, 403, 405], path
    upload = f"{UPLOAD}?upload={ID}&offset=0"
    answers = [
        browser.post(upload, content=b"x", headers={**BEARER, **PIECE, "cookie": ""}),
        browser.post(upload, files={"file": b"x"}),
        browser.post(upload, content=b"x", headers={"content-type": "text/plain"}),
        browser.post(upload, content=b"x", headers={**PIECE, "origin": "http://evil.example"}),
        browser.post(upload, content=b"x", headers={**PIECE, "sec-fetch-site": "same-site"}),
    ]
    assert [one.status_code for one in answers] == [401, 415, 415, 403, 403]
    assert archive.changed(before, archive.contents(archive.home(config.parent))) == []


def test_a_switch_that_is_off_refuses_every_operation(tmp_path: Path) -> None:
    config = archive.make(tmp_path, "web_writes_enabled = false")
    bodies = {
        "allow_writes": {"allowed": True},
        "add_source": {"path": str(tmp_path), "names": ["papers"]},
        "pause_source": {"name": "notes", "paused": True},
        "change_settings": {"values": {"owner": "Dana"}},
        "retry": {"source": "notes"},
        "approve_calls": {"calls": ["call_recording:1"]},
        "leave_out_calls": {"calls": ["call_recording:1"]},
        "merge": {"into": "Dana Levi", "others": ["Petr Kolar"]},
        "split": {"person": "Dana Levi", "aliases": ["Dana"]},
        "undo": {"entry": 1},
        "refuse": {"person_id": 1, "other_id": 2},
        "add_fact": {"person": "Dana Levi", "predicate": "occupation", "value": "baker"},
        "relate": {"person": "Dana Levi", "other": "Petr Kolar", "relationship_type": "friend"},
        "unrelate": {"person": "Dana Levi", "other": "Petr Kolar", "relationship_type": "friend"},
        "upload_state": {"upload": ID},
        "upload_finish": {"upload": ID, "name": "a.txt", "total": 1},
        "upload_discard": {"upload": ID},
    }
    with client(config) as browser:
        browser.headers |= COOKIE
        for operation in (row for row in OWNER_OPERATIONS if row.name != "clear_questions"):
            answer = browser.post(operation.path, json=bodies.get(operation.name, {}))
            assert (answer.status_code, "web_writes_enabled" in answer.json()["detail"]) == (403, True), operation.name
        assert browser.post("/owner/clear_questions", json={}).status_code == 200  # changes nothing of the archive
        assert browser.post(f"{UPLOAD}?upload={ID}&offset=0", content=b"x", headers=PIECE).status_code == 403
        for path in PAGES:
            assert browser.get(path).status_code == (200 if path == "/archive/activity" else 403) or "pairs" in path
        page = browser.get("/archive").text
        assert "data-operation" not in page
        assert "web_writes_enabled = true" in page
    assert not archive.home(tmp_path).exists()
    assert not settings_module.load(config, {}).web_writes_enabled


def test_a_new_archive_asks_once_and_shows_the_first_steps(tmp_path: Path) -> None:
    config = tmp_path / "relrag.toml"
    config.write_text('archive = "test"\nkeys_file = "test.keys"\n')
    with client(config) as browser:
        browser.headers |= COOKIE
        page = browser.get("/")
        assert (page.status_code, "From your files to the first answer" in page.text) == (200, True)
        assert 'data-operation="allow_writes"' in page.text
        assert 'href="/archive/add"' not in page.text
        assert browser.post("/owner/allow_writes", json={"allowed": True}).status_code == 200
        page = browser.get("/").text
        assert 'data-operation="allow_writes"' not in page
        assert 'href="/archive/add"' in page
        assert "There are no sources yet" in browser.get("/archive").text


def test_pages_show_times_in_a_zone_that_was_saved_just_now(tmp_path: Path) -> None:
    config = archive.make(tmp_path, "web_writes_enabled = true")
    archive.first_sync(config)
    with client(config) as browser:
        browser.headers |= COOKIE
        paths = ["/record?ref=jsonl:notes:n1", "/search?q=plumber+quoted", "/ask?q=What+did+the+plumber+quote%3F"]
        for path in paths:  # 08:00 UTC
            assert "15 February 2024, 09:00" in browser.get(path).text, path
        body = {"values": {"timezone": "Asia/Kolkata", "owner": "Ota"}}
        assert browser.post("/owner/change_settings", json=body).status_code == 200
        for path in paths:
            assert "15 February 2024, 13:30" in browser.get(path).text, path
        assert "(Asia/Kolkata)" in browser.get("/archive").text
        form = browser.get("/archive/settings").text
        assert 'value="Asia/Kolkata"' in form
        assert "Take that of this browser: {zone}" in form  # its script fills in the zone
        config.write_text(config.read_text().replace('archive = "test"', 'archive = "renamed"'))
        until = time.monotonic() + 10
        while "renamed" not in (page := browser.get("/search").text) and time.monotonic() < until:
            time.sleep(0.1)
        assert "renamed" in page


def test_what_would_be_forgotten_is_shown_by_its_text_and_date(browser: TestClient) -> None:
    page = browser.get("/forget?ref=jsonl:notes:n1").text
    assert "The plumber quoted 7,980 for the boiler." in page
    assert "15 February 2024, 09:00" in page
    assert "at once" not in page
    assert "Until then answers may still show what goes." in page


def test_an_empty_file_is_called_empty(browser: TestClient) -> None:
    body = {"upload": ID, "name": "empty.md", "total": 0}
    answer = browser.post("/owner/upload_finish", json=body, headers={"accept-language": "de"})
    assert (answer.status_code, answer.json()["detail"]) == (400, "Diese Datei ist leer.")


def test_an_operation_takes_its_fields_alone(browser: TestClient) -> None:
    for body in ("[]", "null", '{"name": "notes"}', '{"name": "notes", "paused": "true"}', '{"x": 1}'):
        answer = browser.post("/owner/pause_source", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    answer = browser.post("/owner/pause_source", content="{", headers={"content-type": "application/json"})
    assert answer.status_code == 400
    long = browser.post("/owner/sync", content=b" " * 2**19, headers={"content-type": "application/json"})
    assert long.status_code == 413
    for offset in ("", "-1", "1", "9" * 20):
        answer = browser.post(f"{UPLOAD}?upload={ID}&offset={offset}", content=b"x", headers=PIECE)
        assert answer.status_code == 409
    large = browser.post(f"{UPLOAD}?upload={ID}&offset=0", content=b"x" * (2**20 + 1), headers=PIECE)
    assert large.status_code == 413


def test_while_another_writes_a_change_says_so(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise lock.LockedByOther("writing", code="locked", holder="relrag sync (process 7)")

    monkeypatch.setattr(lock, "writing", refuse)
    answer = browser.post("/owner/pause_source", json={"name": "notes", "paused": True})
    assert (answer.status_code, "relrag sync (process 7)" in answer.json()["detail"]) == (409, True)
    assert answer.json()["code"] == "locked"  # its script waits for the end of the other


def test_hostile_names_of_folders_and_files_are_inert(browser: TestClient, config: Path) -> None:
    folder = str(config.parent)
    paths = [
        *("/archive/add", f"/archive/add?folder={folder}", f"/archive/add?folder={folder}/hostile&look=1"),
        *("/archive", "/people/pairs", "/forget?ref=jsonl:notes:n1", "/forget?ref=<script>alert(1)</script>"),
        "/archive/add?folder=<script>alert(1)</script>",
    ]
    for path in paths:
        answer = browser.get(path)
        page = Page(answer.text)
        assert all(script.startswith("/static/") for script in page.scripts), path
        assert page.handlers == []
        assert not page.tags & {"iframe", "base", "svg", "object", "embed", "math"}
        assert "\u202e" not in answer.text
        assert "\x1b" not in answer.text
        for link in page.links:
            assert link.startswith(("/", "http://127.0.0.1:3000", "#")), link
    assert "&lt;svg onload=alert(1)&gt;" in browser.get(paths[2]).text or "hostile" in browser.get(paths[2]).text


def test_a_failure_can_be_read_again_without_its_name_in_the_form(browser: TestClient, config: Path) -> None:
    page = browser.get("/archive").text
    form = page.split('data-operation="retry"', 1)[1].split("</form>", 1)[0]
    values = json.loads(form.split("data-json='", 1)[1].split("'", 1)[0])
    assert values["source"] == "papers"
    assert len(values["failure"]) >= 16
    assert "onerror" not in form


def test_months_are_counted_by_year(browser: TestClient) -> None:
    page = browser.get("/archive").text
    calendar = page.split('class="calendar"', 1)[1].split("</table>", 1)[0]
    assert 'scope="row">2023' in calendar
    assert calendar.count("<tr>") == 3
    assert "On disk" in page


def test_a_persons_page_states_and_takes_back(browser: TestClient) -> None:
    path = "/person?name=Dana+Levi"
    forms = re.findall(r'data-operation="(\w+)"', browser.get(path).text)
    assert forms == ["add_fact", "relate"]
    body = {"person": "Dana Levi", "predicate": "occupation", "value": "<baker>", "valid_from": ""}
    entry = browser.post("/owner/add_fact", json=body).json()["entry"]
    page = browser.get(path).text
    assert "&lt;baker&gt;" in page
    assert f"""data-operation="undo" data-json='{{"entry": {entry}}}'""" in page
    assert browser.post("/owner/undo", json={"entry": entry}).status_code == 200
    assert "baker" not in browser.get(path).text
