"""Which values of the vault the whole lake has been searched for: one that becomes known later may stand in old months.

`private/searched_values.json` has an entry for each: a hash of its pseudonym, which is a keyed hash itself. Without
the file every value counts as new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.records import SCHEMA_VERSION

NAME = "private/searched_values.json"


def since_then(home: Path, pseudonyms: Iterable[str]) -> set[str]:
    """Those of the pseudonyms that the lake was not searched for yet."""
    try:
        searched = set(sealed_json.read(home / NAME)["searched"])
    except (FileNotFoundError, sealed_json.DamagedFile, KeyError):
        searched = set()
    return {one for one in pseudonyms if _hash(one) not in searched}


def note(home: Path, pseudonyms: Iterable[str]) -> None:
    """The lake was searched for these, and for no other that counts: what was forgotten goes."""
    body = {"schema_version": SCHEMA_VERSION, "searched": sorted(map(_hash, pseudonyms))}
    write_text(home / NAME, sealed_json.seal(body))


def _hash(pseudonym: str) -> str:
    return hashlib.blake2b(pseudonym.encode(), digest_size=8).hexdigest()
