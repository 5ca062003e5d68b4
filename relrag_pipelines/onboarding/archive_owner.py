"""Guesses the archive's owner for `relrag init`: the person in the most chats and mails of a folder.

The owner is the one person who takes part in all of them. If no name stands out, the user's name in git is proposed.
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
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, CoveredInterval, ReadContext

_KINDS = [kind.name for kind in KINDS.values() if kind.chat or kind.mail]
_MAX_UNITS, _MAX_RECORDS = 30, 300
"""limits per source and per unit; a few suffice, because the owner is in every part"""
_MIN_APPEARANCES = 2
"""chats or mails that a name needs, so that it is not there by chance"""


def guess(folder: Path, sources: list[ProposedSource], timezone: str, seconds: float = 3) -> str:
    """The name to propose, empty if there is none. Reads files for about `seconds`."""
    until = time.monotonic() + seconds
    counted = {kind: Counter(_names(folder, sources, kind, timezone, until)) for kind in _KINDS}
    for names in counted.values():
        first, second = [*names.most_common(2), ("", 0), ("", 0)][:2]
        if first[1] >= _MIN_APPEARANCES and first[1] > second[1]:
            return first[0]
    return _git_name()


def _names(folder: Path, sources: list[ProposedSource], kind: str, timezone: str, until: float) -> Iterator[str]:
    """Yields each name once for every chat or mail that it takes part in."""
    seen: set[tuple[str, str]] = set()
    for record in _records(folder, sources, kind, timezone, until):
        addresses = (
            getaddresses([address for address in (record.from_, *record.to) if address]) if KINDS[kind].mail else ()
        )
        for name in {name for name, _ in addresses if name} if addresses else {record.from_ or ""} - {""}:
            if (appearance := (record.thread_id or record.source_id, name)) not in seen:
                seen.add(appearance)
                yield name


def _records(folder: Path, sources: list[ProposedSource], kind: str, timezone: str, until: float) -> Iterator[Record]:
    for proposed in sources:
        if proposed.kind != kind:
            continue
        for item in _first_items(folder / proposed.path, proposed.name, kind, timezone):
            if time.monotonic() > until:
                return
            if isinstance(item, Record):
                yield item


def _first_items(path: Path, name: str, kind: str, timezone: str) -> Iterator[Record | Failure | CoveredInterval]:
    """What the first units of a source hold; a sync reports those that cannot be read."""
    source = Source.model_validate({"name": name, "kind": kind, "path": path})
    try:
        units = scan_units(path, KINDS[kind], source, {}, "").units.values()
    except SourceNotFound:
        return
    context = ReadContext("init", timezone, str)
    for unit in itertools.islice(units, _MAX_UNITS):
        with suppress(OSError):
            yield from itertools.islice(KINDS[kind].read(unit, context), _MAX_RECORDS)


def _git_name() -> str:
    """The user's name in git's global configuration; empty if there is none."""
    try:
        result = subprocess.run(
            ["git", "config", "--global", "--get", "user.name"], capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return result.stdout.strip()
