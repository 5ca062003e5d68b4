"""Looking at the files of a source."""

import os
import shutil
from pathlib import Path

import pytest

from relrag_pipelines.ingest.scan import SourceScan, reader_with_context, scan_units
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import UnitMonth, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import unit_state
from tests import repositories
from tests.cases import cases


def source(**more: object) -> Source:
    return Source.model_validate({"name": "papers", "kind": "document", "path": "papers", **more})


def scan(root: Path, known: dict[str, UnitState] | None = None, **more: object) -> SourceScan:
    return scan_units(root, KINDS["document"], source(**more), known or {}, "reader")


def test_files_of_the_kind_are_units_and_others_are_not(tmp_path: Path) -> None:
    for name in ("b.md", "a.TXT", "sub/c d.pdf", "photo.jpg", ".hidden.md", "~$lock.docx", ".git/x.md", "old/x.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert list(scan(tmp_path, exclude=["old/*"]).units) == ["a.TXT", "b.md", "sub/c d.pdf"]


def test_one_file_can_be_a_source(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    assert list(scan(tmp_path / "a.md").units) == ["a.md"]


def test_a_name_that_is_not_utf8_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    (path,) = scan(tmp_path).units
    assert path == "caf\\udce9.md"
    unit_state.save(tmp_path, "papers", {path: UnitState(path, 1, 1, "hash", "reader", [UnitMonth("2024-01", 1, "h")])})
    assert unit_state.load(tmp_path, "papers")[path].months == [UnitMonth("2024-01", 1, "h")]


def test_a_link_to_nowhere_is_a_unit_so_that_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "elsewhere.md")
    assert scan(tmp_path).changed_units == ("gone.md",)


def test_what_changed_and_what_is_gone(tmp_path: Path) -> None:
    for name in ("same.md", "touched.md"):
        (tmp_path / name).write_text("x")
    found = scan(tmp_path).units
    known = {name: UnitState(name, unit.size, unit.mtime_ns, "hash", "reader", []) for name, unit in found.items()} | {
        "gone.md": UnitState("gone.md", 1, 1, "hash", "reader", [])
    }
    os.utime(tmp_path / "touched.md", (1, 1))
    assert (scan(tmp_path, known).changed_units, scan(tmp_path, known).missing_units) == (("touched.md",), ("gone.md",))
    assert scan(tmp_path, known, retain=True).missing_units == ("gone.md",)
    known["gone.md"] = UnitState("gone.md", 1, 1, "hash", unit_state.RETAINED, [])
    assert scan(tmp_path, known, retain=True).missing_units == (), "its records stay, and it is known to be gone"
    other_reader = scan_units(tmp_path, KINDS["document"], source(), known, "newer")
    assert other_reader.changed_units == ("same.md", "touched.md")


@pytest.mark.parametrize("pattern", ["shut", "shut/*", "*/deep"])
def test_an_excluded_folder_is_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    for name in ("a.md", "shut/b.md", "shut/deep/c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    looked: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: looked.append(Path(folder).name) or scandir(folder))
    kept = ["a.md", "shut/b.md"] if pattern == "*/deep" else ["a.md"]
    assert list(scan(tmp_path, exclude=[pattern]).units) == kept
    assert ("shut" in looked, "deep" in looked) == (pattern == "*/deep", False)


def test_a_missing_folder_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match="is not there; mount or restore it"):
        scan(tmp_path / "papers")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_a_folder_that_cannot_be_listed_is_no_deletion(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0o000)
    with pytest.raises(SourceNotFound, match="cannot be listed"):
        scan(tmp_path)


CALLS = KINDS["call_recording"]


def companions(root: Path) -> dict[str, list[str]]:
    calls = source(kind="call_recording", path=root)
    found = scan_units(root, CALLS, calls, {}, "")
    return {path: [file.name for file in unit.companions] for path, unit in found.units.items()}


@pytest.mark.parametrize(*cases(__file__, "files_that_belong_to_a_unit"))
def test_files_that_belong_to_a_unit(tmp_path: Path, names: list[str], expected: dict[str, list[str]]) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    assert companions(tmp_path) == expected
    single = next(iter(expected))
    assert companions(tmp_path / single) == {single: expected[single]}, "the same where the path is the file itself"


def test_a_unit_changes_with_the_files_beside_it(tmp_path: Path) -> None:
    def look() -> tuple[int, int]:
        unit = scan_units(tmp_path, CALLS, source(kind="call_recording", path=tmp_path), {}, "").units["a.m4a"]
        return unit.size, unit.mtime_ns

    (tmp_path / "a.m4a").write_bytes(b"12345")
    seen = [look()]
    (tmp_path / "a.txt").write_bytes(b"12")
    seen.append(look())
    os.utime(tmp_path / "a.txt", ns=(0, 1))
    seen.append(look())
    (tmp_path / "a.txt").rename(tmp_path / "a.vtt")
    seen.append(look())
    assert seen[1][0] == 7
    assert len(set(seen)) == 4


def test_a_chat_is_read_again_when_a_file_of_its_folder_comes_changes_or_goes(tmp_path: Path) -> None:
    """It names the files that were sent. Another chat, a packed one and hidden files tell it nothing."""
    chats = source(kind="whatsapp", path=tmp_path)
    known: dict[str, UnitState] = {}

    def changed(root: Path = tmp_path) -> set[str]:
        found = scan_units(root, KINDS["whatsapp"], chats, known, "reader", keyed)
        for path, unit in found.units.items():
            known[path] = UnitState(
                path, unit.size, unit.mtime_ns, "hash", reader_with_context(unit, "reader", keyed), []
            )
        return set(found.changed_units)

    def keyed(text: str) -> str:
        return f"k{text}"

    for name in ("a.txt", "b.txt", "c.zip", "sub/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"chat")
    assert changed() == {"a.txt", "b.txt", "c.zip", "sub/d.txt"}
    assert known["a.txt"].reader == "reader", "archives from before stay as they are"
    for name in ("e.txt", ".thumbs", "IMG-1.jpg"):
        (tmp_path / name).write_bytes(b"1")
        assert changed() == {"e.txt": {"e.txt"}, ".thumbs": set(), "IMG-1.jpg": {"a.txt", "b.txt", "e.txt"}}[name]
    (tmp_path / "IMG-1.jpg").write_bytes(b"12")
    assert changed() == {"a.txt", "b.txt", "e.txt"}
    assert changed(tmp_path / "a.txt") == set(), "the same where the path is the file itself"
    (tmp_path / "IMG-1.jpg").unlink()
    assert changed(tmp_path / "a.txt") == {"a.txt"}
    assert changed() == {"b.txt", "e.txt"}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_forgotten_repository_is_known_until_it_changes(tmp_path: Path) -> None:
    def look(*known: UnitState) -> SourceScan:
        return scan_units(tmp_path, KINDS["git"], projects, {one.path: one for one in known}, "reader", keyed)

    keyed = Keys(b"i" * 32, b"p" * 32, "k1").id_hash
    projects = source(kind="git", path=tmp_path)
    repository = repositories.make(tmp_path / "web")
    repositories.commit(repository, "one")
    fingerprint = look().units["web"].version
    stored = unit_state.hide_unit(UnitState("web", 0, 0, fingerprint, "reader", []), keyed)
    assert not {"web", fingerprint} & {stored.path, stored.content_hash}
    assert (look(stored).changed_units, look(stored).missing_units) == ((), ())
    repositories.commit(repository, "two")
    assert look(stored).changed_units == ("web",)
