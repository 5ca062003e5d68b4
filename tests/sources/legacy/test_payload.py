"""What the payloads of older systems say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from relrag_pipelines.legacy.backfill import universal
from relrag_pipelines.sources import legacy
from relrag_pipelines.sources.legacy.payload import GRAPH_FIELDS, PointFields, parse
from tests import legacy_collection as older
from tests.cases import cases

ZONE = "Europe/Prague"


def read(**payload: Any) -> PointFields:
    found = parse(7, payload, ZONE)
    assert found
    return found


@pytest.mark.parametrize(*cases(__file__, "the_record_that_a_point_belongs_to"))
def test_the_record_that_a_point_belongs_to(payload: dict[str, Any], asset_id: str, position: int) -> None:
    found = read(**payload)
    assert (found.asset_id, found.position) == (asset_id, position)


@pytest.mark.requirement("S0-84")
@pytest.mark.parametrize(*cases(__file__, "a_part_of_a_mail_names_its_mail"))
def test_a_part_of_a_mail_names_its_mail(payload: dict[str, Any], parent: str | None, type_: str) -> None:
    found = read(source="gmail", **payload)
    assert (found.parent_asset_id, found.type) == (parent, type_)


@pytest.mark.requirement("S3-26")
@pytest.mark.parametrize(
    ("written", "type_"),
    [
        ("SLACK", "slack"),
        ("TEAMS", "teams"),
        ("MEETING_TRANSCRIPT", "meeting_transcript"),
        ("CARRIER_PIGEON", "legacy"),
    ],
)
def test_the_type_of_an_older_message_stays(written: str, type_: str) -> None:
    found = read(ragSourceType=written, text="The kiln is hot.", **{"from": "Dana Levi"})
    assert (found.type, found.universal["from"]) == (type_, "Dana Levi")


KEPT = {"client_id": "acme", "project_id": "atlas", "source_uri": "origin://1"}
WRITTEN = {
    "clientId": "acme",
    "projectId": "atlas",
    "sourceUri": "origin://1",
    "summary": "The text.",
    "createdAt": "2025-01-11T09:00:00Z",
    "chunkId": 0,
    "chunkOf": 1,
    "vectorStoreIds": ["v1"],
    "from": "Jan Novák",
    "timestamp": "2025-01-10T14:48:00Z",
}
EVERY_FIELD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {
            "ragSourceType": "CODE",
            "language": "kotlin",
            "packageName": "com.acme",
            "className": "UserService",
            "parentClass": "Service",
            "methodName": "authenticate",
            "lineStart": 10,
            "lineEnd": 24,
            "symbolName": "UserService.authenticate",
            "joernNodeId": "4711",
            "safetyTags": ["auth", "jwt"],
            "parentRef": "com.acme.UserService",
            "indexInParent": 1,
            "totalSiblings": 3,
            "contentType": "kotlin",
            "fileName": "src/UserService.kt",
            "branch": "main",
        },
        {
            "rag_source_type": "code",
            "language": "kotlin",
            "parent_ref": "com.acme.UserService",
            "index_in_parent": 1,
            "total_siblings": 3,
            "content_type": "kotlin",
            "file_name": "src/UserService.kt",
            "extra": {
                "package_name": "com.acme",
                "class_name": "UserService",
                "parent_class": "Service",
                "method_name": "authenticate",
                "line_start": 10,
                "line_end": 24,
                "branch": "main",
                "symbol_name": "UserService.authenticate",
                "joern_node_id": "4711",
                "safety_tags": ["auth", "jwt"],
            },
        },
    ),
    (
        {
            "ragSourceType": "GIT_HISTORY",
            "gitCommitHash": "a3b2c1d8",
            "branch": "main",
            "subject": "Fix it",
            "archivedAt": "2025-02-01T00:00:00Z",
            "parentRef": "a3b2c1d8",
            "contentType": "git-commit",
        },
        {
            "rag_source_type": "git_history",
            "subject": "Fix it",
            "parent_ref": "a3b2c1d8",
            "content_type": "git-commit",
            "extra": {"git_commit_hash": "a3b2c1d8", "branch": "main", "archived_at": "2025-02-01T00:00:00Z"},
        },
    ),
    (
        {
            "ragSourceType": "EMAIL",
            "subject": "Invoice",
            "parentRef": "m1@x",
            "totalSiblings": 1,
            "contentType": "text/html",
            "archivedAt": "2025-02-01T00:00:00Z",
        },
        {
            "rag_source_type": "email",
            "subject": "Invoice",
            "parent_ref": "m1@x",
            "total_siblings": 1,
            "content_type": "text/html",
            "extra": {"archived_at": "2025-02-01T00:00:00Z"},
        },
    ),
    (
        {
            "ragSourceType": "EMAIL_ATTACHMENT",
            "subject": "Invoice",
            "parentRef": "m1@x",
            "indexInParent": 0,
            "totalSiblings": 1,
            "contentType": "application/pdf",
            "fileName": "invoice.pdf",
        },
        {
            "rag_source_type": "email_attachment",
            "subject": "Invoice",
            "parent_ref": "m1@x",
            "index_in_parent": 0,
            "total_siblings": 1,
            "content_type": "application/pdf",
            "file_name": "invoice.pdf",
            "extra": {},
        },
    ),
    (
        {
            "ragSourceType": "MEETING_TRANSCRIPT",
            "subject": "Review",
            "parentRef": "meeting-review.txt",
            "indexInParent": 2,
            "totalSiblings": 5,
            "contentType": "meeting-transcript",
            "fileName": "review.txt",
        },
        {
            "rag_source_type": "meeting_transcript",
            "subject": "Review",
            "parent_ref": "meeting-review.txt",
            "index_in_parent": 2,
            "total_siblings": 5,
            "content_type": "meeting-transcript",
            "file_name": "review.txt",
            "extra": {},
        },
    ),
]


@pytest.mark.requirement("S3-1", "S3-2", "S3-3")
@pytest.mark.parametrize(("written", "fields"), EVERY_FIELD, ids=lambda row: row.get("ragSourceType", ""))
def test_a_record_of_each_kind_keeps_every_field_of_the_seed(written: dict[str, Any], fields: dict[str, Any]) -> None:
    record = legacy._record([read(**WRITTEN, **written)], "points#7")
    wanted = KEPT | {"text": "The text.", "from_": "Jan Novák", "ts": 1736520480} | fields
    assert {name: getattr(record, name) for name in wanted} == wanted


@pytest.mark.requirement("S2-6")
@pytest.mark.parametrize("source", ["relationship", "gmail", "whatsapp", "telegram"])
@pytest.mark.parametrize("vector", ["relation_embedding", "notes_embedding", "description_embedding"])
def test_an_old_vector_is_no_field_of_a_record(source: str, vector: str) -> None:
    found = read(source=source, source_id="x:1", text="t", relationship_type="mentor", **{vector: [0.1], "kept": 1})
    assert vector not in str(found)


@pytest.mark.requirement("S2-24")
@pytest.mark.parametrize(*cases(__file__, "notes_of_an_older_relationship_are_texts_however_they_are_stored"))
def test_notes_of_an_older_relationship_are_texts_however_they_are_stored(notes: Any, texts: list[str]) -> None:
    found = read(source="relationship", relationship_type="mentor", from_name="A B", to_name="C D", notes=notes)
    assert found.extra["relationship"]["notes"] == texts
    assert found.text == "".join(f"{text}. " for text in texts).strip()


@pytest.mark.requirement("S0-87")
def test_the_thread_of_a_message_is_its_chat_and_that_of_a_mail_its_own() -> None:
    assert read(source="whatsapp", source_id="a:1", chat_id="chat-1", thread_id="session").thread_id == "chat-1"
    assert read(source="whatsapp", source_id="a:1", thread_id="chat-2").thread_id == "chat-2"
    assert read(source="gmail", source_id="a", chat_id="chat-1", thread_id="18d0").thread_id == "18d0"
    assert read(source="paperless", source_id="a", chat_id="chat-1").thread_id is None


@pytest.mark.requirement("S3-13", "S3-14", "S3-15")
def test_fields_of_mails_become_the_universal_ones() -> None:
    mail, part = (read(**one) for one in older.POINTS if str(one.get("ragSourceType")).startswith("EMAIL"))
    sent = {"from": "dodavatel@firma.example", "subject": "Sanitární čerpadlo", "parent_ref": "pump-1@firma.example"}
    assert dict(mail.universal) == sent | {"total_siblings": 1, "content_type": "text/html"}
    assert dict(part.universal) == sent | {
        "index_in_parent": 0, "total_siblings": 1, "content_type": "application/pdf", "file_name": "faktura.pdf"
    }  # fmt: skip
    assert mail.ts == part.ts == 1736932320, "2025-01-15T09:12:00Z"
    assert part.parent_asset_id == mail.asset_id
    assert mail.about == {"client_id": "c1"}


@pytest.mark.parametrize(
    ("said", "ts", "quality"),
    [
        ({"timestamp": 1708012800}, 1708012800, "exact"),
        ({"timestamp": "1708012800"}, 1708012800, "exact"),
        ({"timestamp": 1708012800123}, 1708012800, "exact"),
        ({"timestamp": "2024-02-15T17:00:00"}, 1708012800, "exact"),  # of the source's zone
        ({"timestamp": "2024-02-15"}, 1707955200, "day"),
        ({"timestamp": "last week", "createdAt": "2024-02-15T16:00:00Z"}, 1708012800, "exact"),
        ({"timestamp": True}, None, "none"),
        ({"timestamp": float("nan")}, None, "none"),
        ({}, None, "none"),
    ],
)
def test_times(said: dict[str, Any], ts: int | None, quality: str) -> None:
    found = read(source="gmail", source_id="1", **said)
    assert (found.ts, found.date_quality) == (ts, quality)


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"message": "short", "_node_content": '{"text": "Email: x\\n\\nshort"}'}, "short"),
        ({"message": "a" * 2000, "_node_content": '{"text": "Title: x\\n\\n' + "a" * 2000 + 'b"}'}, "a" * 2000 + "b"),
        ({"_node_content": '{"text": "in the node alone"}'}, "in the node alone"),
        ({"_node_content": "not json", "summary": "said"}, "said"),
        ({"_node_content": '{"text": null}'}, ""),
        ({"message": ["no", "text"]}, ""),
        ({"message": "half \ud83d of a pair"}, "half \ufffd of a pair"),
    ],
)
def test_the_text_is_that_without_what_was_put_before_it(payload: dict[str, Any], text: str) -> None:
    assert read(source="gmail", source_id="1", **payload).text == text


def test_a_number_beside_a_name_is_of_that_person() -> None:
    chat = {"source": "whatsapp", "source_id": "1", "chat_id": older.DANA, "chat_name": "Dana Levi"}
    assert read(**chat, sender="Dana Levi").people == (("sender", "Dana Levi +972521234567"),)
    assert read(**chat, sender="Jonah Pickel").people == (), "the chat's number is the other party's"
    assert read(**chat, sender="Dana Levi", is_group=True).people == ()
    call = {"source": "call_recording", "source_id": "1", "phone_number": "+420 601 234 567"}
    assert read(**call, sender="Alex Rubin").people == (("sender", "Alex Rubin +420 601 234 567"),)
    assert read(**call, sender="Unknown").people == ()
    assert "from" not in read(**call, sender="Unknown").universal


def test_what_the_older_system_told_itself_is_no_memory() -> None:
    assert parse(1, {"source": "entity_store", "message": "x"}, ZONE) is None
    assert parse(1, {"source": "system", "message": "x"}, ZONE) is None


def with_fields(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload as a backfill leaves it."""
    found = parse(7, payload, ZONE)
    assert found
    graph = (found.asset_id, found.parent_asset_id, found.thread_id, found.asset_id)
    lacking = {name: value for name, value in universal(found).items() if payload.get(name) in (None, "")}
    return payload | lacking | dict(zip(GRAPH_FIELDS, graph, strict=True)) | {"person_ids": [100_001]}


VALUES = some.none() | some.text(max_size=8) | some.integers(0, 2**31) | some.lists(some.text(max_size=4), max_size=2)
NAMES = (
    "source", "source_id", "thread_id", "chat_id", "parent_source_id", "sender", "chat_name", "timestamp", "message",
    "chunk_index", "content_type", "file_type", "attachment_name", "is_group", "emailMessageId", "emailFrom",
    "emailSubject", "emailReceivedAt", "attachmentIndex", "attachmentMimeType", "totalAttachments", "ragSourceType",
    "createdAt", "indexInParent", "parentRef", "fileName", "contentType",
)  # fmt: skip
KINDS = some.sampled_from(["gmail", "whatsapp", "paperless", "call_recording", "EMAIL", "EMAIL_ATTACHMENT", "manual"])


@given(some.dictionaries(some.sampled_from(NAMES), VALUES), KINDS, some.sampled_from(["source", "ragSourceType"]))
def test_a_point_says_the_same_when_its_fields_are_written(payload: dict[str, Any], kind: str, named: str) -> None:
    payload = payload | {named: kind}
    assert parse(7, with_fields(payload), ZONE) == parse(7, payload, ZONE)


@pytest.mark.parametrize("payload", [one for one in older.POINTS if one.get("source") != "entity_store"])
def test_so_do_those_of_the_sample(payload: dict[str, Any]) -> None:
    assert parse(7, with_fields(payload), ZONE) == parse(7, payload, ZONE)
