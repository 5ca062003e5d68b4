"""Compact lines, letter for letter as the documents that asked for them print them."""

from typing import Any

import pytest

from relrag_query.display.metadata_line import line, metadata_line

MAIL = {
    "rag_source_type": "EMAIL",
    "from": "dodavatel@firma.cz",
    "subject": "Sanitární čerpadlo - faktura",
    "timestamp": "2025-01-15T08:12:00Z",
    "total_siblings": 1,
}
ATTACHMENT = MAIL | {"rag_source_type": "email_attachment", "index_in_parent": 0, "file_name": "faktura.pdf"}
OLDER = {
    "ragSourceType": "EMAIL_ATTACHMENT",
    "emailFrom": "dodavatel@firma.cz",
    "emailSubject": "Sanitární čerpadlo - faktura",
    "emailReceivedAt": "2025-01-15T08:12:00Z",
    "attachmentIndex": 0,
    "attachmentFileName": "faktura.pdf",
    "totalAttachments": 1,
}


@pytest.mark.requirement("S3-22")
@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (
            MAIL,
            "type=email; from=dodavatel@firma.cz; subj=Sanitární čerpadlo - faktura; when=2025-01-15; related=1",
        ),
        (
            ATTACHMENT,
            "type=attachment[0]:faktura.pdf; from=dodavatel@firma.cz; "
            "subj=Sanitární čerpadlo - faktura; when=2025-01-15",
        ),
    ],
)
def test_a_mail_and_its_attachment(metadata: dict[str, Any], expected: str) -> None:
    assert line(metadata) == expected


@pytest.mark.requirement("S3-23")
def test_a_commit() -> None:
    metadata = {
        "rag_source_type": "git_history",
        "from": "jan.novak@firma.cz",
        "subject": "Fix authorization bug in UserService",
        "timestamp": "2025-01-10T14:03:00Z",
        "git_commit_hash": "a3b2c1d8e4f7a90b5c6d1e2f3a4b8c9d0e1f2a3b",
    }
    assert line(metadata) == (
        "type=commit; from=jan.novak@firma.cz; subj=Fix authorization bug in UserService; "
        "when=2025-01-10; commit=a3b2c1d8"
    )


@pytest.mark.requirement("S3-24")
@pytest.mark.parametrize(
    "people",
    [
        {"from": "Jan,Petr,Marie"},
        {"participants": ["Jan", "Petr", "Marie"]},
        {"from": "Jan, Petr, Marie", "participants": ["Jan", "Petr", "Marie"]},
    ],
)
def test_a_meeting(people: dict[str, Any]) -> None:
    metadata = people | {
        "rag_source_type": "meeting_transcript",
        "subject": "Architecture Review Q1 2025",
        "timestamp": "2025-01-08",
        "file_name": "meeting-2025-01-08.txt",
    }
    assert line(metadata) == (
        "type=meeting; from=Jan,Petr,Marie; subj=Architecture Review Q1 2025; when=2025-01-08; "
        "file=meeting-2025-01-08.txt"
    )


@pytest.mark.requirement("S3-19")
def test_an_older_index_with_email_fields_gives_the_same_line() -> None:
    assert line(OLDER) == line(ATTACHMENT)
    assert line(OLDER | {"ragSourceType": "EMAIL"}).endswith("when=2025-01-15; related=1; index=0; file=faktura.pdf")


@pytest.mark.requirement("S3-19")
def test_universal_fields_come_before_email_fields() -> None:
    assert metadata_line(OLDER | {"from": "new@firma.cz", "file_name": "new.pdf"}) == {
        "type": "attachment[0]:new.pdf",
        "from": "new@firma.cz",
        "subj": "Sanitární čerpadlo - faktura",
        "when": "2025-01-15",
    }


@pytest.mark.requirement("S3-19")
@pytest.mark.parametrize(
    ("metadata", "part", "value"),
    [
        ({"rag_source_type": "email_attachment"}, "type", "attachment[?]:unknown"),
        ({"rag_source_type": "WHATSAPP"}, "type", "whatsapp"),
        ({"rag_source_type": "email", "subject": "x" * 60}, "subj", "x" * 50),
        ({"rag_source_type": "email", "total_siblings": 0}, "related", None),
        ({"rag_source_type": "email", "total_siblings": 10}, "related", "10"),
        ({"rag_source_type": "code", "index_in_parent": 0}, "index", "0"),
        ({"rag_source_type": "code", "class_name": "UserService"}, "class", "UserService"),
        ({"ragSourceType": "CODE", "methodName": "authenticate"}, "method", "authenticate"),
        ({"ragSourceType": "GIT_HISTORY", "gitCommitHash": "0123456789"}, "commit", "01234567"),
        ({"rag_source_type": "email", "source_uri": "email://account/1"}, "uri", "email://account/1"),
        ({"rag_source_type": "documentation", "file_name": "docs/a.md"}, "file", "docs/a.md"),
    ],
)
def test_parts(metadata: dict[str, Any], part: str, value: str | None) -> None:
    assert metadata_line(metadata).get(part) == value
