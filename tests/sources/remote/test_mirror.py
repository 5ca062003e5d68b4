"""What a server names stays inside its mirror."""

import os
from pathlib import Path

import pytest

from relrag_pipelines.sources.remote import Mirror


@pytest.mark.parametrize("path", ["../../out.eml", "/out.eml", "a/../../out.eml", ".."])
def test_an_item_does_not_leave_the_mirror(tmp_path: Path, path: str) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    with pytest.raises(ValueError, match="leads out of its mirror"):
        mirror.write(path, b"x")
    with pytest.raises(ValueError, match="leads out of its mirror"):
        mirror.remove(path)
    assert list(tmp_path.rglob("out.eml")) == []


def test_an_item_in_a_folder_is_written_and_read(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    mirror.write("INBOX/7.eml", b"Subject: key")
    assert mirror.read("INBOX/7.eml") == b"Subject: key"
    assert mirror.paths() == {"INBOX/7.eml"}


def test_removing_takes_the_files_beside_an_item(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".json")
    for path in ("1-a.json", "1-a.original.pdf", "1-a.archive.pdf", "1-ab.json", "11-a.json", "x/1-a.json"):
        mirror.write(path, b"x")
    mirror.remove("1-a.json", "missing.json", "no/folder.json")
    assert sorted(str(file.relative_to(mirror.items)) for file in mirror.items.rglob("*.*")) == [
        "1-ab.json", "11-a.json", "x/1-a.json",
    ]  # fmt: skip


def test_removing_many_items_reads_a_folder_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    for number in range(300):
        mirror.write(f"INBOX/{number}.eml", b"x")
    scans: list[str] = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scans.append(str(path)) or real(path))
    mirror.keep_only({f"INBOX/{number}.eml" for number in range(3)})
    assert len(scans) == 3, "the listing of two folders, and one scan to remove"
    mirror.withhold({"INBOX/0.eml", "INBOX/1.eml"})
    mirror.drop("INBOX/2.eml")
    assert len(scans) == 5
    assert mirror.paths() == set()


def test_what_a_mirror_lacks_is_kept_until_the_item_is_stored_or_gone(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    for path in ("1.eml", "2.eml", "3.eml", "4.eml"):
        mirror.note_omission(path, "too large", 100)
    mirror.save()
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    assert mirror.is_too_large("1.eml", 100)
    assert not mirror.is_too_large("1.eml", 101)
    mirror.add("1.eml", b"x")
    mirror.remove("2.eml")
    mirror.withhold({"3.eml"})
    mirror.note_omission("3.eml", "too large", 100)
    assert list(mirror.omissions) == ["4.eml"]
    mirror.keep_only({"1.eml"})
    assert mirror.omissions == {}
