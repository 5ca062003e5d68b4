"""What a folder holds: kinds by content, one source a kind, each file in one of them."""

import json
import os
import shutil
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.files import sealed_json
from relrag_pipelines.ingest import ownership
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.maintenance.backup import backup
from relrag_pipelines.onboarding import discover as module
from relrag_pipelines.onboarding.discover import Discovery, discover
from relrag_pipelines.onboarding.estimate import estimate, passage_count, record_count, text_bytes, vector_bytes
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import backup_manifest
from tests import ROOT, archive, chat_exports

CHAT = "24/12/2023, 18:00 - Dana: Hello\n28/12/2023, 09:15 - Petr: The cabin is booked\n"
LINE = json.dumps({"id": "n1", "text": "The plumber quoted 7,980."}) + "\n"


def put(folder: Path, path: str, content: str | bytes) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def read_by(folder: Path, found: Discovery) -> list[list[str]]:
    """Paths that a sync reads for each proposed source, relative to the folder."""
    tables = [{"name": one.name, "kind": one.kind, "path": one.path} for one in found.sources]
    proposed = Settings.model_validate({"folder": folder, "sources": tables})
    read = []
    for source in proposed.sources:
        root = proposed.source_path(source)
        scan = scan_units(root, KINDS[source.kind], source, {}, "", taken=ownership.claimed_elsewhere(proposed, source))
        read.append(sorted((root / path).relative_to(folder).as_posix() for path in scan.units))
    assert [len(paths) for paths in read] == [one.files for one in found.sources], "what was said is what is read"
    return read


def summary(found: Discovery) -> list[tuple[str, str, str, int]]:
    return [(one.name, one.kind, one.path, one.files) for one in found.sources]


def test_folders_of_one_kind_become_sources_named_after_them(tmp_path: Path) -> None:
    put(tmp_path, "My Chats/WhatsApp Chat with Dana.txt", CHAT)
    put(tmp_path, "My Chats/old/chat.txt", CHAT)
    put(tmp_path, "papers/lease.md", "# Lease")
    put(tmp_path, "papers/2023/notes.txt", "The boiler is old.")
    put(tmp_path, "export/notes.jsonl", LINE)
    found = discover(tmp_path)
    assert summary(found) == [
        ("my_chats", "whatsapp", "My Chats", 2),
        ("papers", "document", "papers", 2),
        ("export", "jsonl", "export", 1),
    ]
    assert (found.unrecognised, found.unread, found.by_name, found.complete) == ([], [], 0, True)
    assert found.sources[0].sizes == {".txt": 2 * len(CHAT)}


def test_what_several_kinds_could_read_goes_to_the_one_that_recognises_it(tmp_path: Path) -> None:
    put(tmp_path, "WhatsApp Chat with Dana.txt", CHAT)
    put(tmp_path, "shopping [2024].txt", "Milk, bread.")
    put(tmp_path, "chats/a/one.txt", CHAT)
    put(tmp_path, "papers/deep/x.txt", "A paper.")
    put(tmp_path, "papers/y.txt", "Another paper.")
    found = discover(tmp_path)
    assert summary(found) == [("whatsapp", "whatsapp", ".", 2), ("documents", "document", ".", 3)]
    assert read_by(tmp_path, found) == [
        ["WhatsApp Chat with Dana.txt", "chats/a/one.txt"],
        ["papers/deep/x.txt", "papers/y.txt", "shopping [2024].txt"],
    ]


def test_no_file_is_read_twice_or_forgotten(tmp_path: Path) -> None:
    put(tmp_path, "a/b/chat.txt", CHAT)
    put(tmp_path, "a/b/note.txt", "A note.")
    put(tmp_path, "a/c/chat.txt", CHAT)
    put(tmp_path, "a/c/deep/page.html", "<p>A page.</p>")
    put(tmp_path, "z.jsonl", LINE)
    read = [path for paths in read_by(tmp_path, discover(tmp_path)) for path in paths]
    assert sorted(read) == ["a/b/chat.txt", "a/b/note.txt", "a/c/chat.txt", "a/c/deep/page.html", "z.jsonl"]


def test_a_damaged_file_stays_in_its_source_so_that_a_sync_tells_of_it(tmp_path: Path) -> None:
    put(tmp_path, "chats/chat.txt", CHAT)
    put(tmp_path, "chats/broken.zip", b"PK\x03\x04 cut off")
    put(tmp_path, "chats/empty.txt", b"")
    put(tmp_path, "papers/a.md", "# A")
    put(tmp_path, "papers/broken.pdf", b"no pdf at all")
    put(tmp_path, "elsewhere/photos.zip", b"PK\x03\x04 photos")
    found = discover(tmp_path)
    assert found.unrecognised == ["chats/broken.zip", "chats/empty.txt", "papers/broken.pdf"]
    assert found.unread == ["elsewhere/photos.zip"]
    assert read_by(tmp_path, found) == [
        ["chats/broken.zip", "chats/chat.txt", "chats/empty.txt"],
        ["papers/a.md", "papers/broken.pdf"],
    ]


def test_hidden_files_and_locks_of_editors_are_left_out(tmp_path: Path) -> None:
    put(tmp_path, ".relrag/private/x.txt", CHAT)
    put(tmp_path, ".hidden.md", "# Hidden")
    put(tmp_path, "~$lease.docx", b"PK\x03\x04")
    put(tmp_path, "picture.jpg", b"\xff\xd8")
    assert discover(tmp_path) == Discovery()


def test_names_that_cannot_name_a_source_fall_back_to_the_kind(tmp_path: Path) -> None:
    put(tmp_path, "וואטסאפ/chat.txt", CHAT)
    put(tmp_path, "published/a.md", "# A")
    assert [one.name for one in discover(tmp_path).sources] == ["whatsapp", "documents"]


def test_two_sources_never_share_a_name(tmp_path: Path) -> None:
    put(tmp_path, "documents/chat.txt", CHAT)
    put(tmp_path, "documents/sub/a.md", "# A")
    put(tmp_path, "documents/sub/b.md", "# B")
    put(tmp_path, "documents/c.md", "# C")
    assert [one.name for one in discover(tmp_path).sources] == ["documents", "documents_2"]


def test_when_time_is_up_files_are_told_apart_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.jsonl", "not looked at")
    put(tmp_path, "chat.zip", "not looked at")
    put(tmp_path, "note.txt", "not looked at")
    clock = iter([0.0, 1.0, 1.0, 1.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock, 99.0))
    found = discover(tmp_path, seconds=10)
    assert (found.by_name, found.complete, found.unrecognised) == (3, True, [])
    assert summary(found) == [
        ("whatsapp", "whatsapp", ".", 1),
        ("documents", "document", ".", 1),
        ("jsonl", "jsonl", ".", 1),
    ]


def test_repositories_are_sources_of_commits_and_of_code(tmp_path: Path) -> None:
    put(tmp_path, "projects/one/.git/HEAD", "ref: refs/heads/main")
    put(tmp_path, "projects/one/a.py", "x = 1")
    put(tmp_path, "projects/two/.git/HEAD", "ref: refs/heads/main")
    for name in ("HEAD", "objects/x", "refs/x"):
        put(tmp_path, f"projects/three.git/{name}", "ref: refs/heads/main")
    put(tmp_path, "notes/a.md", "# A")
    assert summary(discover(tmp_path)) == [
        ("notes", "document", "notes", 1),
        ("projects", "git", "projects", 3),
        ("code", "code", "projects", 2),
    ]


def test_the_look_is_bounded_in_files_and_depth(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path, f"{number}.md", "# A")
    put(tmp_path, "a/b/c/d.md", "# Deep")
    assert (discover(tmp_path, most=3).sources[0].files, discover(tmp_path, most=3).complete) == (3, False)
    assert (discover(tmp_path, depth=2).sources[0].files, discover(tmp_path, depth=2).complete) == (5, False)
    assert discover(tmp_path).sources[0].files == 6


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "# A")
    (tmp_path / "closed").mkdir(mode=0)
    assert discover(tmp_path).complete is False


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.always_remote])
def test_every_kind_recognises_its_own_and_nothing_else(tmp_path: Path, kind: str) -> None:
    samples = {
        "whatsapp": put(tmp_path, "chat.txt", CHAT),
        "document": put(tmp_path, "note.md", "# A"),
        "paperless": put(tmp_path, "export/manifest.json", '[{"model": "documents.tag", "pk": 1, "fields": {}}]'),
        "git": put(tmp_path, "x.gitlog", f"\0commit {'a' * 40}\0\0\0".encode()),
        "code": put(tmp_path, "x.py", "x = 1"),
        "gmail": put(tmp_path, "mail.eml", "From: a@b.example\nSubject: hello\n\nhello\n"),
        "jsonl": put(tmp_path, "x.jsonl", LINE),
        "call_recording": put(tmp_path, "call.m4a", b"\0\0\0\x18ftypM4A \0\0\0\0"),
        "meeting": put(tmp_path, "review.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n"),
        "contacts": put(tmp_path, "dana.vcf", "BEGIN:VCARD\nFN:Dana\nEND:VCARD\n"),
        "calendar": put(tmp_path, "home.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT\nEND:VCALENDAR\n"),
        "tasks": put(tmp_path, "Tasks.json", '{"kind": "tasks#taskLists", "items": []}'),
        "notes": put(tmp_path, "a.json", '{"isTrashed": false, "userEditedTimestampUsec": 1, "title": "A"}'),
        "bank": put(tmp_path, "a.qif", "!Type:Bank\nD1/2/2024\nT-5.00\n^\n"),
        "photos": put(tmp_path, "a.jpg", b"\xff\xd8\xff\xe1\0\x10Exif\0\0"),
        "legacy": put(tmp_path, "collection/memory/storage.sqlite", b"SQLite format 3\0"),
    }
    for name, write in chat_exports.WRITERS.items():
        ((path, content),) = write([chat_exports.Said(1, 1_705_000_000, "Dana Levi", "hello")], "Hiking").items()
        samples[name] = put(tmp_path, f"{name}/{path}", content)
    # chats are texts, tables and scripts too: the more particular kind wins
    also = {"document": ["whatsapp", "document", "linkedin"], "code": ["code", "twitter"]}
    assert [
        name
        for name, file in samples.items()
        if (not KINDS[kind].suffixes or KINDS[kind].matches(file.name)) and KINDS[kind].recognise(file)
    ] == also.get(kind, [kind])


def test_films_music_and_json_of_programs_are_no_calls_and_no_noise(tmp_path: Path) -> None:
    put(tmp_path, "films/VID_20240101_120000.mp4", b"\0\0\0\x18ftypisom")
    put(tmp_path, "app/package.json", "{}")
    put(tmp_path, "notes/a.md", "# A")
    found = discover(tmp_path)
    assert ([one.kind for one in found.sources], found.unrecognised, found.unread) == (["document"], [], [])


def test_the_demo_archive_is_recognised() -> None:
    root = ROOT / "examples" / "archive"
    found = discover(root)
    assert [(one.kind, one.path) for one in found.sources if one.kind == "whatsapp"] == [("whatsapp", "whatsapp")]
    assert {one.kind: one.path for one in found.sources if one.kind not in ("document", "jsonl")} == {
        "whatsapp": "whatsapp", "call_recording": "calls", "meeting": "meetings", "contacts": "contacts", "git": ".",
        "gmail": "mail", "legacy": "older/collection/memory",
    }  # fmt: skip
    assert {one.kind: one.files for one in found.sources}["call_recording"] == 14, "each with its transcript"
    assert found.unrecognised == []


def test_estimates_grow_with_text_and_not_with_pictures() -> None:
    text, pages = (estimate(1, 1, text_bytes({suffix: 10_000_000})) for suffix in (".txt", ".pdf"))
    assert text.seconds > 5 * pages.seconds
    assert text.bytes > 10_000_000
    assert estimate(0, 0, 0).bytes == 0
    assert vector_bytes(6_100, 384) == pytest.approx(6_100 * 7_000, rel=0.1), "what was measured"
    assert vector_bytes(1e9, 0) == 0


@pytest.mark.parametrize(
    ("kind", "records", "size", "measured"),
    [("jsonl", 200_000, 57, 534), ("jsonl", 20_000, 526, 107), ("whatsapp", 60_000, 80, 169)],
)
def test_the_disk_that_was_measured_is_estimated(
    tmp_path: Path, kind: str, records: int, size: int, measured: int
) -> None:
    """Megabytes for private records, lake and two generations, of which one was measured and taken twice."""
    file = tmp_path / ("a.jsonl" if kind == "jsonl" else "a.txt")
    file.write_text(("x" * (size - 1) + "\n") * 3_000)
    found = record_count(kind, [(file, records * size)])
    assert found == pytest.approx(records, rel=0.01)
    assert estimate(1, found, records * size).bytes == pytest.approx(measured * 1e6, rel=0.1)


def test_records_are_counted_in_beginnings_where_a_file_holds_many(tmp_path: Path) -> None:
    mail = "From dana@x.example Sat Jan  6 08:40:00 2024\nSubject: sleds\n\nRed ones.\n\n"
    box = put(tmp_path, "a.mbox", "\n" + mail * 200)
    letter = put(tmp_path, "b.eml", mail)
    assert record_count("gmail", [(box, box.stat().st_size), (letter, 10**9)]) == 201
    assert record_count("gmail", [(tmp_path / "gone.mbox", 10**6)]) == 1
    assert record_count("document", [(box, size) for size in (1, 2, 3)]) == 3
    assert record_count("whatsapp", [(tmp_path / "chat.zip", 8_000_000)]) == 10_000
    assert passage_count("whatsapp", 600, 600) == 100


def test_mail_is_recognised_without_a_suffix(tmp_path: Path) -> None:
    mail = b"From: a@b.example\nSubject: hello\nDate: Mon, 6 Jan 2025 08:40:00 GMT\n\nhello\n"
    for name, data in {
        "post/Inbox": b"From - Mon Jan  6 08:40:00 2025\n" + mail,
        "post/Maildir/cur/1.M1P1.host:2,S": mail,
        "post/saved/one.eml": mail,
        "notes/today.txt": b"Bought bread.\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    found = {one.kind: (one.name, one.path, one.files) for one in discover(tmp_path).sources}
    assert found == {"gmail": ("post", "post", 3), "document": ("notes", "notes", 1)}


def test_what_relrag_writes_is_not_looked_into(tmp_path: Path) -> None:
    for name in ("letters", "backups", "home"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "letter.md").write_text("# A letter\n\nDear Dana, the boiler works.\n")
    found = discover(tmp_path, without=[tmp_path / "backups", tmp_path / "home"])
    assert [(source.path, source.files) for source in found.sources] == [("letters", 1)]
    assert found.complete


def test_a_backup_is_no_export_whatever_its_name(tmp_path: Path) -> None:
    put(tmp_path, "letters/letter.md", "# A letter\n\nDear Dana, the boiler works.\n")
    (tmp_path / "flat").mkdir()
    config = archive.make(tmp_path / "flat")
    backup(settings_module.load(config), tmp_path / "saved" / "july")
    put(tmp_path, "saved/july/home/letter.md", "# A letter\n\nThat a source retained.\n")
    put(tmp_path, "other/MANIFEST.json", '{"files": []}')
    put(tmp_path, "other/letter.md", "# A letter\n\nAbout a manifest of somebody else.\n")
    shutil.rmtree(tmp_path / "flat")
    found = discover(tmp_path)
    assert [(source.path, source.files) for source in found.sources] == [(".", 2)]
    assert found.complete


@pytest.mark.parametrize(
    "foreign", ["[" * 100_000, '{"schema_version": 9000}', '{\n "schema_version": 9000,\n "archive": "x"}', None]
)
def test_a_manifest_of_another_program_hides_no_folder(tmp_path: Path, foreign: str | None) -> None:
    put(tmp_path, "other/letter.md", "# A letter\n\nDear Dana, the boiler works.\n")
    if foreign is None:
        os.mkfifo(tmp_path / "other" / backup_manifest.NAME)
    else:
        put(tmp_path, f"other/{backup_manifest.NAME}", foreign)
    assert [(source.path, source.files) for source in discover(tmp_path).sources] == [("other", 1)]


def test_a_backup_of_a_newer_relrag_is_no_export(tmp_path: Path) -> None:
    put(tmp_path, backup_manifest.NAME, sealed_json.seal({"schema_version": SCHEMA_VERSION + 1}))
    assert backup_manifest.marks_backup(tmp_path, [backup_manifest.NAME])
