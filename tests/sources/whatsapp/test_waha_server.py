"""Chats of a WAHA server: mirrored message by message, followed through edits and deletions, read as one set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.sources.remote import FetchError
from relrag_pipelines.sources.remote.http_client import HttpClient
from relrag_pipelines.stores import lake, unit_state
from relrag_query.cli.commands.forget import forget
from relrag_query.cli.commands.sync import sync
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.remote_servers import Answer, HttpServer, Waha, serve
from tests.waha_archive import DANA, GROUP, make, private_rows

FEBRUARY = 1_707_211_200
"""2024-02-06, 10:20 in Prague"""


@pytest.fixture
def waha() -> Waha:
    held = Waha()
    held.add(DANA, "3EB0A1", FEBRUARY, "The boiler leaks again", DANA)
    held.add(DANA, "3EB0A2", FEBRUARY + 60, "I call the plumber", replyTo={"id": "3EB0A1", "body": "The boiler"})
    held.add(GROUP, "3EB0B1", FEBRUARY + 120, "Who brings the map?", "99887766@lid")
    return held


@pytest.fixture
def server(waha: Waha) -> Iterator[HttpServer]:
    with serve(waha.respond) as running:
        yield running


@pytest.fixture
def config(tmp_path: Path, server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(HttpClient, "_pause", lambda *_: 0.0)
    return make(tmp_path, server.url)


def export(config: Path) -> list[str]:
    """The messages of the failures."""
    made = archive.workspace(config)
    with suppress(FetchError):
        ingest(made, made.settings.source("chats"))
    return [failure.message for failure in unit_state.load_failures(made.home, "chats")]


def rows(config: Path) -> dict[str, dict[str, Any]]:
    """The private records by their text, or by the name of a file that was sent."""
    return {row["text"] or row["file_name"] or "": row for row in private_rows(config)}


def mirrored(config: Path) -> list[Path]:
    return sorted((archive.home(config.parent) / "private/mirror/chats/items").glob("*/*.waha"))


def test_chats_are_read_with_senders_times_and_replies(config: Path) -> None:
    assert export(config) == []
    read = rows(config)
    assert sorted(read) == ["I call the plumber", "The boiler leaks again", "Who brings the map?"]
    boiler, plumber, group = (
        read[text] for text in ("The boiler leaks again", "I call the plumber", "Who brings the map?")
    )
    assert (boiler["from"], boiler["subject"], boiler["ts"]) == ("Dana Levi", "Dana Levi", FEBRUARY)
    assert plumber["from"] == "Petr Kolar"
    assert plumber["parent_asset_id"] == boiler["asset_id"]
    # who hides the number in the group is the person with that number
    assert (group["from"], group["subject"]) == ("Dana Levi", "Hiking")
    assert group["people"] == boiler["people"]


def test_a_message_has_the_id_that_it_has_in_an_exported_text(config: Path) -> None:
    export(config)
    text = config.parent / "texts"
    text.mkdir()
    (text / "WhatsApp Chat with Dana Levi.txt").write_text(
        "06/02/2024, 10:20 - Dana Levi: The boiler leaks again\n06/02/2024, 10:21 - Petr Kolar: I call the plumber\n"
    )
    config.write_text(config.read_text() + '\n[[sources]]\nname = "texts"\nkind = "whatsapp"\npath = "texts"\n')
    made = archive.workspace(config)
    ingest(made, made.settings.source("texts"))
    home = made.home
    table = lake.read(home, "private_records", "texts", "2024-02", ["asset_id", "text"])
    by_text = dict(zip(table["text"].to_pylist(), table["asset_id"].to_pylist(), strict=True))
    read = rows(config)
    assert by_text == {text: read[text]["asset_id"] for text in by_text}


def test_no_path_of_the_mirror_tells_a_number(config: Path) -> None:
    export(config)
    assert len(mirrored(config)) == 3
    assert not [path for path in mirrored(config) if "420601234567" in str(path)]
    assert all(path.stat().st_mode & 0o077 == 0 for path in mirrored(config))


@pytest.mark.requirement("S0-112")
def test_a_later_fetch_asks_for_the_last_days_of_chats_with_news(config: Path, waha: Waha, server: HttpServer) -> None:
    export(config)
    waha.add(DANA, "3EB0A9", FEBRUARY + 30 * 86_400, "The plumber was here", DANA)
    export(config)
    server.requests.clear()
    waha.add(DANA, "3EB0AA", FEBRUARY + 30 * 86_400 + 60, "All is dry", DANA)
    export(config)
    asked = [request for request in server.requests if request.path.endswith("/messages")]
    assert {request.path.split("/")[4] for request in asked} == {"420601234567%40c.us"}
    assert {request.query["filter.timestamp.gte"] for request in asked} == {str(FEBRUARY + 27 * 86_400)}
    assert "All is dry" in rows(config)


def test_edits_and_deletions_are_followed(config: Path, waha: Waha) -> None:
    first = waha.add(DANA, "3EB0A3", FEBRUARY + 180, "Come at five", DANA)
    second = waha.add(DANA, "3EB0A4", FEBRUARY + 240, "The code of the gate is 1407", DANA)
    third = waha.add(DANA, "3EB0A5", FEBRUARY + 300, "Forget the ladder", DANA)
    export(config)
    first["body"], second["body"] = "Come at six", ""
    waha.messages[DANA].remove(third)
    export(config)
    read = rows(config)
    assert json.loads(read["Come at six"]["extra"]) == {"edited": True}
    assert json.loads(read[""]["extra"]) == {"deleted": True}
    assert not {"Come at five", "The code of the gate is 1407", "Forget the ladder"} & read.keys()
    assert not [path for path in mirrored(config) if b"1407" in path.read_bytes() or b"ladder" in path.read_bytes()]


def test_a_chat_that_is_no_longer_listed_stays(config: Path, waha: Waha) -> None:
    export(config)
    del waha.subjects[GROUP]
    export(config)
    assert "Who brings the map?" in rows(config)


def test_files_places_and_cards_are_records(config: Path, waha: Waha) -> None:
    waha.add(DANA, "C1", FEBRUARY + 400, "The invoice", DANA, hasMedia=True,
             media={"url": "x", "mimetype": "application/pdf", "filename": "invoice.pdf"})  # fmt: skip
    waha.add(DANA, "C2", FEBRUARY + 460, "", DANA, hasMedia=True, media={"mimetype": "audio/ogg; codecs=opus"})
    waha.add(DANA, "C3", FEBRUARY + 520, "", DANA, location={"latitude": "50.1", "longitude": "14.4"})
    waha.add(DANA, "C4", FEBRUARY + 580, "", DANA, vCards=["BEGIN:VCARD"])
    waha.add(DANA, "C5", FEBRUARY + 640, "", DANA)  # of which the server tells nothing
    assert export(config) == []
    read = rows(config)
    assert read["invoice.pdf"]["parent_asset_id"] == read["The invoice"]["asset_id"]
    assert (read["audio"]["content_type"], read["contact.vcf"]["content_type"]) == ("audio/ogg", "text/vcard")
    assert "location: https://maps.google.com/?q=50.1,14.4" in read


def test_pages_end_also_where_a_server_knows_no_offset(
    config: Path, waha: Waha, monkeypatch: pytest.MonkeyPatch
) -> None:
    respond = waha.respond

    def without_offset(request: Any) -> Answer:
        request.query.pop("offset", None)
        return respond(request)

    with serve(without_offset) as running:
        make(config.parent, running.url)
        assert export(config) == []
    assert len(rows(config)) == 3


@pytest.mark.parametrize(
    ("status", "words"), [("SCAN_QR_CODE", "is SCAN_QR_CODE, not WORKING"), ("FAILED", "is FAILED, not WORKING")]
)
def test_an_account_that_is_logged_out_is_a_failure_and_nothing_goes(
    config: Path, waha: Waha, status: str, words: str
) -> None:
    export(config)
    waha.status = status
    assert any(words in message for message in export(config))
    assert len(rows(config)) == 3


@pytest.mark.parametrize(
    "answer", [Answer({"id": 1}), Answer([{"id": 5}, "text"]), Answer(b"<html>"), Answer([None])], ids=str
)
def test_answers_of_another_form_are_a_failure_without_their_text(
    config: Path, server: HttpServer, answer: Answer
) -> None:
    export(config)
    server.faults += [Answer({"status": "WORKING"}), Answer([]), Answer([]), *[answer] * 5]
    messages = export(config)
    assert messages
    assert not [message for message in messages if "html" in message]
    assert len(rows(config)) == 3


def test_a_name_that_changes_is_the_name_of_all_messages(config: Path, waha: Waha) -> None:
    export(config)
    waha.names[DANA] = "Dana Levi-Katz"
    export(config)
    assert {row["from"] for row in rows(config).values()} == {"Petr Kolar", "Dana Levi-Katz"}
    assert rows(config)["I call the plumber"]["parent_asset_id"] == rows(config)["The boiler leaks again"]["asset_id"]


def test_half_a_surrogate_pair_becomes_a_question_mark(config: Path, waha: Waha) -> None:
    waha.add(DANA, "3EB0A3", FEBRUARY + 180, "cut off \ud83d", DANA)
    assert export(config) == []
    assert set(rows(config)) >= {"The boiler leaks again", "cut off ?"}


@pytest.mark.usefixtures("without_dagster")
def test_a_forgotten_message_stays_away_and_its_chat_goes_on(config: Path, waha: Waha) -> None:
    waha.add(DANA, "3EB0A6", FEBRUARY + 360, "My password is sesame", DANA)
    assert sync(config) == 0
    assert forget(ForgetRequest(refs=[rows(config)["My password is sesame"]["asset_id"]]), config, yes=True) == 0
    waha.add(DANA, "3EB0A7", FEBRUARY + 420, "See you on Friday", DANA)
    export(config)
    assert not {"My password is sesame"} & rows(config).keys()
    assert {"See you on Friday", "The boiler leaks again"} <= rows(config).keys()
    assert not [path for path in mirrored(config) if b"sesame" in path.read_bytes()]


def test_a_group_that_is_renamed_has_its_new_name_everywhere(config: Path, waha: Waha) -> None:
    export(config)
    waha.subjects[GROUP] = "Hiking 2024"
    export(config)
    assert rows(config)["Who brings the map?"]["subject"] == "Hiking 2024"


def test_names_that_the_server_does_not_list_for_a_moment_stay(config: Path, waha: Waha) -> None:
    export(config)
    before = rows(config)
    waha.names, names = {}, waha.names
    assert any("has no contacts/all any more" in message for message in export(config))
    assert rows(config) == before
    waha.names = names
    assert export(config) == []
