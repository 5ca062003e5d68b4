"""Why a mail counts as bulk."""

import email
from pathlib import Path

import pytest

from relrag_pipelines.sources.mail.bulk_mail import bulk_reason


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ([], None),
        ([("From", "dana@example.org"), ("Subject", "List-Id: x")], None),
        ([("Auto-Submitted", "auto-replied (vacation)")], "auto_submitted"),
        ([("Auto-Submitted", "No"), ("X-Priority", "1")], None),
        ([("X-Autoreply", "yes")], "auto_submitted"),
        ([("Precedence", "auto_reply")], "auto_submitted"),
        ([("List-Post", "<mailto:trains@example.org>"), ("List-Id", "<trains.example.org>")], "mailing_list"),
        ([("LIST-ID", "News <news.example.org>"), ("List-Post", "NO (posting not allowed)")], "list_id"),
        ([("List-Unsubscribe", "<https://example.org/u>"), ("Precedence", "bulk")], "unsubscribe"),
        ([("List-Unsubscribe", " ")], None),
        ([("Precedence", " Bulk ")], "precedence"),
        ([("Precedence", "first-class")], None),
        ([("X-Campaign-Id", "7"), ("Feedback-ID", "7:shop")], "campaign"),
        ([("X-MC-User", "abc")], "campaign"),
        ([("Feedback-ID", "1.eu-west-1.x:AmazonSES")], "feedback_id"),
    ],
)
def test_reasons(headers: list[tuple[str, str]], reason: str | None) -> None:
    assert bulk_reason(headers) == reason


def test_real_mails(shared_data: Path) -> None:
    def of(name: str) -> str | None:
        return bulk_reason(
            (name, str(value)) for name, value in email.message_from_bytes((mail / name).read_bytes()).items()
        )

    mail = shared_data / "mail"
    assert of("cpython/msg_33.txt") == "precedence"
    assert of("mikel_mail/multipart_report_emails/report_422.eml") == "auto_submitted"
    assert of("mikel_mail/error_emails/empty_in_reply_to.eml") == "list_id"
    assert of("mikel_mail/plain_emails/raw_email_reply.eml") is None
