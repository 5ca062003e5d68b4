"""Signed messages that a WAHA server sends to the running service are stored, and the next sync reads them."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from relrag_pipelines.settings import now
from relrag_pipelines.sources.remote import secrets
from relrag_query.cli.commands.doctor import examine
from relrag_query.cli.commands.forget import forget
from relrag_query.cli.commands.sync import sync
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.remote_servers import Waha, serve
from tests.waha_archive import DANA, GROUP, make, private_rows
from tests.web_app import BEARER, client

SECRET = "hook-secret-77"
NOW = int(now().timestamp())


class Archive:
    """An archive of the chats of a server, which were fetched once."""

    def __init__(self, config: Path, waha: Waha) -> None:
        self.config, self.waha = config, waha
        self.items = archive.home(config.parent) / "private" / "mirror" / "chats" / "items"

    def texts(self) -> list[str]:
        """What the stored items say."""
        return sorted(json.loads(file.read_text())["message"]["body"] for file in self.items.rglob("*.waha"))


@pytest.fixture
def synced(tmp_path: Path) -> Iterator[Archive]:
    waha = Waha()
    waha.add(DANA, "A1", NOW - 600, "The boiler leaks again", DANA)
    with serve(waha.respond) as running:
        config = make(tmp_path, running.url)
        sync(config)
        secrets.write_secret(secrets.webhook_file_of(tmp_path / "test.keys", "test", "chats"), SECRET)
        yield Archive(config, waha)


def event(message: dict[str, Any], name: str = "message.any", session: str = "default") -> bytes:
    """An event as WAHA sends it."""
    return json.dumps({"id": "evt_1", "event": name, "session": session, "payload": message}).encode()


def send(browser: TestClient, body: bytes, secret: str = SECRET, source: str = "chats", **headers: str) -> int:
    """The status of the answer to a signed event."""
    signature = hmac.new(secret.encode(), body, hashlib.sha512).hexdigest()
    signed = {"X-Webhook-Hmac": signature, "content-type": "application/json", **headers}
    return browser.post(f"/webhooks/{source}", content=body, headers=signed).status_code


@pytest.mark.requirement("S0-112")
def test_a_message_is_stored_and_the_next_sync_reads_it_with_its_sender(synced: Archive) -> None:
    message = synced.waha.add(DANA, "A2", NOW, "The plumber comes on Friday", DANA)
    group = synced.waha.add(GROUP, "B1", NOW, "Who brings the map?", "99887766@lid")
    with client(synced.config) as browser:
        assert send(browser, event(message)) == 201
        assert send(browser, event(message, "message")) == 204, "the same message again"
        assert send(browser, event(group)) == 201
    assert synced.texts() == ["The boiler leaks again", "The plumber comes on Friday", "Who brings the map?"]
    sync(synced.config)
    rows = private_rows(synced.config)
    assert {(row["from"], row["text"]) for row in rows} == {
        ("Dana Levi", "The boiler leaks again"),
        ("Dana Levi", "The plumber comes on Friday"),
        ("Dana Levi", "Who brings the map?"),
    }
    assert len(rows) == 3


def test_only_signed_messages_of_the_session_and_of_these_days_are_stored(synced: Archive) -> None:
    message = synced.waha.add(DANA, "A2", NOW, "The plumber comes on Friday", DANA)
    old = {**message, "timestamp": NOW - 4 * 86_400}
    with client(synced.config) as browser:
        assert send(browser, event(message), secret="other") == 401
        assert send(browser, event(message), source="nothing") == 401
        unsigned = browser.post("/webhooks/chats", content=event(message), headers=BEARER)
        assert (unsigned.status_code, "Dana" in unsigned.text) == (401, False)
        assert send(browser, event(message), origin="http://evil.example") == 403
        assert browser.get("/webhooks/chats").status_code == 401
        for other in ("", "chats/", "chats/more", "nothing/at/all"):
            answer = browser.post(f"/webhooks/{other}", content=event(message))
            media_type = answer.headers["content-type"]
            assert (answer.status_code, media_type) == (401, "application/problem+json"), "no page for strangers"
        assert send(browser, event(message, session="other")) == 204
        assert send(browser, event(message, "message.reaction")) == 204
        assert send(browser, event(old)) == 204
        assert send(browser, event({**message, "id": f"false_status@broadcast_A9_{DANA}"})) == 204
        for wrong in (b"{", b"[]", event({"id": "false_1@c.us_A3"}), event({**message, "timestamp": "soon"})):
            assert send(browser, wrong) == 400, wrong
        assert send(browser, event({**message, "body": "x" * 2**20})) == 413
        hostile = {**message, "id": f"false_{DANA}_../../../../evil"}
        assert send(browser, event(hostile)) == 201
    assert [file for file in synced.config.parent.rglob("*evil*") if not file.is_relative_to(synced.items)] == []
    assert synced.texts() == ["The boiler leaks again", "The plumber comes on Friday"]


def test_a_source_without_the_secret_takes_nothing(synced: Archive) -> None:
    secrets.webhook_file_of(synced.config.parent / "test.keys", "test", "chats").unlink()
    message = synced.waha.add(DANA, "A2", NOW, "The plumber comes on Friday", DANA)
    with client(synced.config) as browser:
        assert send(browser, event(message)) == 401
        assert send(browser, event(message), secret="") == 401
    assert synced.texts() == ["The boiler leaks again"]


def test_doctor_says_whether_the_key_can_be_used(synced: Archive) -> None:
    file = secrets.webhook_file_of(synced.config.parent / "test.keys", "test", "chats")
    assert ("ok", "`relrag serve` takes its events at /webhooks/chats") in _source_checks(synced.config)
    file.chmod(0o640)
    expected = f"{file} can be read by others; run: chmod 600 {file}; until then its webhook takes nothing"
    assert ("warning", expected) in _source_checks(synced.config)
    file.unlink()
    assert len(_source_checks(synced.config)) == 1, "without a key the webhook is off, which is no fault"


def _source_checks(config: Path) -> list[tuple[str, str]]:
    """Level and finding of what `relrag doctor` checks of the source."""
    return [(check.level, check.finding) for check in examine(config) if check.what == "source chats"]


def test_a_forgotten_message_is_not_stored_again(synced: Archive) -> None:
    (record,) = private_rows(synced.config)
    assert forget(ForgetRequest(refs=[record["asset_id"]]), synced.config, yes=True) == 0
    assert synced.texts() == []
    with client(synced.config) as browser:
        assert send(browser, event(synced.waha.messages[DANA][0])) == 204
    assert synced.texts() == []
