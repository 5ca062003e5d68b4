"""Notes: Obsidian, Google Keep, Apple Notes, Notion, Evernote, Joplin, clippings of a Kindle; folders, or zips of them.

One note is one record. Links between notes become `references`, tags and other names stand in `extra`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.formats.members import ZIP, Member, read_members, zip_names
from relrag_pipelines.sources.notes import clippings, enex, joplin, keep, markdown, page
from relrag_pipelines.sources.notes.links import NoteLinks, links_of_folder, links_of_paths
from relrag_pipelines.sources.notes.names import APPLE_FOLDERS, has_notion_id

__all__ = ["read", "recognise"]

MAX_BYTES = 32 * 2**20
"""Largest note that is read, bytes."""

_HEAD = 2**20
"""bytes that identify a note: Keep writes its text before the fields that do"""
_VAULT = ".obsidian"
_KEEP_FOLDER = re.compile(r"(?:^|/)(?:Keep|Google Keep)/[^/]+\.(?:json|html)$")
_ALL_ROWS = "_all.csv"
_ENEX = ".enex"
_SUFFIXES = (_ENEX, ".md", ".markdown", ".txt", ".html", ".json", ".csv", ZIP)

ReadNote = Callable[[bytes, Member, ReadContext, NoteLinks], Iterator[Record | Failure]]
_READERS: dict[str, ReadNote] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".txt": page.read,
    ".html": page.read,
    ".csv": page.read,
    ".json": keep.read,
}


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The notes of a file or zip in order, each preceded by its failures."""
    if joplin.is_archive(unit):
        return joplin.read_archive(unit, reading)
    names: dict[int, NoteLinks] = {}

    def read_member(member: Member) -> Iterator[Record | Failure]:
        if member.name.lower().endswith(ZIP):
            why = "a zip within the zip is not opened; unpack it beside the other"
            yield Failure(member.inner_path, "nested_zip", why, whole_unit=True)
            return
        if member.siblings and len(names) == 0:
            names[0] = links_of_paths(member.siblings)
        links = names[0] if member.siblings else links_of_folder(unit)
        if _has_better_form(member, unit):
            return
        is_notebook = member.name.lower().endswith(_ENEX)
        yield from enex.read(member, reading) if is_notebook else _read_note(member, reading, links)

    return read_members(unit, reading, _is_note, read_member)


def recognise(file: Path) -> bool:
    """Whether a file is a note of one of these programs, by its place, its name and its beginning."""
    suffix = file.suffix.lower()
    if suffix == ZIP:
        return _is_zip_of_notes(zip_names(file))
    if suffix in (".md", ".markdown", ".csv") and has_notion_id(file.name):
        return True
    if suffix in (".md", ".markdown") and any((folder / _VAULT).is_dir() for folder in list(file.parents)[:16]):
        return True
    if suffix == ".txt" and _is_apple_note(file):
        return True
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    return suffix in _MARKS and _MARKS[suffix](file.as_posix(), head)


_MARKS: dict[str, Callable[[str, bytes], bool]] = {
    _ENEX: lambda path, head: enex.is_enex(head),
    ".json": lambda path, head: keep.is_keep_json(head),
    ".html": lambda path, head: keep.is_keep_html(head),
    ".md": joplin.is_item,
    ".txt": lambda path, head: clippings.is_clippings(head),
    joplin.SUFFIX: lambda path, head: head[257:262] == b"ustar",
}
"""suffix -> whether a file is a note by its path and its beginning"""


def _is_note(path: str) -> bool:
    return path.lower().endswith(_SUFFIXES) and not any(part.startswith(".") for part in PurePosixPath(path).parts)


def _is_zip_of_notes(names: list[str]) -> bool:
    """Whether a zip is an export of Notion, a vault, or Google Keep alone."""
    if any(f"/{_VAULT}/" in f"/{name}" for name in names):
        return True
    texts = [name for name in names if name.lower().endswith((".md", ".csv", ".json", ".html"))]
    return bool(texts) and (
        all(map(has_notion_id, texts))
        or (any(map(_KEEP_FOLDER.search, texts)) and len(texts) == sum(map(_in_keep, texts)))
    )


def _in_keep(name: str) -> bool:
    return _KEEP_FOLDER.search(name) is not None or PurePosixPath(name).name == "archive_browser.html"


def _is_apple_note(file: Path) -> bool:
    """Whether a text lies as Apple exports its notes: `Notes/<title>/<title>.txt`."""
    is_named_so = file.stem.startswith(file.parent.name[:40])
    return is_named_so and any(folder.name in APPLE_FOLDERS for folder in list(file.parents)[1:4])


def _has_better_form(member: Member, unit: Unit) -> bool:
    """Whether the same note is there in a better form: Keep as JSON beside HTML, all rows of a Notion table."""
    path = PurePosixPath(member.path)
    if path.suffix.lower() == ".html":
        return _exists(path.with_suffix(".json"), member, unit)
    if path.suffix.lower() == ".csv" and not path.name.endswith(_ALL_ROWS):
        return _exists(path.with_name(f"{path.stem}{_ALL_ROWS}"), member, unit)
    return False


def _exists(path: PurePosixPath, member: Member, unit: Unit) -> bool:
    return str(path) in member.siblings if member.siblings else (unit.root / path).is_file()


def _read_note(member: Member, reading: ReadContext, links: NoteLinks) -> Iterator[Record | Failure]:
    try:
        data = member.read(MAX_BYTES)
    except ValueError as error:
        yield Failure(member.inner_path, "too_large", f"the note has {error}; split it", whole_unit=True)
        return
    if not data.strip():
        return
    if PurePosixPath(member.path).suffix.lower() == clippings.SUFFIX and clippings.is_clippings(data[:_HEAD]):
        yield from clippings.read(data, member, reading)
        return
    if joplin.is_item(member.path, data):
        yield from joplin.read_item(data, member, reading)
        return
    yield from _READERS[PurePosixPath(member.path).suffix.lower()](data, member, reading, links)
