"""docs/sources.md: every kind is explained and shown by a record, with the values that a person checked."""

from __future__ import annotations

from typing import Any

import pytest

from docs import kinds
from relrag_pipelines.sources import KINDS

JAN = "Jan Novák <jan.novak@firma.cz>"
HASH = "a3b2c1d8e4f7a90b5c6d1e2f3a4b8c9d0e1f2a3b"
PDF = {"content_type": "application/pdf"}
ANY = object()
"""a keyed hash, offsets, a file's time, or what the sample's own test checks"""
FILE_OF_A_CHAT = {
    "thread_id": ANY,
    "parent_asset_id": ANY,
    "parent_ref": ANY,
    "index_in_parent": 0,
    "total_siblings": 1,
}

RECORDS: list[Any] = [
    pytest.param(
        "gmail", "email", {"subject": "Sanitární čerpadlo - faktura"},
        {"from": "dodavatel@firma.cz", "to": ["Jonah Pickel <jonah@pickel.example>"], "timestamp": 1736928720,
         "parent_ref": "mail-pump-invoice", "total_siblings": 1, "content_type": "text/html"},
        marks=pytest.mark.requirement("S3-14", "S3-25"),
    ),
    pytest.param(
        "gmail", "email_attachment", {"subject": "Sanitární čerpadlo - faktura"},
        {"from": "dodavatel@firma.cz", "to": ["Jonah Pickel <jonah@pickel.example>"], "timestamp": 1736928720,
         "parent_asset_id": "gmail:mail-pump-invoice", "parent_ref": "mail-pump-invoice", "index_in_parent": 0,
         "total_siblings": 1, "content_type": "application/pdf", "file_name": "faktura.pdf", "pages": ANY,
         "numbers": ["2025/0042"]},
        marks=pytest.mark.requirement("S3-15", "S3-25"),
    ),
    pytest.param(
        "git", "git_history", {"parent_ref": HASH},
        {"from": JAN, "participants": [JAN], "subject": "Fix authorization bug in UserService", "timestamp": 1736520480,
         "content_type": "git-commit"},
        marks=pytest.mark.requirement("S3-16", "S3-25"),
    ),
    pytest.param(
        "meeting", "meeting_transcript", {"file_name": "meeting-2025-01-08.txt"},
        {"from": "Jan, Petr, Marie", "participants": ["Jan", "Petr", "Marie"],
         "subject": "Architecture Review Q1 2025", "timestamp": 1736294400,
         "parent_ref": "meeting-meeting-2025-01-08.txt", "content_type": "meeting-transcript"},
        marks=pytest.mark.requirement("S3-17", "S3-25"),
    ),
    pytest.param(
        "code", "code", {"subject": "OrderService.place"},
        {"timestamp": ANY, "parent_ref": "orders.service.OrderService", "index_in_parent": 1, "total_siblings": 2,
         "content_type": "python", "file_name": "orders/service.py"},
        marks=pytest.mark.requirement("S3-18", "S3-25"),
    ),
    pytest.param(
        "call_recording", "call_recording", {"file_name": "Call_recording_Alex_Rubin_250116_183005.m4a"},
        {"from": "Alex Rubin", "participants": ["Alex Rubin", "Jonah"], "subject": "Call with Alex Rubin",
         "timestamp": 1737045005, "parent_ref": ANY, "content_type": "m4a",
         "source_uri": "Call_recording_Alex_Rubin_250116_183005.m4a", "spoken": ANY},
        marks=pytest.mark.requirement("S3-18", "S3-25"),
    ),
    pytest.param(
        "document", "documentation", {"source_uri": "notes/brno-kancelar.md"},
        {"subject": "Kancelář v Brně", "timestamp": ANY, "content_type": ".md", "file_name": "brno-kancelar.md"},
        marks=pytest.mark.requirement("S3-18", "S3-25"),
    ),
    pytest.param(
        "whatsapp", "whatsapp_attachment", {"file_name": "00000040-report-card-mia.pdf"},
        {"from": "Shiran", "subject": "Shiran", "timestamp": ANY, "thread_id": ANY, "parent_asset_id": ANY,
         "parent_ref": ANY, "index_in_parent": 0, "total_siblings": 1, "content_type": "application/pdf"},
        marks=pytest.mark.requirement("S3-25"),
    ),
    pytest.param(
        "contacts", "contact", {"subject": "Jan Novák"}, {"content_type": "text/vcard", "people": ANY},
        marks=pytest.mark.requirement("S3-25"),
    ),
    pytest.param(
        "contacts", "relationship", {"subject": "Jonah Pickel - Noa Ben-Ami"}, {"people": ANY},
        marks=pytest.mark.requirement("S3-25"),
    ),
    pytest.param(
        "legacy", "legacy", {"from": "Dana Levi"},
        {"to": ["Petr Kolar"], "participants": ["Dana Levi", "Petr Kolar"], "subject": "Garden",
         "timestamp": 1715938200, "thread_id": "71", "parent_asset_id": "telegram:71:3", "language": "en",
         "numbers": ["INV-2044"]},
        marks=pytest.mark.requirement("S3-25"),
    ),
    pytest.param(
        "jsonl", "jsonl", {"subject": "Roof"},
        {"from": "Dana Levi", "to": ["Petr Kolar"], "participants": ["Dana Levi", "Petr Kolar"],
         "timestamp": 1715938200, "thread_id": "house", "parent_asset_id": "jsonl:sample:note-0", "parent_ref": "house",
         "index_in_parent": 0, "total_siblings": 1, "content_type": "text/plain", "file_name": "roof.txt",
         "source_uri": "https://notes.example/1", "language": "en", "numbers": ["INV-2044"], "people": ANY,
         "pages": ANY},
        marks=pytest.mark.requirement("S3-25"),
    ),
    *(pytest.param(*row, marks=pytest.mark.requirement("S3-25", "S3-26")) for row in [
        ("telegram", "telegram", {"timestamp": 1709366820},
         {"subject": "Orchard 12", "thread_id": ANY, "parent_asset_id": ANY, "content_type": "text/plain"}),
        ("telegram", "telegram_attachment", {"file_name": "plan.txt"},
         {"from": "Dana Levi", "subject": "Orchard 12", "timestamp": 1709366400, "content_type": "text/plain",
          **FILE_OF_A_CHAT}),
        ("slack", "slack", {"timestamp": 1709539560},
         {"from": "Petr Kolář", "subject": "#general", "thread_id": ANY, "parent_asset_id": ANY, "people": ANY,
          "content_type": "text/plain"}),
        ("slack", "slack_attachment", {"file_name": "notes.pdf"},
         {"from": "Ota", "subject": "#general", "timestamp": 1709540000, **PDF, **FILE_OF_A_CHAT}),
        ("messenger", "messenger", {"timestamp": 1709550200},
         {"from": "Dana Levi", "subject": "Petr Kolář", "thread_id": ANY, "content_type": "text/plain",
          "numbers": ["INV-2024-88"]}),
        ("messenger", "messenger_attachment", {"file_name": "shed_1.jpg"},
         {"from": "Petr Kolář", "subject": "Petr Kolář", "timestamp": 1709550300, "content_type": "image/jpeg",
          **FILE_OF_A_CHAT}),
        ("instagram", "instagram", {"timestamp": 1709550070},
         {"from": "Dana Levi", "subject": "leo.paints", "thread_id": ANY, "content_type": "text/plain"}),
        ("instagram", "instagram_attachment", {"file_name": "a1.mp4"},
         {"from": "Dana Levi", "subject": "leo.paints", "timestamp": 1709550040, "content_type": "video/mp4",
          **FILE_OF_A_CHAT}),
        ("sms", "sms", {"timestamp": 1709546460},
         {"from": "Jonah", "to": ["Petr Kolář"], "subject": "Petr Kolář", "thread_id": ANY, "people": ANY,
          "content_type": "text/plain"}),
        ("sms", "sms_attachment", {"file_name": "fence.jpg"},
         {"from": "Eva Malá", "subject": "Petr Kolář, Eva Malá", "timestamp": 1709547000,
          "content_type": "image/jpeg", **FILE_OF_A_CHAT}),
        ("signal", "signal", {"timestamp": 1709553660},
         {"from": "Jonah", "subject": "Eva Malá", "thread_id": ANY, "parent_asset_id": ANY,
          "content_type": "text/plain"}),
        ("signal", "signal_attachment", {"file_name": "dog.jpg"},
         {"from": "Petr Kolář", "subject": "Petr Kolář", "timestamp": ANY, "content_type": "image/jpeg",
          **FILE_OF_A_CHAT}),
        ("imessage", "imessage", {"timestamp": 1709550060},
         {"from": "+420601234567", "subject": "+420601234567", "thread_id": ANY, "parent_asset_id": ANY,
          "content_type": "text/plain"}),
        ("imessage", "imessage_attachment", {"file_name": "barn.pdf"},
         {"from": "+420601234567", "subject": "+420601234567", "timestamp": 1709550200, **PDF, **FILE_OF_A_CHAT}),
        ("teams", "teams", {"timestamp": 1709550300},
         {"from": "Petr Kolář", "subject": "Irrigation", "thread_id": ANY, "parent_asset_id": ANY,
          "content_type": "text/plain", "numbers": ["2024/0117"]}),
        ("teams", "teams_attachment", {"file_name": "pump.pdf"},
         {"from": "Dana Levi", "subject": "Irrigation", "timestamp": 1709550200, **PDF, **FILE_OF_A_CHAT}),
        ("discord", "discord", {"timestamp": 1709542920},
         {"from": "Petr Kolář", "subject": "Mappers / #general", "thread_id": ANY, "parent_asset_id": ANY,
          "parent_ref": ANY, "total_siblings": 1, "content_type": "text/plain"}),
        ("discord", "discord_attachment", {"file_name": "bridge.gpx"},
         {"from": "Petr Kolář", "subject": "Mappers / #general", "timestamp": 1709542920,
          "content_type": "application/octet-stream", **FILE_OF_A_CHAT}),
        ("twitter", "twitter", {"timestamp": 1709722800},
         {"from": "Jonah", "subject": "Posts of @danalevi_orchard", "thread_id": ANY, "parent_asset_id": ANY,
          "content_type": "text/plain", "people": ANY}),
        ("twitter", "twitter_attachment", {"file_name": "ladder.jpg"},
         {"from": "Petr Kolář", "subject": "Petr Kolář", "timestamp": 1709726400, "content_type": "image/jpeg",
          **FILE_OF_A_CHAT}),
        ("linkedin", "linkedin", {"timestamp": 1709719200},
         {"from": "Petr Kolář", "to": ["Dana Levi"], "subject": "Dana Levi, Petr Kolář", "thread_id": ANY,
          "content_type": "text/plain", "numbers": ["REL-2024-51"]}),
        ("ai_chat", "ai_chat", {"timestamp": 1709550140},
         {"from": "ChatGPT", "subject": "Pruning the old apple tree", "thread_id": ANY, "parent_asset_id": ANY,
          "content_type": "text/plain", "numbers": ["INV-2024-119"]}),
        ("ai_chat", "ai_chat_attachment", {"file_name": "lease-workshop.txt"},
         {"from": "Jonah", "subject": "Lease of the workshop", "timestamp": 1709715610, "content_type": "text/plain",
          "numbers": ["2024/0311"], **FILE_OF_A_CHAT}),
        ("google_chat", "google_chat", {"timestamp": 1709543130},
         {"from": "Petr Kolář", "subject": "Orchard planning", "thread_id": ANY, "parent_asset_id": ANY,
          "content_type": "text/plain", "people": ANY}),
        ("google_chat", "google_chat_attachment", {"file_name": "delivery note.pdf"},
         {"from": "Dana Levi", "subject": "Orchard planning", "timestamp": 1709557800, **PDF, **FILE_OF_A_CHAT}),
    ]),
    pytest.param(
        "calendar", "calendar_event", {"subject": "Abnahme der neuen Presse"},
        {"from": "Vogt, Annegret <annegret.vogt@werk.example>", "to": ["Brückner, Jana <jana.brueckner@werk.example>"],
         "participants": ANY,
         "timestamp": 1720080000, "content_type": "text/calendar", "numbers": ["2024-0815"]},
    ),
    pytest.param(
        "tasks", "task", {"subject": "Imprimer la lettre"},
        {"timestamp": 1708540200, "thread_id": ANY, "parent_asset_id": ANY, "content_type": "application/json"},
    ),
    pytest.param(
        "notes", "note", {"subject": "Einkauf"},
        {"participants": ["annegret.vogt@mail.example"], "timestamp": 1706860800, "content_type": "application/json",
         "file_name": "Einkauf.json", "source_uri": "Takeout/Keep/Einkauf.json"},
    ),
    pytest.param(
        "bank", "bank_transaction", {"file_name": "vypis.csv", "timestamp": 1709510400},
        {"to": ["Tesařství Blaha"], "participants": ["Tesařství Blaha"], "subject": "Tesařství Blaha -48250.50 CZK",
         "thread_id": ANY, "content_type": "text/csv", "source_uri": "vypis.csv",
         "numbers": ["240071"]},
    ),
    pytest.param(
        "photos", "photo", {"file_name": "IMG_2041.jpg"},
        {"subject": "Waiting for the ferry, Theo with the blue tent", "timestamp": 1691829660, "thread_id": ANY,
         "content_type": ".jpg", "source_uri": "Google Photos/Holyhead 2023/IMG_2041.jpg", "people": ANY},
    ),
    pytest.param(
        "paperless", "paperless", {"file_name": "scan0017.pdf"},
        {"from": "Stadtwerke Brno", "subject": "Invoice of January", "timestamp": 1736985600,
         "content_type": "application/pdf", "source_uri": ANY, "pages": ANY, "numbers": ANY},
        marks=pytest.mark.requirement("S0-44", "S0-46"),
    ),
    pytest.param(
        "imap", "email", {"subject": "Key of the cabin"},
        {"from": "Alex Rubin <alex@rubin.example>", "to": ["Jonah Pickel <jonah@pickel.example>"],
         "timestamp": 1737047100, "parent_ref": "cabin-key@mail.example", "total_siblings": 0,
         "content_type": "text/plain"},
    ),
    pytest.param(
        "imap", "email_attachment", {"file_name": "things to bring.md"},
        {"from": "Jonah Pickel <jonah@pickel.example>", "to": ["Alex Rubin <alex@rubin.example>"],
         "subject": "Re: Key of the cabin", "timestamp": 1737052800,
         "parent_asset_id": "gmail:cabin-key-2@mail.example",
         "parent_ref": "cabin-key-2@mail.example", "index_in_parent": 0, "total_siblings": 1,
         "content_type": "text/markdown"},
    ),
]  # fmt: skip


@pytest.mark.requirement("S3-5", "S3-6", "S3-7", "S3-8", "S3-9", "S3-10", "S3-11", "S3-12")
@pytest.mark.parametrize(("kind", "rag_source_type", "which", "expected"), RECORDS)
def test_a_record_of_each_kind_has_every_field_that_it_can(
    kind: str, rag_source_type: str, which: dict[str, Any], expected: dict[str, Any]
) -> None:
    (record,) = (
        one
        for one in kinds.samples()[kind, rag_source_type]
        if all(kinds.value(one, field) == value for field, value in which.items())
    )
    said = {field: kinds.value(record, field) for field in kinds.FIELDS if kinds.value(record, field) is not None}
    assert said == {field: said.get(field) if value is ANY else value for field, value in (which | expected).items()}
    assert None not in [said.get(field) for field in expected]


def test_every_kind_is_shown_and_explained() -> None:
    assert {kind for kind, _ in kinds.samples()} == KINDS.keys()
    tested = {(case.values[0], case.values[1]) for case in RECORDS}
    assert kinds.samples().keys() - tested == {("whatsapp", "whatsapp")}, "a message itself fills little"
    assert {file.stem for file in (kinds.DOCS / "exports").iterdir()} == KINDS.keys()


def test_the_matrix_says_what_the_samples_fill() -> None:
    lines = kinds.page().splitlines()
    names, *rows = ([cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `"))
    head = next(line for line in lines if line.startswith("| field | `"))
    types = [cell.strip(" `") for cell in head.split("|")[2:-1]]
    matrix = {row[0]: dict(zip(types, row[1:], strict=True)) for row in [names, *rows] if len(row) == len(types) + 1}
    assert set(matrix) == set(kinds.FIELDS)
    assert matrix["thread_id"]["email"] == matrix["parent_ref"]["git_history"] == matrix["file_name"]["code"] == "●"
    assert matrix["index_in_parent"]["code"] == "○", "a class and a file have no place"
    assert matrix["to"]["meeting_transcript"] == ""
