"""Files in zips are read as those of a folder, follow their zip, and are forgotten with what was read of them."""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path

import pytest

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.ingest.unpacking import folder_of, is_due
from relrag_pipelines.sources.remote.mirror import items_folder
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import forget
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.folder_of_everything import zipped

CONFIG = """
archive = "zips"
keys_file = "test.keys"
embedder = "none"
[[sources]]
name = "papers"
kind = "document"
path = "papers"
open_zips = true
"""


def make(folder: Path, **zips: dict[str, bytes]) -> Path:
    (folder / "papers").mkdir(exist_ok=True)
    for name, files in zips.items():
        (folder / "papers" / f"{name}.zip").write_bytes(zipped(files))
    config = folder / "relrag.toml"
    config.write_text(CONFIG)
    return config


def read(workspace: Workspace) -> dict[str, str]:
    """Location -> text of each record, after reading what changed."""
    source = workspace.settings.source("papers")
    ingest(workspace, source, accept_deletions=True)
    assert not is_due(workspace, source)
    months = lake.manifest(workspace.home, "private_records", "papers")
    rows = [
        row for month in months for row in lake.read(workspace.home, "private_records", "papers", month).to_pylist()
    ]
    return {location: row["text"] for row in rows for location in row["locations"]}


def failures(workspace: Workspace) -> list[tuple[str, str]]:
    return [(failure.fault, failure.unit) for failure in unit_state.load_failures(workspace.home, "papers")]


def test_files_of_a_zip_are_read_beside_those_of_the_folder(tmp_path: Path) -> None:
    config = make(tmp_path, old={"a/lease.txt": b"The lease.", "deep.zip": zipped({"b.md": b"The barn."})})
    (tmp_path / "papers" / "c.txt").write_text("The cellar.")
    assert read(archive.workspace(config)) == {
        "c.txt": "The cellar.",
        "old.zip/a/lease.txt": "The lease.",
        "old.zip/deep.zip/b.md": "The barn.",
    }


def test_a_changed_zip_is_read_again_and_a_removed_one_goes(tmp_path: Path) -> None:
    config = make(tmp_path, old={"a.txt": b"First.", "b.txt": b"Second."}, other={"c.txt": b"Third."})
    read(archive.workspace(config))
    make(tmp_path, old={"a.txt": b"First, changed."})
    (tmp_path / "papers" / "other.zip").unlink()
    assert read(archive.workspace(config)) == {"old.zip/a.txt": "First, changed."}


def test_parts_of_one_export_share_a_folder(tmp_path: Path) -> None:
    assert folder_of("takeout-20240310T101010Z-002.zip") == "takeout-20240310T101010Z.zip"
    parts = {
        "takeout-001": {"Takeout/a.txt": b"One."},
        "takeout-002": {"Takeout/a.txt": b"Two.", "Takeout/b.txt": b"B."},
    }
    assert read(archive.workspace(make(tmp_path, **parts))) == {
        "takeout.zip/Takeout/a.txt": "One.",
        "takeout-002.zip/Takeout/a.txt": "Two.",
        "takeout.zip/Takeout/b.txt": "B.",
    }


def test_a_zip_that_is_damaged_later_loses_nothing_that_was_read(tmp_path: Path) -> None:
    config = make(tmp_path, old={"a.txt": b"First."})
    texts = read(archive.workspace(config))
    (tmp_path / "papers" / "old.zip").write_bytes(b"PK\3\4 cut off")
    assert read(archive.workspace(config)) == texts
    assert failures(archive.workspace(config)) == [("zip", "old.zip")]


def test_zips_in_zips_are_opened_within_bounds(tmp_path: Path) -> None:
    deep = zipped({"too deep.txt": b"Never read."})
    for level in range(3):
        deep = zipped({f"level{level}.zip": deep, f"near{level}.txt": b"Near."})
    workspace = archive.workspace(make(tmp_path, outer={"x.zip": deep}))
    assert sorted(read(workspace)) == ["outer.zip/x.zip/level2.zip/near1.txt", "outer.zip/x.zip/near2.txt"]
    assert failures(workspace) == [("zip", "outer.zip/x.zip/level2.zip/level1.zip")]


def test_a_zip_that_expands_too_far_is_not_opened(tmp_path: Path) -> None:
    config = make(tmp_path, bomb={"a.txt": b"\0" * 40_000_000}, fine={"b.txt": b"Fine."})
    assert read(archive.workspace(config)) == {"fine.zip/b.txt": "Fine."}
    assert failures(archive.workspace(config)) == [("zip", "bomb.zip")]


def test_what_is_forgotten_is_not_kept_in_the_copies(tmp_path: Path) -> None:
    config = make(tmp_path, old={"a.txt": b"The orangery leaks.", "b.txt": b"The cellar is dry."})
    workspace = archive.first_sync(config)
    months = lake.manifest(workspace.home, "private_records", "papers")
    rows = [
        row for month in months for row in lake.read(workspace.home, "private_records", "papers", month).to_pylist()
    ]
    (leaking,) = (row["asset_id"] for row in rows if "orangery" in row["text"])
    assert forget.forget(ForgetRequest([leaking]), config, yes=True) == 0
    assert read(archive.workspace(config)) == {"old.zip/b.txt": "The cellar is dry."}
    names = [path.name for path in items_folder(workspace.home, "papers").rglob("*.txt")]
    assert names == ["b.txt"]


def test_a_chat_in_a_zip_stays_one_file_with_what_was_sent_in_it(tmp_path: Path) -> None:
    chat = b"13/01/2024, 10:15 - Dana: see lease.pdf (file attached)\n"
    config = make(tmp_path, chat={"_chat.txt": chat, "lease.pdf": b"%PDF-1.4 not read as a document of its own"})
    assert read(archive.workspace(config)) == {}


def test_what_zips_hold_is_written_below_the_home_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = make(tmp_path, old={"lease.txt": b"The lease.", "deep.zip": zipped({"barn.md": b"The barn."})})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    workspace = archive.workspace(config)
    assert read(workspace).keys() == {"old.zip/lease.txt", "old.zip/deep.zip/barn.md"}
    assert list((workspace.home / "private" / "spill").rglob("*")) == []


def tarred(files: dict[str, bytes], mode: str = "w:gz", links: dict[str, str] | None = None) -> bytes:
    """A tar of these files and symbolic links, compressed as `mode` says."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_710_000_000
            archive.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return buffer.getvalue()


TAR_FILES = {"Takeout/Drive/lease.txt": b"The lease.", "Takeout/Drive/barn.zip": zipped({"b.md": b"The barn."})}
LONG_NAME = f"Takeout/{'deep folder/' * 30}\u017elu\u0165.txt"


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("takeout.tgz", "w:gz"),
        ("takeout-20240310T101010Z-001.tgz", "w:gz"),
        ("Takeout.TAR.GZ", "w:gz"),
        ("takeout.tar", "w:"),
    ],
)
def test_a_tar_is_read_as_a_zip_is(tmp_path: Path, name: str, mode: str) -> None:
    config = make(tmp_path)
    (tmp_path / "papers" / name).write_bytes(tarred({**TAR_FILES, LONG_NAME: b"Yellow."}, mode))
    texts = read(archive.workspace(config))
    assert sorted(texts.values()) == ["The barn.", "The lease.", "Yellow."]
    assert f"{folder_of(name)}/{LONG_NAME}" in texts


def test_parts_of_one_export_in_tars_share_a_folder(tmp_path: Path) -> None:
    config = make(tmp_path)
    (tmp_path / "papers" / "takeout-001.tgz").write_bytes(tarred({"Takeout/a.txt": b"One."}))
    (tmp_path / "papers" / "takeout-002.tgz").write_bytes(tarred({"Takeout/b.txt": b"Two."}))
    assert read(archive.workspace(config)) == {"takeout.tgz/Takeout/a.txt": "One.", "takeout.tgz/Takeout/b.txt": "Two."}


def test_entries_of_a_tar_that_lead_out_of_it_are_failures(tmp_path: Path) -> None:
    config = make(tmp_path)
    names = {"../../outside.txt": b"Never.", "/etc/outside.txt": b"Never.", "fine.txt": b"Fine."}
    (tmp_path / "papers" / "a.tgz").write_bytes(tarred(names, links={"link.txt": "/etc/passwd"}))
    assert read(archive.workspace(config)) == {"a.tgz/fine.txt": "Fine."}
    (failure,) = unit_state.load_failures(archive.workspace(config).home, "papers")
    assert (failure.fault, failure.unit) == ("zip", "a.tgz/entry 1")
    assert failure.message.startswith("3 of 4 entries lead out of the archive")


@pytest.mark.parametrize(
    ("data", "texts", "unit"),
    [
        (tarred({"a.txt": b"\0" * 40_000_000}), {}, "a.tgz"),
        (b"no archive at all", {}, "a.tgz"),
        (tarred({"a.txt": b"First."}, "w:")[:1024], {}, "a.tgz"),
    ],
    ids=["bomb", "not gzip", "not compressed"],
)
def test_a_tar_that_cannot_be_opened_is_a_failure(
    tmp_path: Path, data: bytes, texts: dict[str, str], unit: str
) -> None:
    config = make(tmp_path)
    (tmp_path / "papers" / "a.tgz").write_bytes(data)
    assert read(archive.workspace(config)) == texts
    assert failures(archive.workspace(config)) == [("zip", unit)]


def test_a_name_that_no_file_can_have_is_a_failure(tmp_path: Path) -> None:
    config = make(tmp_path, old={"a.txt": b"A.", f"{'long' * 70}.txt": b"Never.", "b": b"B", "b/c.txt": b"Never."})
    assert read(archive.workspace(config)) == {"old.zip/a.txt": "A."}
    assert {fault for fault, _ in failures(archive.workspace(config))} == {"zip", "not_read"}


def test_of_a_tar_that_is_cut_off_the_beginning_is_read(tmp_path: Path) -> None:
    config = make(tmp_path)
    noise = bytes(range(256)) * 64
    whole = tarred({"a.txt": b"First.", "b.bin": noise, "c.txt": b"Never reached."}, "w:")
    (tmp_path / "papers" / "a.tar").write_bytes(whole[:3000])
    assert read(archive.workspace(config)) == {"a.tar/a.txt": "First."}
    assert ("zip", "a.tar") in failures(archive.workspace(config))


def test_files_in_archives_that_nothing_reads_are_listed_with_reason_and_remedy(tmp_path: Path) -> None:
    files = {
        "letters/lease.txt": b"The lease.",
        "letters/plan.dwg": b"AC1032",
        "letters/book.mobi": b"BOOKMOBI",
        "people.vcf": b"BEGIN:VCARD\nVERSION:3.0\nFN:Dana Levi\nEND:VCARD\n",
        "Thumbs.db": b"of Windows",
        ".DS_Store": b"of macOS",
    }
    config = make(tmp_path, old={**files, "inner.zip": zipped({"c.txt": b"C.", "d.dwg": b"AC1032"})})
    (tmp_path / "papers" / "programs.tgz").write_bytes(tarred({"a.dll": b"MZ", "b.exe": b"MZ"}))
    workspace = archive.workspace(config)
    assert len(read(workspace)) == 2
    listed = {failure.unit: failure for failure in unit_state.load_failures(workspace.home, "papers")}
    assert sorted(listed) == [
        "old.zip/inner.zip/d.dwg",
        "old.zip/letters/book.mobi",
        "old.zip/letters/plan.dwg",
        "old.zip/people.vcf",
        "programs.tgz",
    ]
    assert {failure.fault for failure in listed.values()} == {"not_read"}
    assert listed["old.zip/letters/book.mobi"].message == (
        "relrag reads no files with the suffix .mobi; save it as EPUB or PDF"
    )
    assert listed["old.zip/people.vcf"].message.startswith("it is of kind contacts, and no source of that kind")
    assert listed["programs.tgz"].message.startswith("none of the files in it is of a kind")


def test_a_further_source_shortens_the_list(tmp_path: Path) -> None:
    card = b"BEGIN:VCARD\nVERSION:3.0\nFN:Dana Levi\nEND:VCARD\n"
    config = make(tmp_path, old={"a.txt": b"A.", "people.vcf": card})
    read(archive.workspace(config))
    assert failures(archive.workspace(config)) == [("not_read", "old.zip/people.vcf")]
    people = (
        CONFIG[CONFIG.index("[[sources]]") :].replace('"document"', '"contacts"').replace('"papers"', '"people"', 1)
    )
    config.write_text(CONFIG + people)
    workspace = archive.workspace(config)
    assert is_due(workspace, workspace.settings.source("papers"))
    read(workspace)
    assert failures(workspace) == []
