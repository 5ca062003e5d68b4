"""The same exports give the same bytes: read twice, in any order, and however they came in."""

from __future__ import annotations

import functools
import io
import json
import os
import random
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from relrag_pipelines.ingest import read_context, scan
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.ingest.units import list_units
from relrag_pipelines.sources import KINDS, Listing
from relrag_pipelines.stages import month_stages
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace
from tests import archive, chat_exports, legacy_collection

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
timezone = "Europe/Prague"
pii_redaction_enabled = true

[[sources]]
name = "it"
kind = "{kind}"
path = "exports"
"""


def zipped(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name, text in members.items():
            opened.writestr(zipfile.ZipInfo(f"{name}.txt"), text)
    return packed.getvalue()


LINES = archive.CHAT.splitlines(keepends=True)
SENT = "14/02/2024, 21:41 - Dana Levi: plan.pdf (file attached)\n"

M4A = b"\0\0\0\x18ftypM4A \0\0\0\0M4A isom" + b"\0" * 64
VTT = b"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Dana Levi>The cabin is booked\n"


def gitlog(*commits: int, branch: str = "main") -> bytes:
    """A saved log of these commits of one history, newest first."""
    fields = []
    for place, number in enumerate(sorted(commits, reverse=True)):
        parent = f"{number - 1:040x}" if number else ""
        person = ["Dana Levi", "dana@example.org", f"{1705000000 + number * 2_600_000} +0100"]
        refs = "" if place else f"HEAD -> refs/heads/{branch}"
        fields += ["", f"commit {number:040x}", parent, refs, *person, *person, f"Change {number}\n", "\nM", "sled.py"]
    return "\0".join([*fields, ""]).encode()


SLED = b'"""Sleds."""\n\n\nclass Sled:\n    def pull(self, who):\n        return f"{who} pulls, call 052-123-4567"\n'


def letter(name: str, day: str, text: str, answers: str = "") -> bytes:
    head = f"Message-ID: <{name}@x.example>\nDate: {day} 2024 08:00:00 +0000\nFrom: Dana <dana@x.example>\n"
    references = f"In-Reply-To: <{answers}@x.example>\n" if answers else ""
    return f"{head}{references}To: petr@y.example\nSubject: cabin\n\n{text}\n".encode()


def filed(number: int, content: str) -> bytes:
    document = {"id": number, "title": f"Scan {number}", "content": content, "created": f"2024-0{number}-05"}
    return json.dumps({"document": document, "metadata": {}, "names": {"tags": ["home"]}}).encode()


def boxed(*letters: bytes) -> bytes:
    return b"".join(b"From x@y Sat Jan  6 08:40:00 2024\n" + one + b"\n" for one in letters)


MAILS = {
    "asked": letter("asked", "13 Jan", "Is the cabin booked? Call 052-123-4567."),
    "answer": letter("answer", "14 Jan", "It is, for six.", "asked"),
    "closed": letter("closed", "14 Feb", "Settled.", "answer"),
    "later": letter("later", "1 Mar", "The sleds are red.", "never"),
}


def overlapping(kind: str) -> dict[str, bytes]:
    """Three exports of a chat, each with messages of the one before, and one that is cut off."""
    texts = ("Is the cabin booked?", "Call 052-123-4567.", "It is, for six.", "The sleds are red.", "Settled.")
    said = [
        chat_exports.Said(number, 1_705_000_000 + number * 1_300_000, ("Dana Levi", "Petr")[number % 2], text)
        for number, text in enumerate(texts, 1)
    ]
    files: dict[str, bytes] = {}
    for name, messages in (("1", said[:3]), ("2", said[1:4]), ("3", said[2:])):
        written = chat_exports.WRITERS[kind](messages, "Hiking")
        files |= {f"{name}/{path}": content for path, content in written.items()}
    path, content = next(iter(chat_exports.WRITERS[kind](said[:1], "Cut").items()))
    return files | {f"cut/{path}": content[:-40]}


def sampled(kind: str) -> dict[str, bytes]:
    """The samples of a kind, each of them twice, and one that is cut off in its middle."""
    folder = ROOT / "examples" / "samples" / kind
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    first, content = next(iter(files.items()))
    return (
        files | {f"copy/{name}": data for name, data in files.items()} | {f"half/{first}": content[: len(content) // 2]}
    )


SAMPLES: dict[str, dict[str, bytes]] = {
    # the same chat exported three times, once packed, and a chat that has a message twice and a file beside it
    "whatsapp": {
        "2024-01/WhatsApp Chat with Hiking.txt": "".join(LINES[:4]).encode(),
        "2024-02/WhatsApp Chat with Hiking.txt": "".join(LINES[1:]).encode(),
        "2024-03/WhatsApp Chat with Hiking.zip": zipped(**{"WhatsApp Chat with Hiking": "".join(LINES[2:])}),
        "WhatsApp Chat with Eva.txt": (LINES[3] + LINES[3] + LINES[4] + SENT).encode(),
        "plan.pdf": b"%PDF- the plan of the cabin",
        "WhatsApp Chat with Nobody.txt": b"",
    },
    # equal bytes at three places, one of them under another suffix; a title that two share; one that cannot be read
    "document": {
        "b/lease 2024-01-05.md": archive.LEASE.encode(),
        "a/copy of lease.md": archive.LEASE.encode(),
        "c/lease.txt": archive.LEASE.encode(),
        "c/lease.md": b"# Lease\n\nThe garden is shared. Call 052-123-4567.\n",
        "broken.pdf": b"%PDF-1.7 and no more",
    },
    # an id in two files with different text, one without an id, and a line that is none
    "jsonl": {
        "a.jsonl": b"".join(json.dumps(note).encode() + b"\n" for note in archive.NOTES),
        "b.jsonl": json.dumps({**archive.NOTES[0], "text": "The plumber quoted less."}).encode() + b"\n[1]\n",
        "c/d.ndjson": b'{"text": "No id at all, 4111 1111 1111 1111", "timestamp": "2024-02-15T08:00:00Z"}\n',
        "e.jsonl": json.dumps({**archive.NOTES[1], "id": "n9", "timestamp": "2024-04-01T00:00:00Z"}).encode() + b"\n",
    },
    # one recording twice, one with two transcripts, one without any, and a transcript alone
    "call_recording": {
        "a/Call_recording_Dana_Levi_240113_101500.m4a": M4A,
        "a/Call_recording_Dana_Levi_240113_101500.vtt": VTT,
        "b/Call_recording_Dana_Levi_240113_101500.m4a": M4A,
        "Call_recording_Petr_Kolar_240214_090000.m4a": M4A + b"other",
        "Call_recording_Petr_Kolar_240214_090000.srt": b"1\n00:00:01,000 --> 00:00:02,000\nPetr: Hello\n",
        "Call_recording_Petr_Kolar_240214_090000.txt": b"Petr: Hello there\n",
        "Call_recording_Eva_240301_120000.m4a": M4A + b"by itself",
        "alone.vtt": VTT,
    },
    # the same minutes at two places, captions with their invitation, and a file that is none
    "meeting": {
        "meeting-2024-01-08.txt": b"Participants: Dana Levi, Petr Kolar\n\nWe chose the red sleds.\n",
        "copy/meeting-2024-01-08.txt": b"Participants: Dana Levi, Petr Kolar\n\nWe chose the red sleds.\n",
        "review 2024-02-14.vtt": VTT,
        "review 2024-02-14.ics": b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:r1\r\n"
        b"DTSTART:20240214T090000Z\r\nSUMMARY:Review\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        "broken.vtt": b"no captions\n",
    },
    # a mail in three files, twice in one of them; an answer before what it answers; one id with two texts; no mail
    "gmail": {
        "Inbox.mbox": boxed(MAILS["answer"], MAILS["asked"], MAILS["asked"]),
        "old/All.mbox": boxed(MAILS["asked"], MAILS["closed"]),
        "saved/asked.eml": MAILS["asked"],
        "saved/closed.eml": MAILS["closed"].replace(b"Settled", b"Settled, but for the keys"),
        "Maildir/cur/1:2,S": MAILS["later"],
        "empty.eml": b"",
    },
    # a person in two files, differently, and a card that is cut
    "contacts": {
        "a.vcf": b"BEGIN:VCARD\nVERSION:3.0\nFN:Dana Levi\nTEL:052-123-4567\nUID:d\nEND:VCARD\n",
        "b.vcf": b"BEGIN:VCARD\nVERSION:4.0\nFN:Dana Levi-Cohen\nUID:d\nEND:VCARD\n",
        "c/d.vcf": b"BEGIN:VCARD\nVERSION:3.0\nFN:Petr Kolar\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:Cut\n",
    },
    # logs of one history, saved at three times, the last on another branch, and one that is cut
    "git": {
        "sleds 1.gitlog": gitlog(0, 1),
        "sleds 2.gitlog": gitlog(0, 1, 2),
        "b/sleds.gitlog": gitlog(1, 2, 3, branch="work"),
        "cut.gitlog": gitlog(7)[:-4],
    },
    # equal files, one of two definitions of a name, a language without a grammar, and what is left out
    "code": {
        "a/sled.py": SLED,
        "b/sled.py": SLED,
        "b/cabin.py": b"def key():\n    return 1\n\n\ndef key():\n    return 2\n",
        "notes.sql": b"SELECT name FROM sleds;\n",
        "vendor/other.py": b"x = 1\n",
        "made.py": b"# Generated by a program, do not edit\nx = 1\n",
    },
    # documents with a file, without one, with an archived one that cannot be read, and one that is no JSON
    "paperless": {
        "1-aa.json": filed(1, "The boiler is due. Call 052-123-4567."),
        "1-aa.original.txt": b"The boiler is due. Call 052-123-4567.",
        "2-bb.json": filed(2, "The cabin is insured."),
        "3-cc.json": filed(3, "The sledges are red."),
        "3-cc.archive.pdf": b"%PDF-1.7 and no more",
        "4-dd.json": b"{",
    },
    # collections that share a mail, a scan in parts and a call; of different sizes, which come in pages
    "legacy": {
        f"{name}/collection/memory/storage.sqlite": legacy_collection.storage(
            [*legacy_collection.POINTS[first:last], {"source": "manual", "source_id": name, "message": size * "word "}]
        )
        for name, first, last, size in (("a", 0, 8, 1), ("b", 5, 13, 1_500), ("c", 9, 18, 3_000))
    },
    # exports that overlap, one of them cut off
    **{kind: overlapping(kind) for kind in chat_exports.WRITERS},
    **{kind: sampled(kind) for kind in ("calendar", "tasks", "notes", "bank", "photos")},
}
"""kind -> several units: path -> bytes. They overlap as real exports do, where the order could make a difference."""

UNREADABLE = {
    "WhatsApp Chat with Nobody.txt",
    "broken.pdf",
    "broken.vtt",
    "cut.gitlog",
    "c/d.vcf",
    "4-dd.json",
    "3-cc.archive.pdf",
}
UNREADABLE |= {path for sample in SAMPLES.values() for path in sample if path.startswith(("cut/", "half/"))}
"""not at all, or not to their end"""


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def begin(folder: Path, kind: str) -> Workspace:
    """An archive of one source without any unit; its keys are the same in every test."""
    (folder / "exports").mkdir()
    (folder / "relrag.toml").write_text(CONFIG.format(kind=kind))
    keys = folder / "test.keys"
    keys.write_text(json.dumps({"version": "k1", "ids": "11" * 32, "pseudonyms": "22" * 32}))
    keys.chmod(0o600)
    return archive.workspace(folder / "relrag.toml")


def put(folder: Path, name: str, content: bytes, written: int = 1_717_200_000) -> None:
    path = folder / "exports" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (written, written))


def make(workspace: Workspace, *, full: bool = False) -> dict[str, Any]:
    """Exports and makes what is stale, or with `full` everything; the hash of every month of every table, and rows."""
    (source,) = workspace.settings.sources
    ingest(workspace, source, full=full, accept_deletions=True)
    stale = {(one.stage, one.month) for one in plans.stale_months([plans.inspect_source(workspace, source)])}
    for stage in month_stages.STAGES:
        upstream = [lake.manifest(workspace.home, table, source.name).keys() for table in stage.inputs]
        there = lake.manifest(workspace.home, stage.table, source.name).keys() | set().union(*upstream)
        if months := [month for month in sorted(there) if full or (stage.name, month) in stale]:
            month_stages.run(workspace, source, stage, months)
    assert plans.stale_months([plans.inspect_source(workspace, source)]) == []
    found: dict[str, Any] = {
        f"{table}/{month}": (entry.output, entry.rows)
        for table in lake.MONTHLY
        for month, entry in lake.manifest(workspace.home, table, source.name).items()
        if entry.rows
    }
    found["failures"] = [repr(failure) for failure in unit_state.load_failures(workspace.home, source.name)]
    found["units"] = [
        (path, state.content_hash, state.reader, [(month.month, month.rows) for month in state.months])
        for path, state in sorted(unit_state.load(workspace.home, source.name).items())
    ]
    return found


@functools.cache
def undisturbed(kind: str) -> dict[str, Any]:
    """What the units of a kind make that are all there at once."""
    with tempfile.TemporaryDirectory() as made:
        workspace = begin(Path(made), kind)
        for name, content in SAMPLES[kind].items():
            put(Path(made), name, content)
        return make(workspace, full=True)


def test_every_kind_takes_part() -> None:
    read = {name for name, kind in KINDS.items() if not kind.always_remote}
    assert SAMPLES.keys() == read, "a new kind brings a sample of several units that overlap"
    assert all(len(sample) >= 3 for sample in SAMPLES.values())


@pytest.mark.parametrize("kind", SAMPLES)
def test_read_again_it_is_the_same_to_the_byte(kind: str, tmp_path: Path) -> None:
    workspace = begin(tmp_path, kind)
    for name, content in SAMPLES[kind].items():
        put(tmp_path, name, content)
    once = make(workspace)
    assert sum(rows for name, (_, rows) in list(once.items())[:-2] if name.startswith("chunks/")) >= 3
    files = archive.contents(workspace.home / "lake")
    assert make(workspace) == once
    assert make(workspace, full=True) == once
    assert {name: data for name, (_, data) in archive.contents(workspace.home / "lake").items()} == {
        name: data for name, (_, data) in files.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAMPLES)
@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=4, phases=[Phase.generate])  # shrinking would sync for minutes
def test_the_order_of_units_makes_no_difference(kind: str, chance: random.Random) -> None:
    """In another order on disk, and arriving one after the other with a sync between, some to be changed later."""
    expected = undisturbed(kind)  # before the shuffling, which would draw from `chance` in the first example alone
    names = list(SAMPLES[kind])
    # one that cannot be read in the end would keep what it held before, and so does one that begins later than it did
    early = {name for name in names if chance.random() < 0.3 and name not in UNREADABLE}
    early = set() if KINDS[kind].may_be_truncated else early
    chance.shuffle(names)
    walk = list_units

    def shuffled(*args: Any) -> Listing:
        listing = walk(*args)
        found = list(listing.units)
        chance.shuffle(found)
        return replace(listing, units=tuple(found))

    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "list_units", shuffled)
        patch.setattr(read_context, "list_units", shuffled)
        workspace = begin(Path(made), kind)
        for name in names:
            if name in early:  # an hour earlier: databases are of equal size, so only the time tells them apart
                put(Path(made), name, SAMPLES[kind][chance.choice(names)], written=1_717_196_400)
            else:
                put(Path(made), name, SAMPLES[kind][name])
            if chance.random() < 0.5:
                make(workspace)
        for name in early:
            put(Path(made), name, SAMPLES[kind][name])
        assert make(workspace) == expected
