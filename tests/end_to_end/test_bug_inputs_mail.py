"""Mails that other tools lost or misread: the folders of data/bugs, read as an owner would have them read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.stores import unit_state
from tests.end_to_end.test_mail_archive import Archive


def archive_of(folder: Path, tmp_path: Path) -> Archive:
    archive = Archive(tmp_path)
    for file in folder.iterdir():
        if file.name != "expected.md":
            (archive.mails / file.name).write_bytes(file.read_bytes())
    archive.export()
    archive.stages()
    return archive


@pytest.fixture
def bugs(shared_data: Path) -> Path:
    if not (shared_data / "bugs").is_dir():
        pytest.skip("data/bugs is not here")
    return shared_data / "bugs"


def mails(archive: Archive) -> list[tuple[str, str, str]]:
    """Subject, time and text of each mail, in order."""
    assert unit_state.load_failures(archive.workspace.home, "mail") == []
    rows = [row for row in archive.rows("records") if row["rag_source_type"] == "email"]
    assert {row["date_quality"] for row in rows} == {"exact"}
    return sorted((row["subject"], f"{datetime.fromtimestamp(row['ts'], UTC):%FT%TZ}", row["text"]) for row in rows)


def test_a_byte_order_mark_before_the_first_header(bugs: Path, tmp_path: Path) -> None:
    text, at = "BOMBODY the pump is fixed.", "2025-02-03T08:00:00Z"
    archive = archive_of(bugs / "mail-byte-order-mark", tmp_path)
    assert mails(archive) == [*[("Bom subject", at, text)] * 3, ("Second in bom", at, text)]
    assert {row["from"] for row in archive.rows()} == {"Jana <jana@example.org>"}


def test_dates_in_the_language_of_the_sender(bugs: Path, tmp_path: Path) -> None:
    found = mails(archive_of(bugs / "mail-date-local-names", tmp_path))
    assert [(subject, at) for subject, at, _ in found] == [
        ("date d03_lor", "2021-05-28T22:24:04Z"),
        ("date d04_Di", "2022-05-17T10:31:00Z"),
        ("date d06_cz", "2025-02-03T08:00:00Z"),
    ]


def test_japanese_as_windows_writes_it(bugs: Path, tmp_path: Path) -> None:
    found = mails(archive_of(bugs / "mail-iso-2022-jp", tmp_path))
    assert [text for *_, text in found] == ["JP0 ①②③", "JP2 髙橋さん"]


def test_texts_with_a_file_name_are_the_mail(bugs: Path, tmp_path: Path) -> None:
    archive = archive_of(bugs / "mail-named-inline-text", tmp_path)
    assert [text for *_, text in mails(archive)] in (
        ["NAMEONLY3 plain", "NAMEONLY2 the rent is paid"],
        ["NAMEONLY3 html", "NAMEONLY2 the rent is paid"],
    )
    attached = [row["file_name"] for row in archive.rows() if row["rag_source_type"] == "email_attachment"]
    assert attached == ["x.pdf"]


def test_two_mails_with_one_message_id(bugs: Path, tmp_path: Path) -> None:
    assert mails(archive_of(bugs / "mail-same-message-id", tmp_path)) == [
        ("same id one", "2025-02-03T08:00:00Z", "SAMEID alpha: the gate is open."),
        ("same id two", "2025-02-04T08:00:00Z", "SAMEID beta: the gate is locked."),
    ]


def test_mailboxes_whose_separators_have_no_date(bugs: Path, tmp_path: Path) -> None:
    assert mails(archive_of(bugs / "mbox-bare-separators", tmp_path)) == [
        (f"{name} {number}", f"2025-02-{day:02}T08:00:00Z", f"{name.upper()}{number} text")
        for name in ("addr", "bare")
        for day, number in enumerate(range(3, 7), 3)
    ]
