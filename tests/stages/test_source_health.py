"""Checks of what is usual in a source; figures that a person counted in the files."""

import json
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.stages import source_health
from relrag_pipelines.stages.source_health import Verdict
from relrag_pipelines.stores import lake
from tests import archive
from tests.cases import cases


def verdicts(folder: Path, rows: list[dict[str, str]]) -> dict[str, Verdict]:
    """What the checks say of a source with these notes on 2025-01-20."""
    config = archive.make(folder)
    (folder / "notes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    workspace = archive.workspace(config)
    source = workspace.settings.source("notes")
    ingest(workspace, source)
    return {check.name: check.run(workspace, source) for check in source_health.CHECKS}


def note(number: int, day: str = "") -> dict[str, str]:
    """A note; without a day it has no date."""
    return {"id": f"n{number}", "text": f"Note {number}"} | ({"timestamp": f"{day}T08:00:00Z"} if day else {})


def every(days: int, last: str, count: int = 30) -> list[dict[str, str]]:
    """Notes at equal intervals, the last on a given day."""
    end = date.fromisoformat(last)
    return [note(number, str(end - timedelta(days=days * number))) for number in range(count)]


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2025-01-20T12:00:00+00:00")


def test_undated_records_are_counted_by_month(tmp_path: Path) -> None:
    verdict = verdicts(tmp_path, [*every(7, "2025-01-19", 6), note(100), note(101)])["undated_records"]
    assert dict(verdict.figures) == {"undated": 2, "share": 0.25, "2000-01": 2}
    assert verdict.sentence == "2 of 8 records have no usable date and lie in 2000-01"


def test_records_that_all_have_a_date_pass(tmp_path: Path) -> None:
    assert verdicts(tmp_path, every(7, "2025-01-19"))["undated_records"] == Verdict(True, {"undated": 0, "share": 0.0})


@pytest.mark.parametrize(*cases(__file__, "a_source_is_silent_longer_than_its_longest_interval"))
def test_a_source_is_silent_longer_than_its_longest_interval(
    tmp_path: Path, interval: int, last: str, silent: bool
) -> None:
    assert verdicts(tmp_path, every(interval, last))["silence"].passed is not silent


def test_days_are_read_of_the_last_two_years_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, months = lake.read, set[str]()

    def read_and_note(home: Path, table: str, source: str, month: str, columns: list[str]) -> pa.Table:
        months.add(month)
        return read(home, table, source, month, columns)

    config = archive.make(tmp_path)
    (tmp_path / "notes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in every(60, "2024-12-30", 20)))
    workspace = archive.workspace(config)
    source = workspace.settings.source("notes")
    ingest(workspace, source)
    monkeypatch.setattr(lake, "read", read_and_note)
    assert dict(source_health.silence(workspace, source).figures) == {"silent_days": 21, "longest_interval_days": 60}
    assert (min(months), max(months)) == ("2023-01", "2024-12")


def test_an_empty_month_is_unusual_where_nearly_all_are_full(tmp_path: Path) -> None:
    months = [f"{year}-{month:02d}-15" for year in (2023, 2024) for month in range(1, 13)]
    lacking = [note(number, day) for number, day in enumerate(months) if not day.startswith("2024-03")]
    verdict = verdicts(tmp_path, lacking)["unusual_gaps"]
    assert dict(verdict.figures) == {"empty_months": 1, "full_months": 23}
    assert "2024-03" in verdict.sentence


def test_empty_months_are_usual_in_a_source_of_few_records(tmp_path: Path) -> None:
    assert verdicts(tmp_path, [note(1, "2023-01-15"), note(2, "2024-01-15")])["unusual_gaps"].passed


def test_items_that_could_not_be_read_are_a_share_of_all(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    (tmp_path / "notes.jsonl").write_text("".join(f"{json.dumps(note(n, '2025-01-15'))}\n" for n in range(3)) + "{\n")
    workspace = archive.workspace(config)
    ingest(workspace, workspace.settings.source("notes"))
    verdict = source_health.failure_share(workspace, workspace.settings.source("notes"))
    assert (verdict.passed, dict(verdict.figures)) == (False, {"failures": 1, "share": 0.25})


def test_contacts_need_no_date(tmp_path: Path) -> None:
    config = archive.make(tmp_path, '[[sources]]\nname = "cards"\nkind = "contacts"\npath = "cards.vcf"\n')
    (tmp_path / "cards.vcf").write_text("BEGIN:VCARD\nVERSION:3.0\nFN:Noa Levi\nEND:VCARD\n")
    workspace = archive.workspace(config)
    source = workspace.settings.source("cards")
    ingest(workspace, source)
    assert source_health.undated_records(workspace, source) == Verdict(True, {"undated": 0, "share": 0.0})


SIGNED = """From: Orly Navon <orly@bluefin.example>
To: jonah@pickel.example
Subject: The contract
Date: Tue, 14 Jan 2025 10:04:00 +0100
Message-ID: <signed@bluefin.example>

The notice period is sixty days now.

--
Orly Navon
Legal counsel, Bluefin Logistics
"""


def test_a_signature_needs_no_vector(tmp_path: Path) -> None:
    config = archive.make(tmp_path, '[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"\n')
    config.write_text(config.read_text().replace('embedder = "none"', 'embedder = "e5"'))
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "signed.eml").write_text(SIGNED)
    workspace = archive.first_sync(config)
    source = workspace.settings.source("mail")
    figures = source_health.embedded_share(workspace, source).figures
    assert dict(figures) == {"passages": 1, "vectors": 1, "share": 1.0}
