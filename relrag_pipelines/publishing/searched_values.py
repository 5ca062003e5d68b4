"""Which values of the vault the whole lake has been searched for: one that becomes known later may stand in old months.

`private/searched_values` has a line for each: a hash of its pseudonym, which is a keyed hash itself. Without the file
every value counts as new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.files.atomic import write_text

NAME = "private/searched_values"


def since_then(home: Path, pseudonyms: Iterable[str]) -> set[str]:
    """Those of the pseudonyms that the lake was not searched for yet."""
    try:
        searched = set((home / NAME).read_text().split())
    except (FileNotFoundError, UnicodeDecodeError):
        searched = set()
    return {one for one in pseudonyms if _line(one) not in searched}


def note(home: Path, pseudonyms: Iterable[str]) -> None:
    """The lake was searched for these, and for no other that counts: what was forgotten goes."""
    write_text(home / NAME, "".join(f"{line}\n" for line in sorted(map(_line, pseudonyms))))


def _line(pseudonym: str) -> str:
    return hashlib.blake2b(pseudonym.encode(), digest_size=8).hexdigest()
