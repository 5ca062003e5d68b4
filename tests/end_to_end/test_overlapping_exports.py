"""Several exports that hold one item: the newest version counts, whatever the files are called."""

from __future__ import annotations

import json
import os

import pytest

from relrag_pipelines.stores import catalog, generations
from tests import archive

CONFIG = """\
archive = "files"
keys_file = "test.keys"
timezone = "Europe/Prague"
embedder = "none"
pii_redaction_enabled = false

"""
OLD, NEW = 1_714_550_400, 1_722_499_200
"""when files were written: 1 May and 1 August 2024"""


def calendar(*events: str) -> str:
    return "\r\n".join(["BEGIN:VCALENDAR", *events, "END:VCALENDAR", ""])


def event(uid: str, day: str, summary: str, *lines: str) -> str:
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"DTSTART:{day}", f"SUMMARY:{summary}", *lines, "END:VEVENT"])


def changed(day: str) -> str:
    return f"LAST-MODIFIED:{day}T080000Z"


def task(title: str, updated: str) -> str:
    item = {"id": "t1", "title": title, "status": "needsAction", "updated": f"{updated}T08:00:00.000Z"}
    return json.dumps({"kind": "tasks#taskLists", "items": [{"id": "l1", "title": "Home", "items": [item]}]})


def chat(text: str, **fields: object) -> str:
    message = {"id": 7, "type": "message", "date_unixtime": "1714000000", "from": "Dana", "from_id": "user1"}
    messages = [message | {"text": text, "text_entities": []} | fields]
    return json.dumps({"name": "Dana", "type": "personal_chat", "id": 5, "messages": messages})


FILES = {
    # the newer version in the first file, in the second, by its number, and by the file's own date
    "calendar/a.ics": (
        calendar(
            event("first", "20240510", "first new", changed("20240301")),
            event("second", "20240511", "second old", changed("20240201")),
            event("third", "20240512", "third new", "SEQUENCE:10"),
            event("moved", "20240513", "moved old", changed("20240201")),
            event("plain", "20240514", "plain old"),
            event("twice", "20240515", "twice new", "SEQUENCE:2"),
            event("twice", "20240515", "twice old", "SEQUENCE:1"),
        ),
        OLD,
    ),
    "calendar/b.ics": (
        calendar(
            event("first", "20240510", "first old", changed("20240201")),
            event("second", "20240511", "second new", changed("20240301")),
            event("third", "20240512", "third old", "SEQUENCE:9"),
            event("moved", "20240613", "moved new", changed("20240301")),
            event("plain", "20240514", "plain new"),
        ),
        NEW,
    ),
    "tasks/a.json": (task("task new", "2024-06-01"), OLD),
    "tasks/b.json": (task("task old", "2024-05-01"), NEW),
    "telegram/a.json": (chat("message new", edited_unixtime="1714000500"), OLD),
    "telegram/b.json": (chat("message old"), NEW),
    "telegram/c/a.json": (chat("reaction old").replace('"id": 5', '"id": 6'), OLD),
    "telegram/c/b.json": (chat("reaction new").replace('"id": 5', '"id": 6'), NEW),
}


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The first words of all published records."""
    folder = tmp_path_factory.mktemp("files")
    for name, (text, written) in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, newline="")
        os.utime(folder / name, (written, written))
    kinds = ("calendar", "tasks", "telegram")
    tables = [f'[[sources]]\nname = "{kind}"\nkind = "{kind}"\npath = "{kind}"\n' for kind in kinds]
    (folder / "relrag.toml").write_text(CONFIG + "\n".join(tables))
    archive.first_sync(folder / "relrag.toml")
    home = archive.workspace(folder / "relrag.toml").home
    with catalog.open(home / "published" / str(generations.current_number(home)) / catalog.NAME) as opened:
        rows = opened.execute("SELECT text FROM records").fetchall()
    return sorted(text.partition("\n")[0] for (text,) in rows)


@pytest.mark.parametrize("item", ["first", "second", "third", "moved", "plain", "twice", "task", "message", "reaction"])
def test_the_newest_version_counts(subjects: list[str], item: str) -> None:
    assert [subject for subject in subjects if subject.startswith(item)] == [f"{item} new"]
