"""Notes of Joplin: an export file and a folder, links, encrypted and damaged items."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.notes import joplin
from tests import ROOT
from tests.sources.connector import keyed, read

SAMPLE = ROOT / "examples" / "samples" / "notes" / "Joplin" / "kitchen.jex"
SOURDOUGH, BREAD = "a" * 32, "b" * 32


def packed(file: Path, items: dict[str, bytes]) -> Path:
    """An export file of these items."""
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in items.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file


def unpacked(folder: Path) -> Path:
    """The sample as a folder of items."""
    with tarfile.open(SAMPLE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_a_note_has_its_notebook_its_tags_its_time_and_its_links() -> None:
    assert KINDS["notes"].recognise(SAMPLE)
    (sourdough, bread), failures = read("notes", SAMPLE)
    assert failures == []
    assert (sourdough.subject, sourdough.ts, sourdough.numbers) == ("Kvasnice na chleba", 1709749800, ["REL-2024-88"])
    assert sourdough.text == (
        "Kvasnice na chleba\n\nKvásek krmit každý den v 7:00.\n\nRecept: žitný chléb\n\nObjednávka REL-2024-88"
    )
    assert sourdough.extra["labels"] == ["Kuchyně", "pečení"]
    assert sourdough.extra["references"] == [f"notes:{bread.source_id}"]
    assert "49.195" not in f"{sourdough} {bread}", "coordinates are left out"


def test_a_folder_holds_the_same_notes_and_nothing_of_its_other_items(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    files = [file for file in sorted(folder.glob("*.md")) if KINDS["notes"].recognise(file)]
    assert len(files) == 5
    ids = [record.source_id for file in files for record in read("notes", file)[0]]
    assert ids == [keyed(f"joplin {SOURDOUGH}"), keyed(f"joplin {BREAD}")]
    assert ids == [record.source_id for record in read("notes", SAMPLE)[0]]


def test_a_huge_item_and_a_file_of_another_form_are_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tarfile.open(SAMPLE) as archive:
        items = {name: file.read() for name in archive.getnames() if (file := archive.extractfile(name))}
    monkeypatch.setattr(joplin, "_MAX_BYTES", 2_000)
    more = {f"{'c' * 32}.md": b"x" * 2_001, f"{'d' * 32}.md": b"No fields"}
    records, failures = read("notes", packed(tmp_path / "kitchen.jex", items | more))
    assert len(records) == 2
    assert [(failure.location, failure.fault) for failure in failures] == [
        (f"{'c' * 32}.md", "too_large"),
        (f"{'d' * 32}.md", "damaged"),
    ]


@pytest.mark.parametrize(
    ("item", "faults"),
    [
        (b"id: x\nencryption_applied: 1\ntype_: 1", ["encrypted"]),
        (b"Notebook\n\nid: x\ntype_: 2", ["empty"]),
        (b"no fields", ["damaged"]),
        (b"", ["damaged"]),
    ],
)
def test_an_export_without_a_readable_note_is_a_failure(item: bytes, faults: list[str], tmp_path: Path) -> None:
    records, failures = read("notes", packed(tmp_path / "a.jex", {f"{SOURDOUGH}.md": item}))
    assert (records, [failure.fault for failure in failures]) == ([], faults)


def test_an_export_that_is_cut_has_not_been_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "cut.jex"
    file.write_bytes(SAMPLE.read_bytes()[:1900])
    records, failures = read("notes", file)
    assert [record.subject for record in records] == ["Kvasnice na chleba"]
    assert any(failure.whole_unit for failure in failures)
