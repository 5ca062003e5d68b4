"""Mails as programs leave them: the files of tests/data/mail, each with what a person reads in it (expected.tsv)."""

import csv
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.mail import read, recognise
from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "mail"
Expected = tuple[str, str, str, str, str]


def expected() -> dict[str, list[Expected]]:
    """File -> subject, time, date_quality, text and names of attachments of each of its mails."""
    found: dict[str, list[Expected]] = defaultdict(list)
    with (FOLDER / "expected.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            text = row["text"].replace("\\n", "\n")
            found[row["file"]].append((row["subject"], row["time"], row["date_quality"], text, row["attachments"]))
    return found


def found_in(file: Path, reading: ReadContext) -> tuple[list[Expected], list[Failure]]:
    records: list[Record] = []
    failures: list[Failure] = []
    for item in read(Unit(file.name, file, file.stat().st_size, 0), reading):
        if isinstance(item, Record):
            records.append(item)
        elif isinstance(item, Failure):
            failures.append(item)
    rows = []
    for mail in (one for one in records if one.index_in_parent is None):
        time = "" if mail.ts is None else f"{datetime.fromtimestamp(mail.ts, UTC):%FT%TZ}"
        names = " ".join(one.file_name or "" for one in records if one.parent_asset_id == f"gmail:{mail.source_id}")
        whole = "\n".join([mail.text, *mail.extra.get("apart", {}).values()])
        rows.append((mail.subject or "", time, mail.date_quality, whole, names))
    return rows, failures


@pytest.mark.parametrize(("name", "mails"), expected().items(), ids=expected().keys())
def test_a_form_of_mail(name: str, mails: list[Expected], keys: Keys) -> None:
    reading = ReadContext("mail", "UTC", keys.id_hash)
    assert found_in(FOLDER / name, reading) == (mails, [])
    assert recognise(FOLDER / name)


def test_every_file_is_expected() -> None:
    assert {file.name for file in FOLDER.iterdir()} == expected().keys() | {"expected.tsv"}


@pytest.mark.parametrize(
    "data", [b"Buy milk.\nAnd bread.\n", b"note: buy milk\n\nbread\n", b"\xff\xfe" + "milk".encode("utf-16-le")]
)
def test_a_mail_without_headers_says_so(data: bytes, tmp_path: Path, keys: Keys) -> None:
    file = tmp_path / "mail.eml"
    file.write_bytes(data)
    rows, failures = found_in(file, ReadContext("mail", "UTC", keys.id_hash))
    assert [one.fault for one in failures] == ["no_header"]
    assert len(rows) == 1
    assert "milk" in rows[0][3] or "bread" in rows[0][3]
