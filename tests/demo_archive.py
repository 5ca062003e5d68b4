"""The demo archive for tests: its files, what answers.json says of them, and what the connectors read."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from relrag_pipelines import settings
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.git.log import Log
from tests import ROOT, archive

ARCHIVE = ROOT / "examples" / "archive"
ANSWERS = json.loads((ARCHIVE / "answers.json").read_text(encoding="utf-8"))
QUESTIONS = {question["name"]: question for question in ANSWERS["questions"]}
JSONL = ("mail", "sms")
READ = ("calls", "meetings", "people")
"""sources whose items are what their connector reads"""
LINES = {
    source: (ROOT / "examples/originals/mail.jsonl" if source == "mail" else ARCHIVE / f"{source}.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
    for source in JSONL
}
ITEMS: dict[str, dict[str, dict[str, Any]]] = {
    source: {item["id"]: item for item in map(json.loads, lines)} for source, lines in LINES.items()
}
ORIGINALS = {
    f"{item['parent_asset_id']}:{item['index_in_parent']}": name
    for name, item in ITEMS["mail"].items()
    if "parent_asset_id" in item
}
"""id of an attachment in the archive -> in the original of the mails"""
LOG = ARCHIVE / "firma-web.gitlog"
COMMITS = {commit.hash: commit for commit in Log(io.BytesIO(LOG.read_bytes())).commits()}
CHATS = sorted((ARCHIVE / "whatsapp").iterdir())


def synced(folder: Path) -> Path:
    """Copies the demo into an empty folder, synced by `relrag sync` at the demo's time; its relrag.toml.

    Its files are of that time too, whenever they were checked out: some documents have no other date.
    Tests of several files share the sync, which takes half a minute.
    """
    shutil.copytree(ARCHIVE, folder / "examples" / "archive")
    shutil.copy(ROOT / "relrag.toml", folder)
    clock = datetime.fromisoformat(ANSWERS["clock"]).timestamp()
    for file in (folder / "examples").rglob("*"):
        os.utime(file, (clock, clock))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELRAG_NOW", ANSWERS["clock"])
        archive.do_with_indexes(patch)
        archive.first_sync(folder / "relrag.toml", dagster=True)
    return folder / "relrag.toml"


@functools.cache
def records_of(source: str) -> list[Record]:
    """What the connector of a source reads."""
    return [record for found in read_source(source, Keys(b"i" * 32, b"p" * 32, "k1")).values() for record in found]


def record(source: str, name: str) -> Record:
    """The record of that id, or of the file whose name holds it."""
    (found,) = (one for one in records_of(source) if one.source_id == name or (one.file_name and name in one.file_name))
    return found


def text_of(reference: dict[str, Any]) -> str:
    """The text of the item or file that answers.json points to."""
    if reference["source"] == "commits":
        return COMMITS[reference["id"]].message
    if reference["source"] in READ:
        found = record(reference["source"], reference.get("id") or reference["file"])
        return "\n".join([found.subject or "", found.text, json.dumps(found.extra, ensure_ascii=False)])
    if "id" in reference:
        item = original(reference)
        return "\n".join([item.get("subject", ""), item["text"], json.dumps(item.get("extra", {}), ensure_ascii=False)])
    path = ARCHIVE / reference["source"] / reference["file"]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            return packed.read("_chat.txt").decode()
    if path.suffix == ".pdf":
        return "\n".join(pages(path))
    return path.read_bytes().decode(errors="replace")


def original(reference: dict[str, Any]) -> dict[str, Any]:
    """The item that answers.json points to by its id."""
    return ITEMS[reference["source"]][ORIGINALS.get(reference["id"], reference["id"])]


def pages(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document]


def chat_lines() -> list[str]:
    return [line for path in CHATS for line in text_of({"source": "whatsapp", "file": path.name}).splitlines()]


def words(text: str) -> str:
    return " ".join(text.split())


def read_source(name: str, keys: Keys) -> dict[str, list[Record]]:
    """What the source's connector reads from each of its files; a failure fails the test."""
    demo = settings.load(ROOT / "relrag.toml", environ={})
    source = demo.source(name)
    kind, base = KINDS[source.kind], demo.source_path(source)
    found: dict[str, list[Record]] = {}
    for path, unit in scan_units(base, kind, source, {}, "").units.items():
        items = list(kind.read(unit, ReadContext(name, demo.timezone, keys.id_hash, owner=demo.owner)))
        assert not [item for item in items if isinstance(item, Failure)], path
        found[path] = [item for item in items if isinstance(item, Record)]
    return found


def at(record: Record) -> str:
    assert record.ts is not None
    return datetime.fromtimestamp(record.ts, UTC).strftime("%Y-%m-%d %H:%M:%S")
