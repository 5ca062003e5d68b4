"""The table of kinds, and what a connector is given.

A connector is one module of this folder with one function, `read(unit, reading)`, a generator of records and
failures. It streams: it never holds more than one item. It yields a Failure for what it cannot read and goes on; it
raises only on faults of its own. Beside it stands `recognise(file)`, which `relrag init` asks. A kind whose units are
not simply the files with its suffixes also has `units(root, excluded)`, which finds them. To add a kind: the module, a
row in KINDS, a test, a sample.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from relrag_pipelines.records import Failure, Record

LEFT_OUT = frozenset({"binary", "generated", "ignored", "vendored"})
"""fault words of what is left out on purpose: counted, but no reason to say that something went wrong"""


@dataclass(frozen=True)
class Unit:
    """One thing that a connector opens: a file, a repository."""

    path: str
    """relative to the source's path, with forward slashes"""
    file: Path
    """where it lies"""
    size: int
    """bytes"""
    mtime_ns: int
    """modification time, nanoseconds"""
    fingerprint: str = ""
    """of a unit that is no file: differs when it has changed; size and time say nothing then"""


class CannotList(Exception):
    """Part of a source cannot be listed, so what is gone from it cannot be told; the message says what to do."""


def unit_of(file: Path, root: Path, fingerprint: str = "") -> Unit:
    """The unit that is this file or folder, as it lies there now; the root itself is named by its name."""
    relative = file.relative_to(root) if file != root else Path(root.name)
    # a name that is no valid UTF-8 comes with lone surrogates, which no table can hold
    path = relative.as_posix().encode("utf-8", "backslashreplace").decode()
    if fingerprint:
        return Unit(path, file, 0, 0, fingerprint)
    try:
        found = file.stat()
    except OSError:  # a link to nowhere: a unit all the same, so that reading it says what is wrong
        return Unit(path, file, 0, 0)
    return Unit(path, file, found.st_size, found.st_mtime_ns)


@dataclass(frozen=True)
class Reading:
    """What a connector may know beside the unit: its source's options, limits, and the keyed hash for ids."""

    source: str
    timezone: str
    """IANA name of the zone that local times are in"""
    hash: Callable[[str], str]
    """keyed hash of a text, 16 hex digits: the only hash that may stand in an id"""
    date_order: str = "auto"
    archive_max_ratio: int = 100
    archive_max_bytes: int = 20 * 2**30
    unit_max_bytes: int = 2 * 2**30


Reader = Callable[[Unit, Reading], Iterator[Record | Failure]]
Excluded = Callable[[str], bool]
"""whether the source's settings leave out what lies at this path, relative to the source's"""


@dataclass(frozen=True)
class Kind:
    """One kind of source."""

    name: str
    meaning: str
    version: int
    """raised when the reader reads differently, so that every unit is read again"""
    suffixes: tuple[str, ...]
    """lower-case suffixes of its units"""
    rag_source_type: str
    channel: str
    """redaction policy of what it reads, where the record's own type has none"""
    options: tuple[str, ...] = field(default=("timezone",))
    """settings of a source that change what is read"""
    one_record: bool = False
    """a unit is one record, so units of equal bytes are one record with several locations"""
    walks: bool = False
    """it finds its units itself, by `units`; else they are the files with its suffixes"""

    @property
    def read(self) -> Reader:
        """The connector, imported when first used."""
        return cast(Reader, importlib.import_module(f"{__name__}.{self.name}").read)

    @property
    def units(self) -> Callable[[Path, Excluded], Iterator[Unit]] | None:
        """The kind's own way to find its units, if it has one; raises OSError where it cannot look."""
        found = getattr(importlib.import_module(f"{__name__}.{self.name}"), "units", None) if self.walks else None
        return cast(Callable[[Path, Excluded], Iterator[Unit]] | None, found)

    @property
    def recognise(self) -> Callable[[Path], bool]:
        """Whether a file is one of this kind, by its name and its beginning; raises OSError where it cannot be read."""
        return cast(Callable[[Path], bool], importlib.import_module(f"{__name__}.{self.name}").recognise)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "whatsapp",
            "chats exported from WhatsApp: .txt, or .zip with media; Android and iOS",
            1,
            (".txt", ".zip"),
            "whatsapp",
            "whatsapp",
            ("timezone", "date_order"),
        ),
        Kind(
            "document",
            "PDF (with pages), DOCX, Markdown, HTML, text and CSV files",
            1,
            (".pdf", ".docx", ".md", ".markdown", ".html", ".htm", ".txt", ".csv", ".tsv"),
            "documentation",
            "default",
            one_record=True,
        ),
        Kind(
            "git",
            "commits of local git repositories, and saved logs of git (.gitlog)",
            1,
            (".gitlog",),
            "git_history",
            "git",
            (),
            walks=True,
        ),
        Kind(
            "code",
            "source code in git repositories and folders: functions, classes and methods",
            1,
            (),
            "code",
            "code",
            (),
            walks=True,
        ),
        Kind(
            "jsonl",
            "one JSON object a line with the universal fields: the door for any other source",
            1,
            (".jsonl", ".ndjson"),
            "jsonl",
            "default",
        ),
    )
}
