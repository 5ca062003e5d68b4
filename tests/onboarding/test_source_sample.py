"""Records, text and months of a source, estimated from some of its files."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relrag_pipelines.onboarding.discover import discover
from relrag_pipelines.onboarding.source_sample import SourceContent, examine


def content(folder: Path) -> SourceContent:
    (found,) = discover(folder).sources
    return examine(folder, found, "UTC", seconds=30)


def mail(number: int, text: str, attachment: int = 0) -> str:
    sent = datetime(2024, 1 + number % 12, 5, 8, tzinfo=UTC)
    head = f"From: Dana <dana@example.com>\nTo: eva@example.com\nMessage-ID: <{number}@example.com>\nSubject: s\n"
    head += f"Date: {sent:%a, %d %b %Y %H:%M:%S +0000}\n"
    if not attachment:
        return f"{head}\n{text}\n"
    head += 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n'
    image = f"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n{'QUJD' * attachment}"
    return f"{head}\n--b\nContent-Type: text/plain\n\n{text}\n--b\n{image}\n--b--\n"


def test_mails_count_by_their_text_and_not_by_what_is_attached(tmp_path: Path) -> None:
    for number in range(24):
        (tmp_path / f"{number}.eml").write_text(mail(number, "The boiler is broken again. " * 10, attachment=20_000))
    found = content(tmp_path)
    assert (found.records, found.months) == (48, 12), "each mail and what is attached to it"
    assert found.text == pytest.approx(24 * 280, rel=0.05)


def test_a_long_chat_is_estimated_from_its_beginning(tmp_path: Path) -> None:
    day = datetime(2023, 1, 1, 9, tzinfo=UTC)
    lines = [f"{day + timedelta(hours=4 * n):%d/%m/%Y, %H:%M} - Dana: The key is in drawer {n}\n" for n in range(2_190)]
    (tmp_path / "WhatsApp Chat with Dana.txt").write_text("".join(lines))
    found = content(tmp_path)
    assert found.records == pytest.approx(2_190, rel=0.1)
    assert found.months == pytest.approx(12, abs=2)
    assert found.text == pytest.approx(2_190 * 25, rel=0.2)


def test_a_sample_of_many_files_stands_for_all(tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"note {number} 2024-{1 + number % 6:02}-03.md").write_text(
            "# Lease\n\n" + "The tenant pays. " * 20
        )
    found = content(tmp_path)
    assert found.records == pytest.approx(120)
    assert found.months == 6
    assert found.text == pytest.approx(120 * 345, rel=0.1)


def test_what_cannot_be_read_is_estimated_from_its_size(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text(json.dumps({"id": "n", "text": "t"}) + "\n")
    (found,) = discover(tmp_path).sources
    (tmp_path / "notes.jsonl").unlink()
    assert examine(tmp_path, found, "UTC").records == 1
