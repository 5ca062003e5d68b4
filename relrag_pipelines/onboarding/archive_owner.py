"""Guesses whose archive it is, for `relrag init` to propose: who takes part in the most chats and mails of a folder.

A chat of two and a mail in somebody's mailbox have one name in common with the next one: that of the owner. Where no
name stands out, git may know who uses this machine.
"""

from __future__ import annotations

import itertools
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from email.utils import getaddresses
from pathlib import Path

from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.onboarding.discover import ProposedSource
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, ReadContext

_KINDS = [kind.name for kind in KINDS.values() if kind.chat or kind.mail]
_MOST_UNITS, _MOST_RECORDS = 30, 300
"""of a source, and of a unit: the owner is in every part of them"""
_FEWEST = 2
"""chats or mails that tell more than chance"""


def guess(folder: Path, sources: list[ProposedSource], timezone: str, seconds: float = 3) -> str:
    """The name to propose; empty where nothing tells. Looks into files for about so many seconds."""
    until = time.monotonic() + seconds
    counted = {kind: Counter(_names(folder, sources, kind, timezone, until)) for kind in _KINDS}
    for names in counted.values():
        first, second = [*names.most_common(2), ("", 0), ("", 0)][:2]
        if first[1] >= _FEWEST and first[1] > second[1]:
            return first[0]
    return _git_name()


def _names(folder: Path, sources: list[ProposedSource], kind: str, timezone: str, until: float) -> Iterator[str]:
    """Each name once for every chat or mail that it takes part in."""
    seen: set[tuple[str, str]] = set()
    for record in _records(folder, sources, kind, timezone, until):
        said = getaddresses([one for one in (record.from_, *record.to) if one]) if KINDS[kind].mail else ()
        for name in {name for name, _ in said if name} if said else {record.from_ or ""} - {""}:
            if (place := (record.thread_id or record.source_id, name)) not in seen:
                seen.add(place)
                yield name


def _records(folder: Path, sources: list[ProposedSource], kind: str, timezone: str, until: float) -> Iterator[Record]:
    reading = ReadContext("init", timezone, str)
    for found in sources:
        if found.kind != kind:
            continue
        source = Source.model_validate({"name": found.name, "kind": kind, "path": folder / found.path})
        try:
            scanned = scan_units(folder / found.path, KINDS[kind], source, {}, "").units.values()
        except SourceNotFound:
            continue
        for unit in itertools.islice(scanned, _MOST_UNITS):
            with suppress(OSError):  # what cannot be read the sync will say
                for item in itertools.islice(KINDS[kind].read(unit, reading), _MOST_RECORDS):
                    if time.monotonic() > until:
                        return
                    if isinstance(item, Record):
                        yield item


def _git_name() -> str:
    """What git calls the user of this machine in commits."""
    try:
        said = subprocess.run(
            ["git", "config", "--global", "--get", "user.name"], capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return said.stdout.strip()
