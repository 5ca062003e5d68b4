"""What no source reads is told, and what belongs to something that is read is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.ingest import unread_files
from relrag_pipelines.settings import Settings
from tests import archive
from tests.folder_of_everything import zipped
from tests.ingest.test_ownership import put


def settings(folder: Path, *sources: tuple[str, str], exclude: tuple[str, ...] = ()) -> Settings:
    tables = [{"name": kind, "kind": kind, "path": path, "exclude": list(exclude)} for kind, path in sources]
    return Settings.model_validate({"folder": folder, "sources": tables})


def look(folder: Path, *sources: tuple[str, str], exclude: tuple[str, ...] = ()) -> list[str]:
    """Paths that are told, with the kind that would read them."""
    found = unread_files.find_unread(settings(folder, *sources, exclude=exclude))
    return sorted([*found.of_no_kind, *(f"{path} ({kind})" for path, kind in found.of_no_source)])


MIXED: dict[str, str | bytes] = {
    "WhatsApp Chat with Dana.txt": archive.CHAT,
    "IMG-20240113-WA0001.jpg": b"\xff\xd8",
    "00000012-PHOTO-2024-01-13-10-15-00.jpg": b"\xff\xd8",
    "holiday.jpg": b"\xff\xd8",
    "logo.psd": b"8BPS",
    "lease.md": "# Lease",
    "page.html": "<p>A page.</p>",
    "page_files/style.css": "p {}",
    "dana.vcf": "BEGIN:VCARD\nFN:Dana\nEND:VCARD\n",
    "broken.vcf": "nothing",
    "song.mp3": b"ID3",
    ".DS_Store": b"\0",
    "Thumbs.db": b"\0",
    "~$lease.docx": b"PK",
    "repository/.git/HEAD": "ref: refs/heads/main",
    "repository/picture.png": b"\x89PNG",
    "relrag.toml": "",
    "relrag.toml.bak": "",
    ".relrag/private/x.parquet": b"PAR1",
}


def test_files_that_nothing_reads_are_told_and_what_belongs_to_others_is_not(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    told = ["broken.vcf", "dana.vcf (contacts)", "holiday.jpg", "logo.psd", "song.mp3"]
    assert look(tmp_path, ("whatsapp", "."), ("document", ".")) == told
    assert look(tmp_path, ("whatsapp", "."), ("document", "."), exclude=("*.jpg", "*.vcf")) == told[3:]
    with_contacts = (("whatsapp", "."), ("document", "."), ("contacts", "."))
    assert look(tmp_path, *with_contacts) == ["holiday.jpg", "logo.psd", "song.mp3"]


def test_what_lies_beside_a_chat_alone_is_its_media(tmp_path: Path) -> None:
    put(tmp_path, {"chats/_chat.txt": archive.CHAT, "chats/plan.pdf": b"%PDF-", "chats/me.jpg": b"\xff\xd8"})
    put(tmp_path, {"chats/sub/other.jpg": b"\xff\xd8"})
    assert look(tmp_path, ("whatsapp", "chats")) == ["chats/sub/other.jpg"]


def test_indexes_of_mailboxes_are_no_noise(tmp_path: Path) -> None:
    put(tmp_path, {"post/Inbox": "From - Mon\n", "post/Inbox.msf": "// <!-- <mdb", "post/Work": "From - Mon\n"})
    assert look(tmp_path, ("gmail", "post")) == ["post/Work"], "a mailbox that no pattern of the kind names"


def test_only_the_folders_of_sources_are_looked_into_unless_one_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"papers/a.md": "# A", "photos/a.jpg": b"\xff\xd8", "b.jpg": b"\xff\xd8"})
    found = settings(tmp_path, ("document", "papers"))
    assert unread_files.find_unread(found).of_no_kind == []
    assert unread_files.find_unread(found, tmp_path).of_no_kind == ["b.jpg", "photos/a.jpg"]


def test_a_file_that_a_source_names_is_read(tmp_path: Path) -> None:
    put(tmp_path, {"lease.md": "# Lease", "notes.jsonl": '{"id": "a", "text": "b"}\n'})
    assert look(tmp_path, ("document", "."), ("jsonl", "notes.jsonl")) == []


def test_the_words_count_by_suffix_and_name_the_first(tmp_path: Path) -> None:
    for number in range(9):
        put(tmp_path, {f"{number}.JPG": b"\xff\xd8"})
    put(
        tmp_path,
        {"a.psd": b"8BPS", "b.psd": b"8BPS", "mail. From Dana": b"", "README": "", "dana.vcf": "BEGIN:VCARD\n"},
    )
    assert list(unread_files.find_unread(settings(tmp_path, ("document", "."))).sentences()) == [
        "13 files are of kinds that relrag does not read: 9 .jpg, 2 .psd, 2 without a suffix"
        " (0.JPG, 1.JPG, 2.JPG and 10 more; `relrag status --failures` lists all).",
        "1 file is read by no source, as none of kind contacts has that folder: dana.vcf.",
    ]


def test_each_file_is_listed_with_the_reason_and_the_remedy(tmp_path: Path) -> None:
    names = [f"photos/{number:02}.jpg" for number in range(12)]
    put(tmp_path, {**dict.fromkeys(names, b"\xff\xd8"), "old.wps": b"\xd0\xcf", "a.psd": b"8BPS", "broken.vcf": "?"})
    put(tmp_path, {"cards/dana.vcf": "BEGIN:VCARD\nFN:Dana\nEND:VCARD\n", "result.json": "{}", "call.ics": "x"})
    files = {one.path: one for one in unread_files.find_unread(settings(tmp_path, ("document", "."))).files()}
    assert sorted(files) == sorted(
        [*names, "old.wps", "a.psd", "broken.vcf", "cards/dana.vcf", "result.json", "call.ics"]
    )
    assert (files["old.wps"].reason, files["old.wps"].remedy) == (
        *("relrag reads no files with the suffix .wps", "save it as DOCX or PDF"),
    )
    assert files["broken.vcf"].reason == "it has the name of a file of kind contacts, but another content"
    assert files["cards/dana.vcf"].remedy == 'add a [[sources]] table with kind = "contacts" and path = "cards"'
    assert files["photos/11.jpg"].remedy == "if it has text, save it as PDF with OCR"
    assert files["result.json"].remedy == "write its items as .jsonl, see docs/jsonl.md"
    assert files["a.psd"].remedy.endswith("leave it out with `exclude`")


def test_every_command_lists_all_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from relrag_query.cli.commands import init, plan, status, sync

    config = archive.make(tmp_path)
    names = [f"papers/{number:02}.psd" for number in range(12)]
    put(tmp_path, dict.fromkeys(names, b"8BPS"))
    capsys.readouterr()
    assert sync.sync(config, as_json=True) == 0
    synced = json.loads(capsys.readouterr().out)
    assert (synced["exit_code"], synced["generation"], synced["failures"]) == (0, 1, [])
    plan.plan(config, as_json=True)
    planned = json.loads(capsys.readouterr().out)
    status.status(config, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert init.init(tmp_path, yes=True, force=True, as_json=True) == 0
    proposed = json.loads(capsys.readouterr().out)
    for result in (synced, planned, shown, proposed):
        assert [one["path"] for one in result["unread_files"]] == names
    assert sorted(one["kind"] for one in proposed["sources"]) == ["document", "jsonl", "whatsapp"]
    status.status(config, failures=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines if line.startswith("not read: ")] == names
    status.status(config, failures=True, as_json=True)
    assert [one["unit"] for one in json.loads(capsys.readouterr().out) if one["fault"] == "not_read"] == names


def test_every_command_lists_files_in_zips_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from relrag_query.cli.commands import init, plan, status, sync

    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "old.zip").write_bytes(zipped({"a.txt": b"The lease.", "plans/b.dwg": b"AC1032"}))
    assert init.init(tmp_path, yes=True, as_json=True) == 0
    results = [json.loads(capsys.readouterr().out)]
    config = tmp_path / "relrag.toml"
    config.write_text('embedder = "none"\n' + config.read_text())
    for command in (sync.sync, plan.plan, status.status):
        command(config, as_json=True)
        results.append(json.loads(capsys.readouterr().out))
    path = "papers/old.zip/plans/b.dwg"
    row = {"path": path, "reason": "relrag reads no files with the suffix .dwg", "remedy": unread_files._OTHER_REMEDY}
    assert [result["unread_files"] for result in results] == [[row]] * 4
    assert results[1]["exit_code"] == 0
    status.status(config, failures=True)
    assert capsys.readouterr().out.count(f"not read: {path}: relrag reads no files") == 1
    status.status(config, failures=True, as_json=True)
    assert [(row["unit"], row["fault"]) for row in json.loads(capsys.readouterr().out)] == [(path, "not_read")]


def test_a_source_that_was_removed_is_told_as_long_as_it_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from relrag_query.cli.commands.plan import plan
    from relrag_query.service.archive_status import collect

    config = archive.make(tmp_path)
    archive.first_sync(config)
    head, _, notes = config.read_text().rpartition("[[sources]]")
    config.write_text(head)
    told = (
        "notes: no longer in relrag.toml, so a sync leaves it out of the index; "
        "`relrag sync --accept-deletions` also removes what is stored of it."
    )
    assert plan(config) == 0
    assert told in capsys.readouterr().out.splitlines()
    assert collect(archive.workspace(config).settings).left_out == [told]
    config.write_text(f"{head}[[sources]]{notes}")
    assert collect(archive.workspace(config).settings).left_out == []
