"""A Thunderbird profile as it lies: mailboxes without suffix, subfolders in .sbd, empty mailboxes, indexes."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.ingest import unread_files
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.onboarding.discover import discover
from relrag_pipelines.stores import lake, unit_state
from tests import archive

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"

[[sources]]
name = "mail"
kind = "gmail"
path = "profile"
"""


def boxed(number: int) -> str:
    head = f"Message-ID: <t{number}@x.example>\nFrom: ota@x.example\nDate: {number} Mar 2024 08:00:00 +0000\n"
    return f"From - Sat Mar 02 08:00:00 2024\nX-Mozilla-Status: 0001\n{head}Subject: {number}\n\nLetter {number}\n\n"


FILES = {
    "Mail/Local Folders/Invoices 2.0": boxed(1),
    "Mail/Local Folders/Invoices 2.0.msf": '// <!-- <mdb:mork:z v="1.4"/> -->',
    "Mail/Local Folders/Invoices 2.0.sbd/paid": boxed(2) + boxed(3),
    "Mail/Local Folders/Invoices 2.0.sbd/paid.msf": "index",
    "Mail/Local Folders/Invoices 2.0.sbd/open.sbd/later": boxed(4),
    "Mail/Local Folders/Trash 1.0": "",
    "Mail/Local Folders/Invoices 2.0.sbd/none": "",
    "Mail/Local Folders/Trash 1.0.msf": "index",
    "ImapMail/imap.x.example/INBOX": boxed(5),
    "ImapMail/imap.x.example/INBOX.msf": "index",
    "ImapMail/imap.x.example/msgFilterRules.dat": 'version="9"',
    "ImapMail/imap.x.example/Doručená": boxed(6),
    "ImapMail/imap.x.example/Doručená.msf": "index",
    "prefs.js": "user_pref(1);",
    "key4.db": "x",
    "times.json": "{}",
}
MAILBOXES = sorted(name for name in FILES if not name.endswith((".msf", ".dat", ".js", ".db", ".json")))


def profile(folder: Path) -> Path:
    for name, content in FILES.items():
        path = folder / "profile" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / "relrag.toml").write_text(CONFIG)
    return folder / "relrag.toml"


def test_every_mailbox_of_a_profile_is_read(tmp_path: Path) -> None:
    workspace = archive.workspace(profile(tmp_path))
    ingest(workspace, workspace.settings.source("mail"))
    assert sorted(unit_state.load(workspace.home, "mail")) == MAILBOXES
    rows = lake.read(workspace.home, "private_records", "mail", "2024-03").to_pylist()
    assert sorted(row["text"] for row in rows) == [f"Letter {number}" for number in range(1, 7)]
    assert unit_state.load_failures(workspace.home, "mail") == [], "an empty mailbox is nothing wrong"


def test_an_index_is_no_file_that_was_missed(tmp_path: Path) -> None:
    workspace = archive.workspace(profile(tmp_path))
    unread = [file.path for file in unread_files.find_unread(workspace.settings).files()]
    assert not [path for path in unread if path.endswith(".msf") or "." not in path]


def test_init_finds_the_mailboxes(tmp_path: Path) -> None:
    profile(tmp_path)
    (mail,) = [one for one in discover(tmp_path / "profile").sources if one.kind == "gmail"]
    assert mail.files == len(MAILBOXES)


def test_a_mailbox_without_index_elsewhere_is_left_alone(tmp_path: Path) -> None:
    config = profile(tmp_path)
    (tmp_path / "profile" / "LICENSE").write_text("Permission is hereby granted")
    workspace = archive.workspace(config)
    ingest(workspace, workspace.settings.source("mail"))
    assert "LICENSE" not in unit_state.load(workspace.home, "mail")
