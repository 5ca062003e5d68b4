"""Small inputs on which relrag once failed, read as a sync reads them: calendars, charsets, tables and dates.

Each folder below data/bugs says in its expected.md what is right.
"""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from relrag_pipelines.records import Failure
from relrag_pipelines.stores import lake, unit_state
from tests import archive

CONFIG = """
keys_file = "test.keys"
timezone = "Europe/Prague"
embedder = "none"

[[sources]]
name = "input"
kind = "{kind}"
path = "input"
"""


@pytest.fixture(scope="session")
def bugs(shared_data: Path) -> Path:
    folder = shared_data / "bugs"
    if not folder.is_dir():
        pytest.skip(f"no inputs at {folder}")
    return folder


class Read:
    """The records and failures of one source."""

    def __init__(self, files: list[Path], kind: str, folder: Path) -> None:
        (folder / "input").mkdir()
        year = datetime(2021, 5, 4, tzinfo=UTC).timestamp()
        for file in files:
            os.utime(shutil.copy(file, folder / "input"), (year, year))
        (folder / "relrag.toml").write_text(CONFIG.format(kind=kind))
        home = archive.read(folder / "relrag.toml").home
        months = lake.manifest(home, "private_records", "input")
        self.records: list[dict[str, Any]] = [
            row for month in months for row in lake.read(home, "private_records", "input", month).to_pylist()
        ]
        self.failures: list[Failure] = unit_state.load_failures(home, "input")

    def record(self, name: str) -> dict[str, Any]:
        """The record of a file."""
        (record,) = [record for record in self.records if record["file_name"] == name]
        return record


def when(record: dict[str, Any]) -> str:
    return f"{datetime.fromtimestamp(record['ts'], UTC):%Y-%m-%d %H:%M}"


@pytest.fixture(scope="module")
def microsoft(bugs: Path, tmp_path_factory: pytest.TempPathFactory) -> Read:
    files = [one for one in (bugs / "meeting-ics-microsoft-zone").iterdir() if one.suffix in (".ics", ".vtt")]
    return Read(files, "meeting", tmp_path_factory.mktemp("microsoft"))


@pytest.fixture(scope="module")
def own_zone(bugs: Path, tmp_path_factory: pytest.TempPathFactory) -> Read:
    files = [one for one in (bugs / "meeting-ics-own-zone").iterdir() if one.suffix in (".ics", ".vtt")]
    return Read(files, "meeting", tmp_path_factory.mktemp("own-zone"))


def test_no_invitation_costs_its_transcript(microsoft: Read, own_zone: Read) -> None:
    for read, names in ((microsoft, ("z06_custom_ms", "z07_ms_utc", "z18_broken")), (own_zone, ("z22_badattendee",))):
        for name in names:
            assert f"Transcript {name} is here." in read.record(f"{name}.vtt")["text"]
        assert "internal" not in [failure.fault for failure in read.failures]


def test_zones_of_microsoft(microsoft: Read) -> None:
    custom, utc = microsoft.record("z06_custom_ms.vtt"), microsoft.record("z07_ms_utc.vtt")
    assert (custom["subject"], when(custom), custom["date_quality"]) == (
        *("Review z06_custom_ms", "2025-07-07 08:00", "exact"),
    )
    assert (when(utc), utc["date_quality"]) == ("2025-07-07 10:00", "exact")


def test_what_an_unreadable_start_leaves(microsoft: Read) -> None:
    broken = microsoft.record("z18_broken.vtt")
    assert (broken["subject"], broken["participants"]) == ("Review z18_broken", ["Jana"])
    assert [(one.unit, "DTSTART" in one.message) for one in microsoft.failures] == [("z18_broken.vtt", True)]


def test_the_same_invitation_in_a_mail(bugs: Path, tmp_path: Path) -> None:
    read = Read([bugs / "meeting-ics-microsoft-zone" / "z06_custom_ms.eml"], "gmail", tmp_path)
    (event,) = orjson.loads(read.record("i.ics")["extra"])["events"]
    assert (event["start"], read.failures) == ("2025-07-07 08:00 UTC", [])


def test_the_zone_of_the_file_itself_wins(own_zone: Read) -> None:
    assert [when(own_zone.record(f"{name}.vtt")) for name in ("z04_gmt_bst", "z03_GMTStd1")] == ["2025-07-07 09:00"] * 2


def test_names_with_commas(own_zone: Read) -> None:
    assert own_zone.record("z22_badattendee.vtt")["participants"] == ["Jana", "Novák; Petr", "Malá, Jana"]
    assert own_zone.failures == []


@pytest.mark.parametrize(
    ("name", "day"), [("p7_de.txt", "2016-03-03"), ("p8_fr.txt", "2017-02-12"), ("p6_usnum.txt", "2015-03-14")]
)
def test_days_that_documents_state(bugs: Path, tmp_path: Path, name: str, day: str) -> None:
    record = Read([bugs / "document-date-languages" / name], "document", tmp_path).record(name)
    assert (when(record), record["date_quality"]) == (f"{day} 00:00", "day")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("w_de_fr.txt", ["Größe und Preis: 15,50 €", "où l'élève préférait rêver"]),
        ("w_names.txt", ["Zoë Brontë, Håkon Ødegård"]),
    ],
)
def test_where_two_western_languages_meet(bugs: Path, tmp_path: Path, name: str, words: list[str]) -> None:
    text = Read([bugs / "text-cp1252" / name], "document", tmp_path).record(name)["text"]
    assert [word in text for word in words] == [True] * len(words)


def test_a_statement_with_lines_above_its_table(bugs: Path, tmp_path: Path) -> None:
    text = Read([bugs / "csv-preamble" / "bank_preamble.csv"], "document", tmp_path).record("bank_preamble.csv")["text"]
    assert text.splitlines() == [
        "Account: 123456 / Giro",
        "From: 01.01.2025",
        "To: 31.01.2025",
        "Balance: 1.234,50",
        "Date, Payee, Purpose, Amount",
        "Date: 05.01.2025; Payee: Energo a.s.; Purpose: Gas PREAMBLE; Amount: -35,00",
        "Date: 07.01.2025; Payee: Albert; Purpose: Food; Amount: -12,30",
    ]
