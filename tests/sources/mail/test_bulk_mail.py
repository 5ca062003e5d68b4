"""Why a mail counts as bulk."""

import email
from pathlib import Path

import pytest

from relrag_pipelines.sources.mail.bulk_mail import bulk_reason
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "reasons"))
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
