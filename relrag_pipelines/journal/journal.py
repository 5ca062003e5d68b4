"""The owner's statements, in private/journal.jsonl. No other file holds them.

Entries are appended under the writer's lock and synced to disk; entry_kinds.py declares their kinds. Readers take them
in order, or from the number in a generation's MANIFEST. Only forgetting rewrites the file, as a whole. A last line
without a line end was torn by a kill and never confirmed: it is ignored, and the next append removes it.
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
    """A numbered statement of the owner."""

    number: int
    at: str
    """when, ISO 8601, UTC"""
    kind: str
    """see entry_kinds.py"""
    statement: Any
    """a row of the kind's type; None if the entry was forgotten"""


def path(home: Path) -> Path:
    """The file of the journal."""
    return home / NAME


def append(home: Path, rows: Iterable[object]) -> list[int]:
    """Appends an entry for each row, synced to disk, and returns their numbers. Raises lock.LockedByOther."""
    with lock.writing(home, "relrag journal"):
        take_over(home)
        first, at = last_number(home) + 1, now().isoformat("T", "seconds")
        entries = [JournalEntry(number, at, entry_kinds.kind_of(row), row) for number, row in enumerate(rows, first)]
        _append(home, b"".join(map(_line, entries)))
    return [entry.number for entry in entries]


def entries(home: Path, after: int = 0) -> list[JournalEntry]:
    """The entries in order, with numbers greater than `after`; those of former files too, until they are taken over.

    Raises JournalError if a line is damaged, or a newer relrag wrote it.
    """
    former = former_files.lines(home)
    parsed = _parse(home, state(home))
    parsed += tuple(_former(former, parsed))
    return [
        JournalEntry(number, at, kind, None if kind == entry_kinds.FORGOTTEN else entry_kinds.parse(kind, fields))
        for number, at, kind, fields in parsed
        if number > after
    ]


def statements(home: Path, row: type[Row], after: int = 0) -> list[Row]:
    """The statements of one type, in order. Raises JournalError as `entries` does."""
    return [entry.statement for entry in entries(home, after) if isinstance(entry.statement, row)]


def last_number(home: Path) -> int:
    """The highest number ever given; 0 if the journal is empty."""
    return max((entry.number for entry in entries(home)), default=0)


def state(home: Path) -> tuple[tuple[int, int], ...]:
    """Size and modification time of each file that exists; differs after every change."""
    files = (home / name for name in (NAME, *former_files.FILES))
    return tuple((stat.st_size, stat.st_mtime_ns) for file in files if file.exists() and (stat := file.stat()))


def take_over(home: Path) -> None:
    """Moves the statements of former files into the journal and removes the files; needs the writer's lock."""
    if not (former := former_files.lines(home)):
        former_files.remove(home)
        return
    added = [
        _line(JournalEntry(number, at, kind, entry_kinds.parse(kind, fields)))
        for number, at, kind, fields in _former(former, _parse(home, state(home)))
    ]
    _replace(home, b"".join([*_whole_lines(path(home)), *added]))
    former_files.remove(home)


def forget(home: Path, is_meant: Callable[[list[Any]], bool]) -> int:
    """Erases the entries for whose values `is_meant` is true, except for their numbers; returns how many.

    The file is replaced as a whole, without a torn line. Unreadable lines stay; the search reports them.
    """
    return _forget(home, lambda line: _is_meant(line, is_meant))


def forget_entries(home: Path, numbers: Collection[int]) -> int:
    """Erases the entries with these numbers, as `forget` does."""
    return _forget(home, lambda line: _number(line) in numbers)


def rewrite(home: Path, change: Callable[[Any], Any]) -> int:
    """Replaces each statement by the result of `change`; numbers and times stay. Returns the number of changes.

    The file is replaced as a whole. Raises JournalError if a line cannot be read.
    """
    with lock.writing(home, "relrag journal"):
        take_over(home)
        former = entries(home)
        new_entries = [
            entry if entry.statement is None else replace(entry, statement=change(entry.statement)) for entry in former
        ]
        changed = sum(left != right for left, right in zip(former, new_entries, strict=True))
        if changed:
            triples = zip(_whole_lines(path(home)), former, new_entries, strict=True)
            _replace(home, b"".join(line if left == right else _line(right) for line, left, right in triples))
    return changed


def _forget(home: Path, is_meant: Callable[[bytes], bool]) -> int:
    with lock.writing(home, "relrag journal"):
        take_over(home)
        lines = _whole_lines(path(home))
        remaining = [_erase_content(line) if is_meant(line) else line for line in lines]
        if path(home).exists() and path(home).read_bytes() != b"".join(remaining):
            _replace(home, b"".join(remaining))
    return sum(left != right for left, right in zip(remaining, lines, strict=True))


def _is_meant(line: bytes, is_about: Callable[[list[Any]], bool]) -> bool:
    try:
        return is_about(list(orjson.loads(line).get("said", {}).values()))
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


def _former(former: list[former_files.Line], parsed: Iterable[Parsed]) -> list[Parsed]:
    """Statements of former files that the journal lacks, with the next numbers; a kill may have left both."""
    present = [(at, kind, fields) for _, at, kind, fields in parsed]
    missing = [line for line in former if line not in present]
    first = max((number for number, *_ in parsed), default=0) + 1
    return [(number, *line) for number, line in enumerate(missing, first)]


@functools.lru_cache(4)
def _parse(home: Path, state: tuple[tuple[int, int], ...]) -> tuple[Parsed, ...]:
    parsed: list[Parsed] = []
    for line_number, line in enumerate(_whole_lines(path(home)), start=1):
        try:
            entry = orjson.loads(line)
            number, at, kind, fields = entry["entry"], entry["at"], entry["kind"], entry.get("said", {})
            if kind != entry_kinds.FORGOTTEN and kind not in entry_kinds.KINDS:
                problem = f'is of kind "{kind}", which a newer relrag wrote; install that version'
                raise JournalError(f"{NAME}, line {line_number}, {problem}")
            if kind != entry_kinds.FORGOTTEN:
                entry_kinds.parse(kind, fields)
            if number <= (parsed[-1][0] if parsed else 0):
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError):
            advice = "put the journal of a backup in its place, or remove the line if it can be done without"
            raise JournalError(f"{NAME}, line {line_number}, is damaged; {advice}") from None
        parsed.append((number, at, kind, fields))
    return tuple(parsed)


def _whole_lines(file: Path) -> list[bytes]:
    """The lines of a file that have a line end."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


def _append(home: Path, added: bytes) -> None:
    file = path(home)
    make_private(file.parent)
    former = b"".join(_whole_lines(file))
    private_manifest.expect(home, NAME, hashlib.sha256(former + added).hexdigest())
    failpoint("journal.append", file)
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "rb+") as stream:
        stream.truncate(len(former))
        stream.seek(len(former))
        stream.write(added)
    sync_file(file)
    sync_folder(file.parent)


def _replace(home: Path, lines: bytes) -> None:
    private_manifest.expect(home, NAME, hashlib.sha256(lines).hexdigest())
    with replace_file(path(home)) as temporary:
        temporary.write_bytes(lines)
