"""Mails out of mailboxes of every form."""

import io
from pathlib import Path

import pytest

from relrag_pipelines.sources.mail import mailbox
from relrag_pipelines.sources.mail.mailbox import mails, starts_item_at
from tests.cases import cases

ONE = b"Subject: one\n\nhello\n"
TWO = b"Subject: two\n\nworld\n"


def split(data: bytes, tmp_path: Path, start: int = 0) -> list[bytes]:
    file = tmp_path / "box.mbox"
    file.write_bytes(data)
    return [mail.data for mail in mails(file, start)]


@pytest.mark.parametrize(*cases(__file__, "a_mail_begins_with_its_from_line.line"))
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_mail_begins_with_its_from_line(line: bytes, end: bytes, tmp_path: Path) -> None:
    data = b"".join(line + b"\n" + mail + b"\n" for mail in (ONE, TWO)).replace(b"\n", end)
    assert split(data, tmp_path) == [(mail + b"\n").replace(b"\n", end) for mail in (ONE, TWO)]


@pytest.mark.parametrize(
    "text",
    [
        b"From Monday on we meet at 10:30.\n",  # no year, no header behind it
        b"From Monday Jan 6 2025 on we meet at 10:30.\nBring bread.\n",
        b"From here on:\n",
    ],
)
def test_a_line_of_text_begins_no_mail(text: bytes, tmp_path: Path) -> None:
    data = b"From a@b Mon Jan  6 08:40:00 2025\nSubject: one\n\nhello\n\n" + text + b"bye\n"
    assert len(split(data, tmp_path)) == 1


def test_quoted_from_lines_are_restored(tmp_path: Path) -> None:
    """mboxrd quotes every line that begins with any number of > and From."""
    data = b"From a@b Mon Jan  6 08:40:00 2025\nSubject: one\n\n>From the top\n>>From below\n> From far\n"
    assert split(data, tmp_path) == [b"Subject: one\n\nFrom the top\n>From below\n> From far\n"]


def test_content_length_tells_the_end_where_it_is_true(tmp_path: Path) -> None:
    """mboxcl2 quotes nothing: a whole mail in the text of another is text."""
    inner = b"\nFrom a@b Mon Jan  6 08:40:00 2025\nSubject: inner\n\n>From me\n"
    head = b"From a@b Mon Jan  6 08:40:00 2025\nSubject: outer\nContent-Length: %d\n\n"
    data = head % len(inner) + inner + b"\n" + head % 6 + b"hello\n"
    found = split(data, tmp_path)
    assert [mail.partition(b"\n")[0] for mail in found] == [b"Subject: outer", b"Subject: outer"]
    assert b">From me" in found[0]
    wrong = head % 9999 + b"hello\n\n" + head % 3 + b"world\n"
    assert [mail.endswith(b"hello\n\n") for mail in split(wrong, tmp_path)] == [True, False]


def test_places_are_offsets_and_reading_goes_on_from_one(tmp_path: Path) -> None:
    line = b"From a@b Mon Jan  6 08:40:00 2025\n"
    first = line + ONE + b"\n"
    file = tmp_path / "box.mbox"
    file.write_bytes(first + line + TWO + b"\n")
    assert [mail.offset for mail in mails(file)] == ["0", str(len(first))]
    assert [(mail.offset, mail.data) for mail in mails(file, len(first))] == [(str(len(first)), TWO + b"\n")]
    assert [starts_item_at(file, offset) for offset in (0, len(first), len(first) - 1, 5, len(first) + 9)] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_a_mailbox_larger_than_what_is_held_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cut falls somewhere in a From line, whatever the size of the block."""
    line = b"From a@b Mon Jan  6 08:40:00 2025\n"
    bodies = [b"Subject: %d\n\n" % number + b"x" * (number % 37) + b"\n\n" for number in range(200)]
    data = b"".join(line + body for body in bodies)
    monkeypatch.setattr(mailbox, "_MAX_LINE_LENGTH", 60)
    for block in (1, 7, 64, 1000):
        monkeypatch.setattr(mailbox, "_BLOCK", block)
        assert [mail.data for mail in mailbox._split(io.BytesIO(data), 0)] == bodies


def test_a_mail_that_is_too_large_is_told_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox, "MAX_MAIL", 10_000)
    monkeypatch.setattr(mailbox, "_BLOCK", 1_000)
    line = b"From a@b Mon Jan  6 08:40:00 2025\n"
    large = line + b"Subject: large\n\n" + b"0123456789\n" * 5_000 + b"\n"
    file = tmp_path / "box.mbox"
    file.write_bytes(line + ONE + b"\n" + large + line + TWO)
    found = list(mails(file))
    assert [mail.data for mail in found] == [ONE + b"\n", b"", TWO]
    assert found[1].size == len(large)


def test_a_truncated_mailbox_gives_what_is_there(tmp_path: Path) -> None:
    line = b"From a@b Mon Jan  6 08:40:00 2025\n"
    assert split(line + ONE + b"\n" + line + b"Subj", tmp_path) == [ONE + b"\n", b"Subj"]
