"""Notes of four programs: the samples, links between them, and damaged files."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.notes.links import links_of_paths, shown_links
from tests.cases import cases
from tests.conftest import ROOT
from tests.sources.connector import keyed, packed, read, survives

SAMPLES = ROOT / "examples" / "samples" / "notes"
BLAHA = f"notes:{keyed('vault/Tesařství Blaha.md')}"
PERGOLA = f"notes:{keyed('vault/Projekty/Pergola.md')}"
VISIT = f"notes:{keyed('vault/2024-04-13.md')}"


def note(path: str) -> Record:
    (record,), failures = read("notes", SAMPLES / path, SAMPLES)
    assert failures == []
    return record


def day(record: Record) -> str:
    return f"{datetime.fromtimestamp(record.ts or 0, UTC):%Y-%m-%d}"


def test_a_note_of_obsidian() -> None:
    found = note("vault/Projekty/Pergola.md")
    assert (found.subject, day(found), found.source_id) == ("Pergola", "2024-04-06", keyed("vault/Projekty/Pergola.md"))
    assert found.extra["tags"] == ["zahrada", "dřevo", "stavba"]
    assert found.extra["aliases"] == ["Pergola u domu"]
    assert found.extra["references"] == [BLAHA, VISIT]
    assert "Modřínové trámy od pana Blahy, cena 31 400 Kč." in found.text


def test_links_are_found_by_name_and_by_path() -> None:
    assert note("vault/Tesařství Blaha.md").extra["references"] == [PERGOLA]
    daily = note("vault/2024-04-13.md")
    assert daily.extra["references"] == [BLAHA]
    assert (day(daily), daily.date_quality) == ("2024-04-13", "day")


@pytest.mark.parametrize(*cases(__file__, "where_a_link_leads"))
def test_where_a_link_leads(link: str, target: str | None) -> None:
    links = links_of_paths(["a/Roof.md", "b/c/b/Roof.md", "My notes.md", "here.md"])
    assert links.targets(link, "here.md") == [target] * (target is not None)


def test_the_note_in_the_same_folder_comes_first() -> None:
    links = links_of_paths(["Roof.md", "house/Roof.md", "house/here.md"])
    assert links.targets("[[Roof]]", "house/here.md") == ["house/Roof.md"]
    assert shown_links("see [[Roof|the roof]] and ![[Plan]]") == "see the roof and Plan"


def test_a_list_of_keep() -> None:
    found = note("Takeout/Keep/Einkauf.json")
    assert found.text.split("\n") == ["Einkauf", "- [x] Hefe", "- [ ] Roggenmehl 1150"]
    assert (found.ts, found.extra["labels"]) == (1_706_860_800, ["Küche"])
    assert found.participants == ["annegret.vogt@mail.example"]
    assert "https://cakes.example/honey" in note("Takeout/Keep/מתכון.json").text


def test_of_keep_the_page_beside_a_note_and_the_trash_are_left_out() -> None:
    assert read("notes", SAMPLES / "Takeout/Keep/Einkauf.html", SAMPLES) == ([], [])
    records, failures = read("notes", SAMPLES / "Takeout/Keep/2023-12-01T08_00_00.json", SAMPLES)
    assert (records, [failure.fault for failure in failures]) == ([], ["ignored"])


def test_a_note_of_apple() -> None:
    found = note("iCloud Notes/Notes/Packing list/Packing list-2023-08-01T09_15_00Z.txt")
    assert (found.subject, day(found)) == ("Packing list", "2023-08-01")
    assert "Theo's inhaler" in found.text


def test_an_export_of_notion() -> None:
    records, failures = read("notes", SAMPLES / "Export-notion.zip")
    assert failures == []
    assert [record.subject for record in records] == ["Projet verger", "Compte rendu", "Pépinières"]
    project, minutes, table = records
    assert project.extra["references"] == [f"notes:{table.source_id}", f"notes:{minutes.source_id}"]
    assert "Nom: Petit; Prix: 15 €" in table.text
    assert minutes.source_id == keyed("notion 99998888777766665555444433332222")


def test_recognise(tmp_path: Path) -> None:
    ours = [file for file in SAMPLES.rglob("*") if file.is_file() and ".obsidian" not in file.parts]
    assert [file.name for file in ours if not KINDS["notes"].recognise(file)] == []
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "a.json").write_text("{}")
    others = [tmp_path / "a.md", tmp_path / "a.json", packed(tmp_path / "a.zip", {"a.md": "# A"})]
    assert [file.name for file in others if KINDS["notes"].recognise(file)] == []


def test_a_zip_within_a_zip_says_what_to_do(tmp_path: Path) -> None:
    file = packed(tmp_path / "a.zip", {"Export-Part-1.zip": b"PK", "a.md": "# A"})
    records, failures = read("notes", file)
    assert [record.subject for record in records] == ["a"]
    assert [(failure.location, failure.fault) for failure in failures] == [("Export-Part-1.zip", "nested_zip")]


@pytest.mark.parametrize("name", ["vault/Projekty/Pergola.md", "Takeout/Keep/Einkauf.json", "Export-notion.zip"])
def test_damaged_notes(tmp_path: Path, name: str) -> None:
    survives("notes", SAMPLES / name, tmp_path)


def test_notes_of_evernote() -> None:
    (plane, paint), failures = read("notes", SAMPLES / "Evernote" / "Dílna.enex", SAMPLES)
    assert failures == []
    assert plane.text == (
        "Hoblík Veritas\nSklon želízka 38°, cena 6 490 Kč.\n[x] nabrousit\n[ ] objednat náhradní želízko\n"
        "https://hobliky.example/veritas"
    )
    assert (plane.subject, plane.from_, day(plane)) == ("Hoblík Veritas", "Jana Dvořáková", "2024-04-02")
    assert plane.extra["labels"] == ["dílna", "nářadí"]
    assert plane.extra["attachments"] == ["hoblik.jpg"]
    assert (paint.subject, day(paint), paint.locations) == (
        "Barva na plot",
        "2023-09-05",
        ["Evernote/Dílna.enex#N2"],
    )


@pytest.mark.parametrize(
    ("change", "titles", "faults"),
    [
        (lambda text: text[: text.index("Barva")], ["Hoblík Veritas"], ["truncated"]),
        (lambda text: text.replace("&nbsp;", "&nosuch;"), ["Hoblík Veritas", "Barva na plot"], []),
        (lambda text: text.replace("<title>Barva na plot</title>", ""), ["Hoblík Veritas", None], []),
        (lambda text: text.replace("20230905T080000Z", "yesterday"), ["Hoblík Veritas", "Barva na plot"], []),
        (lambda text: text.replace("</en-export>", "</oops>"), ["Hoblík Veritas", "Barva na plot"], ["truncated"]),
    ],
    ids=["cut", "unknown entity", "untitled", "no date", "wrong end"],
)
def test_damaged_exports_of_evernote(
    tmp_path: Path, change: Callable[[str], str], titles: list[str | None], faults: list[str]
) -> None:
    file = tmp_path / "a.enex"
    file.write_text(change((SAMPLES / "Evernote" / "Dílna.enex").read_text()))
    records, failures = read("notes", file)
    assert [record.subject for record in records] == titles
    assert [failure.fault for failure in failures] == faults


def test_equal_titles_of_one_second_are_two_notes_of_evernote(tmp_path: Path) -> None:
    note_ = "<note><title>List</title><created>20240101T100000Z</created><content>{}</content></note>"
    file = tmp_path / "a.enex"
    file.write_text(f"<en-export>{note_.format('One')}{note_.format('Two')}</en-export>")
    records, _ = read("notes", file)
    assert [record.text for record in records] == ["List\nOne", "List\nTwo"]
    assert len({record.source_id for record in records}) == 2


def test_an_export_of_evernote_without_notes_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.enex"
    file.write_text("<en-export></en-export>")
    records, (failure,) = read("notes", file)
    assert (records, failure.fault) == ([], "empty")
