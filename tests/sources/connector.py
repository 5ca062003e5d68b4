"""Runs a connector over a file, as an export does."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from unittest import mock

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, CoveredInterval, ReadContext, Unit
from relrag_pipelines.sources.chats.export_files import ArchiveFiles

MTIME = 1_714_550_400
"""1 May 2024"""


def keyed(text: str) -> str:
    """A hash in place of the archive's."""
    return hashlib.blake2b(text.encode(), digest_size=8, key=b"test").hexdigest()


def read(kind: str, file: Path, root: Path | None = None) -> tuple[list[Record], list[Failure]]:
    """The records and failures of a file in a source of that kind, which was written on 1 May 2024."""
    os.utime(file, (MTIME, MTIME))
    path = (file.relative_to(root) if root else Path(file.name)).as_posix()
    siblings = [path]
    if root:
        siblings = sorted(one.relative_to(root).as_posix() for one in root.rglob("*") if one.is_file())

    def unit(name: str) -> Unit:
        there = (root or file.parent) / name
        return Unit(name, there, there.stat().st_size, MTIME * 10**9)

    reading = ReadContext("sample", "Europe/Prague", keyed, units=lambda: [unit(name) for name in siblings])
    items = list(KINDS[kind].read(unit(path), reading))
    assert not any(isinstance(item, CoveredInterval) for item in items)
    records = [item for item in items if isinstance(item, Record)]
    return records, [item for item in items if isinstance(item, Failure)]


def packed(file: Path, members: Mapping[str, bytes | str]) -> Path:
    """A zip of these members."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return file


@contextmanager
def counted_openings() -> Iterator[Counter[str]]:
    """How often each member of a zip is opened; each read identifies it by its first bytes, which is one opening."""
    counts = Counter[str]()
    open_member = ArchiveFiles.open

    def count(files: ArchiveFiles, path: str) -> BinaryIO:
        counts[path] += 1
        return open_member(files, path)

    with mock.patch.object(ArchiveFiles, "open", count):
        yield counts


def mutations(data: bytes, count: int, seed: str) -> list[bytes]:
    """Seeded damages of a file: bytes changed, cut off, doubled."""
    import random

    pick, damaged = random.Random(seed), []
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(pick.choice((1, 4, 32))):
            changed[pick.randrange(len(changed))] = pick.choice((0, 10, 34, 60, 123, 255, pick.randrange(256)))
        begin, end = sorted((pick.randrange(len(changed)), pick.randrange(len(changed))))
        whole = bytes(changed)
        damaged.append(pick.choice((whole, whole[:end], whole[:end] + whole[begin:], whole[:begin] + whole[end:])))
    return damaged


def survives(kind: str, sample: Path, folder: Path, count: int = 40) -> None:
    """Reads seeded damages of a sample: records or failures, never an exception."""
    file = folder / sample.name
    for data in mutations(sample.read_bytes(), count, sample.name):
        file.write_bytes(data)
        KINDS[kind].recognise(file)
        read(kind, file)
