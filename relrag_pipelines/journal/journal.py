"""The owner's statements, entry by entry: private/journal.jsonl. Nothing else holds them.

Entries are appended under the writer's lock, on disk when that returns; entry_kinds.py declares what one may say.
Readers take them in order, or from the number that a generation's MANIFEST names. Only forgetting rewrites the file, as
a whole. A last line without its end is a torn one, which nobody was told of: it is ignored, and cut off by the next.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import make_private, replace_file, sync_file, sync_folder
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.journal import entry_kinds, former_files
from relrag_pipelines.settings import now
from relrag_pipelines.stores import lock, private_manifest

NAME = "private/journal.jsonl"
"""within RELRAG_HOME"""
Row = TypeVar("Row")


class JournalError(SafeError):
    """The journal cannot be read; the message says where and what to do."""


@dataclass(frozen=True)
class JournalEntry:
    """One statement of the owner."""

    number: int
    at: str
    """when, ISO 8601, UTC"""
    kind: str
    """see entry_kinds.py"""
    statement: Any
    """a row of the kind's type; None of an entry that was forgotten"""


def path(home: Path) -> Path:
    """The file of the journal."""
    return home / NAME


def append(home: Path, said: Iterable[object]) -> list[int]:
    """Adds an entry for each row and returns their numbers; all are on disk then. Raises lock.LockedByOther."""
    with lock.writing(home, "relrag journal"):
        take_over(home)
        first, at = last_number(home) + 1, now().isoformat("T", "seconds")
        entries = [JournalEntry(number, at, entry_kinds.kind_of(row), row) for number, row in enumerate(said, first)]
        _append(home, b"".join(map(_line, entries)))
    return [entry.number for entry in entries]


def entries(home: Path, after: int = 0) -> list[JournalEntry]:
    """All entries in order, or those behind a number; those of former files too, until they are taken over.

    Raises JournalError where a line is damaged, or a newer relrag wrote it.
    """
    former = former_files.lines(home)
    known = _parse(home, state(home))
    known += tuple(_former(former, known))
    return [
        JournalEntry(number, at, kind, None if kind == entry_kinds.FORGOTTEN else entry_kinds.parse(kind, fields))
        for number, at, kind, fields in known
        if number > after
    ]


def statements(home: Path, row: type[Row], after: int = 0) -> list[Row]:
    """What the entries of one kind say, in order. Raises as `entries` does."""
    return [entry.statement for entry in entries(home, after) if isinstance(entry.statement, row)]


def last_number(home: Path) -> int:
    """The highest number that was ever given; 0 in a journal without entries."""
    return max((entry.number for entry in entries(home)), default=0)


def state(home: Path) -> tuple[tuple[int, int], ...]:
    """Changes when there is something new to read: size and time of each file that exists."""
    files = (home / name for name in (NAME, *former_files.FILES))
    return tuple((found.st_size, found.st_mtime_ns) for file in files if file.exists() and (found := file.stat()))


def take_over(home: Path) -> None:
    """Moves what former files hold into the journal, once, and removes them; the caller holds the writer's lock."""
    if not (former := former_files.lines(home)):
        former_files.remove(home)
        return
    added = [
        _line(JournalEntry(number, at, kind, entry_kinds.parse(kind, fields)))
        for number, at, kind, fields in _former(former, _parse(home, state(home)))
    ]
    _replace(home, b"".join([*_whole_lines(path(home)), *added]))
    former_files.remove(home)


def forget(home: Path, meant: Callable[[list[Any]], bool]) -> int:
    """Leaves of the entries whose fields' values are meant nothing but the number; returns how many they were.

    The file is replaced as a whole, a torn line goes. What cannot be read stays, for the search to name.
    """
    return _forget(home, lambda line: _is_meant(line, meant))


def forget_entries(home: Path, numbers: Collection[int]) -> int:
    """The same of the entries with these numbers."""
    return _forget(home, lambda line: _number(line) in numbers)


def rewrite(home: Path, change: Callable[[Any], Any]) -> int:
    """Replaces what each entry says by what `change` makes of it; numbers and times stay. Returns how many differ.

    The file is replaced as a whole. Raises JournalError where a line cannot be read.
    """
    with lock.writing(home, "relrag journal"):
        take_over(home)
        before = entries(home)
        after = [
            entry if entry.statement is None else replace(entry, statement=change(entry.statement)) for entry in before
        ]
        changed = sum(one != two for one, two in zip(before, after, strict=True))
        if changed:
            told = zip(_whole_lines(path(home)), before, after, strict=True)
            _replace(home, b"".join(line if one == two else _line(two) for line, one, two in told))
    return changed


def _forget(home: Path, is_meant: Callable[[bytes], bool]) -> int:
    with lock.writing(home, "relrag journal"):
        take_over(home)
        lines = _whole_lines(path(home))
        kept = [_erase_content(line) if is_meant(line) else line for line in lines]
        if path(home).exists() and path(home).read_bytes() != b"".join(kept):
            _replace(home, b"".join(kept))
    return sum(one != two for one, two in zip(kept, lines, strict=True))


def _is_meant(line: bytes, meant: Callable[[list[Any]], bool]) -> bool:
    try:
        return meant(list(orjson.loads(line).get("said", {}).values()))
    except (orjson.JSONDecodeError, AttributeError):
        return False


def _number(line: bytes) -> int:
    try:
        return int(orjson.loads(line)["entry"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return 0


def _erase_content(line: bytes) -> bytes:
    return orjson.dumps({"entry": orjson.loads(line)["entry"], "at": "", "kind": entry_kinds.FORGOTTEN}) + b"\n"


def _line(entry: JournalEntry) -> bytes:
    fields = entry_kinds.to_fields(entry.statement)
    return orjson.dumps({"entry": entry.number, "at": entry.at, "kind": entry.kind, "said": fields}) + b"\n"


Parsed = tuple[int, str, str, dict[str, Any]]
"""number, at, kind, fields"""


def _former(former: list[former_files.Line], known: Iterable[Parsed]) -> list[Parsed]:
    """What former files hold and the journal does not, numbered behind it: a kill may come before they are removed."""
    there = [(at, kind, fields) for _, at, kind, fields in known]
    new = [line for line in former if line not in there]
    first = max((number for number, *_ in known), default=0) + 1
    return [(number, *line) for number, line in enumerate(new, first)]


@functools.lru_cache(4)
def _parse(home: Path, state: tuple[tuple[int, int], ...]) -> tuple[Parsed, ...]:
    found: list[Parsed] = []
    for place, line in enumerate(_whole_lines(path(home)), start=1):
        try:
            entry = orjson.loads(line)
            number, at, kind, fields = entry["entry"], entry["at"], entry["kind"], entry.get("said", {})
            if kind != entry_kinds.FORGOTTEN and kind not in entry_kinds.KINDS:
                said = f'is of kind "{kind}", which a newer relrag wrote; install that version'
                raise JournalError(f"{NAME}, line {place}, {said}")
            if kind != entry_kinds.FORGOTTEN:
                entry_kinds.parse(kind, fields)
            if number <= (found[-1][0] if found else 0):
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError):
            advice = "put the journal of a backup in its place, or remove the line if it can be done without"
            raise JournalError(f"{NAME}, line {place}, is damaged; {advice}") from None
        found.append((number, at, kind, fields))
    return tuple(found)


def _whole_lines(file: Path) -> list[bytes]:
    """The lines that have an end."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


def _append(home: Path, added: bytes) -> None:
    file = path(home)
    make_private(file.parent)
    before = b"".join(_whole_lines(file))
    private_manifest.expect(home, NAME, hashlib.sha256(before + added).hexdigest())
    failpoint("journal.append", file)
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "rb+") as opened:
        opened.truncate(len(before))
        opened.seek(len(before))
        opened.write(added)
    sync_file(file)
    sync_folder(file.parent)


def _replace(home: Path, lines: bytes) -> None:
    private_manifest.expect(home, NAME, hashlib.sha256(lines).hexdigest())
    with replace_file(path(home)) as beside:
        beside.write_bytes(lines)
