"""Folders of sources that overlap: a file is read by one of them, whichever came first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relrag_pipelines.ingest import ownership
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import unit_state
from tests import archive
from tests.cases import cases

CHAT = archive.CHAT
MINUTES = "Participants: Dana Levi, Petr Kolar\n\nWe chose the red sleds.\n"
M4A = b"\0\0\0\x18ftypM4A \0\0\0\0M4A isom" + b"\0" * 64
ALL = {"chat": "whatsapp", "call": "call_recording", "minutes": "meeting", "papers": "document"}


def settings(folder: Path, sources: dict[str, str], **paths: str) -> Settings:
    """An archive with these sources (name -> kind), each at its path, else in the folder itself."""
    tables = [{"name": name, "kind": kind, "path": paths.get(name, ".")} for name, kind in sources.items()]
    return Settings.model_validate({"folder": folder, "sources": tables})


def readers(found: Settings) -> dict[str, list[str]]:
    """File -> the sources that read it, alone or beside another file."""
    read: dict[str, list[str]] = {}
    for source in found.sources:
        root, kind = found.source_path(source), KINDS[source.kind]
        scan = scan_units(root, kind, source, {}, "", taken=ownership.claimed_elsewhere(found, source))
        for unit in scan.units.values():
            for file in (unit.file, *unit.companions):
                read.setdefault(file.relative_to(found.folder).as_posix(), []).append(source.name)
    return read


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


FLAT: dict[str, str | bytes] = {
    "WhatsApp Chat with Dana.txt": CHAT,
    "standup.txt": MINUTES,
    "call.m4a": M4A,
    "call.txt": "Petr: Hello there\n",
    "shopping.txt": "Milk, bread.\n",
    "plan.md": "# Plan\n",
    "empty.txt": "",
    "photos.zip": b"PK\x03\x04 cut off",
}


def test_in_a_flat_folder_every_file_has_one_reader(tmp_path: Path) -> None:
    put(tmp_path, FLAT)
    assert readers(settings(tmp_path, ALL)) == {
        "WhatsApp Chat with Dana.txt": ["chat"],
        "standup.txt": ["minutes"],
        "call.m4a": ["call"],
        "call.txt": ["call"],
        "shopping.txt": ["papers"],
        "plan.md": ["papers"],
        "empty.txt": ["papers"],  # no kind recognises it: the least particular one says what is wrong with it
        "photos.zip": ["chat"],  # no other kind reads such names
    }
    assert readers(settings(tmp_path, dict(reversed(ALL.items())))) == readers(settings(tmp_path, ALL))


@pytest.mark.parametrize(*cases(__file__, "who_reads_what"))
def test_who_reads_what(
    tmp_path: Path, sources: dict[str, str], paths: dict[str, str], expected: dict[str, str | None]
) -> None:
    put(tmp_path, {"work/a.md": "# A", "work/chat.txt": CHAT, "work/empty.txt": "", "b.md": "# B", ".old/c.md": "# C"})
    read = readers(settings(tmp_path, sources, **paths))
    assert all(len(names) == 1 for names in read.values())
    assert {path: next(iter(read.get(path, [])), None) for path in expected} == expected


def test_an_excluded_file_is_left_to_the_others(tmp_path: Path) -> None:
    put(tmp_path, {"chat.txt": CHAT})
    found = settings(tmp_path, {"chat": "whatsapp", "papers": "document"})
    chat, papers = found.sources
    excluding = found.model_copy(update={"sources": [chat.model_copy(update={"exclude": ["c*"]}), papers]})
    assert (readers(found), readers(excluding)) == ({"chat.txt": ["chat"]}, {"chat.txt": ["papers"]})


def test_what_is_excluded_is_taken_by_no_source_that_does_not_recognise_it(tmp_path: Path) -> None:
    put(tmp_path, {"own/note.txt": "Milk.", "own/standup.txt": MINUTES, "work/cut.pdf": b"%PDF-1.7 and no more"})
    found = settings(tmp_path, {**ALL, "work": "document"}, work="work")
    papers = found.source("papers").model_copy(update={"exclude": ["own", "work"]})
    others = [one for one in found.sources if one.name != "papers"]
    excluding = found.model_copy(update={"sources": [*others, papers]})
    # a source of a deeper folder still reads what the one around it leaves to it, damaged or not
    assert readers(excluding) == {"own/standup.txt": ["minutes"], "work/cut.pdf": ["work"]}


CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"

[[sources]]
name = "chat"
kind = "whatsapp"
path = "flat"

[[sources]]
name = "papers"
kind = "document"
path = "flat"
"""


def units_read(folder: Path) -> dict[str, list[str]]:
    """Source -> the units that it has read."""
    return {name: sorted(unit_state.load(folder / ".relrag", name)) for name in ("chat", "papers")}


def test_files_that_come_later_go_to_one_source_and_what_was_read_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "flat", {"chat.txt": CHAT, "note.txt": "Milk."})
    (tmp_path / "relrag.toml").write_text(CONFIG)
    archive.read(tmp_path / "relrag.toml")
    put(tmp_path / "flat", {"later.txt": CHAT.replace("Dana", "Eva"), "later note.txt": "Bread."})
    opened: list[str] = []
    recognises = ownership.recognises
    monkeypatch.setattr(ownership, "recognises", lambda kind, file: opened.append(file.name) or recognises(kind, file))
    archive.read(tmp_path / "relrag.toml")
    assert units_read(tmp_path) == {"chat": ["chat.txt", "later.txt"], "papers": ["later note.txt", "note.txt"]}
    assert set(opened) == {"later.txt", "later note.txt"}

    (tmp_path / "flat" / "note.txt").write_text(CHAT.replace("Dana", "Ota"))
    archive.read(tmp_path / "relrag.toml")
    assert units_read(tmp_path) == {"chat": ["chat.txt", "later.txt", "note.txt"], "papers": ["later note.txt"]}


def test_a_source_that_is_added_takes_over_what_it_recognises(tmp_path: Path) -> None:
    put(tmp_path / "flat", {"chat.txt": CHAT, "note.txt": "Milk."})
    head, _, papers = CONFIG.split("[[sources]]")
    (tmp_path / "relrag.toml").write_text(f"{head}[[sources]]{papers}")
    archive.read(tmp_path / "relrag.toml")
    assert units_read(tmp_path)["papers"] == ["chat.txt", "note.txt"]
    (tmp_path / "relrag.toml").write_text(CONFIG)
    archive.read(tmp_path / "relrag.toml")
    assert units_read(tmp_path) == {"chat": ["chat.txt"], "papers": ["note.txt"]}


def test_a_recording_that_comes_later_takes_its_transcript(tmp_path: Path) -> None:
    put(tmp_path / "flat", {"call.txt": "Petr: Hello there\n", "other.txt": "Milk."})
    (tmp_path / "relrag.toml").write_text(CONFIG.replace("whatsapp", "call_recording"))
    archive.read(tmp_path / "relrag.toml")
    assert units_read(tmp_path) == {"chat": [], "papers": ["call.txt", "other.txt"]}
    put(tmp_path / "flat", {"call.m4a": M4A})
    archive.read(tmp_path / "relrag.toml")
    assert units_read(tmp_path) == {"chat": ["call.m4a"], "papers": ["other.txt"]}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_of_one_source_too(tmp_path: Path) -> None:
    put(tmp_path, {"chat.txt": CHAT})
    (tmp_path / "chat.txt").chmod(0)
    assert readers(settings(tmp_path, ALL)) == {"chat.txt": ["papers"]}
