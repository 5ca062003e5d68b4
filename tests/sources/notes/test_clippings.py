"""Highlights and notes of a Kindle."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from tests import ROOT
from tests.sources.connector import read

SAMPLE = ROOT / "examples" / "samples" / "notes" / "Kindle" / "My Clippings.txt"


def test_a_highlight_and_a_note_are_records_and_a_bookmark_is_none() -> None:
    assert KINDS["notes"].recognise(SAMPLE)
    records, failures = read("notes", SAMPLE)
    assert [(record.subject, record.ts, record.text) for record in records] == [
        (
            "The Orchard Year (Hana Vrbová)",
            1709673072,  # 5 March 2024, 22:11:12 in Prague
            "The Orchard Year (Hana Vrbová)\nPrune stone fruit only in summer, when the wounds heal fast.",
        ),
        (
            "Včelař a jeho rok (Karel Šíp)",
            1709755500,
            "Včelař a jeho rok (Karel Šíp)\nZavolat panu Šípovi na +420 601 234 567",
        ),
    ]
    assert records[0].extra == {"place": "Your Highlight on page 12 | Location 180-182"}
    assert failures == []


def test_a_clipping_has_the_same_id_after_others_were_added(tmp_path: Path) -> None:
    ids = [record.source_id for record in read("notes", SAMPLE)[0]]
    first, _, third, _ = SAMPLE.read_text(encoding="utf-8-sig").split("==========\n")
    file = tmp_path / "My Clippings.txt"
    file.write_text("==========\n".join([third, first, ""]), encoding="utf-8")
    assert [record.source_id for record in read("notes", file)[0]] == ids[::-1]


def test_a_highlight_and_a_note_of_one_moment_are_two_records(tmp_path: Path) -> None:
    title, about = SAMPLE.read_text(encoding="utf-8-sig").split("\n")[:2]
    file = tmp_path / "My Clippings.txt"
    file.write_text(
        "".join(f"{title}\n{about}\n\n{text}\n==========\n" for text in ("Prune", "Graft")), encoding="utf-8"
    )
    records, failures = read("notes", file)
    assert [record.text.rpartition("\n")[2] for record in records] == ["Prune", "Graft"]
    assert records[0].source_id != records[1].source_id
    assert failures == []


@pytest.mark.parametrize(
    ("end", "faults"),
    [("A book\nwithout a place\n==========\n", ["no_clipping"]), ("A book\n- Your Highl", ["truncated"])],
)
def test_a_damaged_clipping_is_a_failure(end: str, faults: list[str], tmp_path: Path) -> None:
    file = tmp_path / "My Clippings.txt"
    file.write_text(SAMPLE.read_text(encoding="utf-8") + end, encoding="utf-8")
    records, failures = read("notes", file)
    assert (len(records), [failure.fault for failure in failures]) == (2, faults)
