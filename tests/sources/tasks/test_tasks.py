"""Tasks of Google and of calendars: the samples, and damaged files."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from tests.conftest import ROOT
from tests.sources.connector import keyed, read, survives

SAMPLES = ROOT / "examples" / "samples" / "tasks"


def test_google_tasks() -> None:
    (lease, letter, truck), failures = read("tasks", SAMPLES / "Tasks.json")
    assert failures == []
    assert lease.text.split("\n") == [
        "Résilier le bail de la rue Pasteur",
        "list: Déménagement",
        "due: 2024-03-15",
        "Lettre recommandée, préavis d'un mois.",
    ]
    assert (lease.ts, lease.date_quality) == (int(datetime(2024, 3, 15, tzinfo=UTC).timestamp()), "day")
    assert letter.parent_asset_id == f"tasks:{lease.source_id}"
    assert (letter.extra["status"], lease.extra["status"]) == ("completed", "open")
    assert "Devis camion https://mail.google.com/mail/#all/18dc" in truck.text
    assert {record.thread_id for record in (lease, letter, truck)} == {keyed("bGlzdC0x")}


def test_tasks_of_a_calendar() -> None:
    (boiler, library), failures = read("tasks", SAMPLES / "errands.ics")
    assert failures == []
    assert boiler.ts == int(datetime(2024, 10, 7, 8, tzinfo=UTC).timestamp())
    assert (boiler.subject, boiler.rag_source_type) == ("Have the boiler serviced", "task")
    assert library.text.split("\n") == ["Return the library books", "2024-09-14", "done"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [('{"kind": "tasks#taskLists", "items": [', "not_json"), ('{"items": []}', "wrong_format"), ("[]", "wrong_format")],
)
def test_what_is_no_list_of_tasks(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "Tasks.json"
    file.write_text(text)
    records, failures = read("tasks", file)
    assert (records, [failure.fault for failure in failures]) == ([], [fault])


def test_recognise(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"kind": "calendar"}')
    assert not KINDS["tasks"].recognise(tmp_path / "other.json")
    assert all(KINDS["tasks"].recognise(file) for file in SAMPLES.iterdir())


@pytest.mark.parametrize("name", ["Tasks.json", "errands.ics"])
def test_damaged_lists(tmp_path: Path, name: str) -> None:
    survives("tasks", SAMPLES / name, tmp_path)
