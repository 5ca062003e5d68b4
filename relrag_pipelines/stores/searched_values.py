"""Which values of the vault the lake has been searched for; a value found later may stand in months published earlier.

`private/searched_values.json` has an entry for each: a hash of its pseudonym, which is a keyed hash itself. Without
the file every value counts as new. It also says whether the last search was cut short.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.records import SCHEMA_VERSION

NAME = "private/searched_values.json"


def unsearched_values(home: Path, pseudonyms: Iterable[str]) -> set[str]:
    """The pseudonyms that the lake hasn't been searched for yet."""
    searched = set(_read(home).get("searched", ()))
    return {pseudonym for pseudonym in pseudonyms if _hash(pseudonym) not in searched}


def note(home: Path, pseudonyms: Iterable[str]) -> None:
    """The lake was searched for these, and for no other that counts: what was forgotten goes."""
    _write(home, sorted(map(_hash, pseudonyms)), unfinished=False)


def note_unfinished(home: Path) -> None:
    """A file could not be read, or a row not taken out: the next sync looks again, whatever else it finds to do."""
    _write(home, _read(home).get("searched", []), unfinished=True)


def is_unfinished(home: Path) -> bool:
    """Whether the last search was cut short."""
    return bool(_read(home).get("unfinished"))


def _read(home: Path) -> dict[str, Any]:
    try:
        return sealed_json.read(home / NAME)
    except (FileNotFoundError, sealed_json.DamagedFile):
        return {}


def _write(home: Path, searched: list[str], *, unfinished: bool) -> None:
    body = {"schema_version": SCHEMA_VERSION, "searched": searched, "unfinished": unfinished}
    write_text(home / NAME, sealed_json.seal(body))


def _hash(pseudonym: str) -> str:
    return hashlib.blake2b(pseudonym.encode(), digest_size=8).hexdigest()
