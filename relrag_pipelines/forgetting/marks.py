"""By what a record is known again when its id has changed: the same file, or the same words of the same sender.

The id of a chat message holds the chat's title, and that of a line of JSON its source's name; under another one what
was forgotten would come back as a new record. A sender, a minute and a sentence tell it for sure; of "ok" or a photo
they do not, as the same may be sent to two chats at once. So those are kept, and named to the owner.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.keys import Keys
from relrag_pipelines.sources import KINDS

LIKE_FORGOTTEN = "like_forgotten"
"""fault word of a record that is read and may be one that was forgotten"""
FEWEST_WORDS = 6
"""of a text that is not sent twice in a minute; notes such as "This message was deleted" are shorter"""
FEWEST_UNDATED = 12
"""of one that has no time"""

_BYTES_HASH = re.compile(r'"bytes_hash":"(?P<hash>[0-9a-f]+)"')
"""what a document's `extra` says of its file: a keyed hash, equal for equal bytes anywhere"""
_WORD = re.compile(r"[^\W_]+")


class Mark(NamedTuple):
    """What a rule keeps to know a record again."""

    row: int
    hash: str
    """keyed, 16 hex digits"""
    sure: bool
    """nothing else has it"""


def of(records: pa.Table, keys: Keys) -> Iterator[Mark]:
    """The marks of private records: of files their bytes, and where ids may change who said what in which minute."""
    extra = records["extra"]
    for row in pc.indices_nonzero(pc.match_substring(extra, '"bytes_hash"')).to_pylist():
        if hashed := of_bytes(extra[row].as_py(), keys):
            yield Mark(row, hashed, sure=True)
    named = pa.array([kind.name for kind in KINDS.values() if kind.ids_hold_names])
    rows = pc.indices_nonzero(pc.and_(pc.is_in(records["kind"], named), pc.is_null(records["index_in_parent"])))
    columns = (records[name].take(rows).to_pylist() for name in ("kind", "from", "ts", "text"))
    for row, kind, sender, ts, text in zip(rows.to_pylist(), *columns, strict=True):
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        sure = len(words) >= (FEWEST_UNDATED if ts is None else FEWEST_WORDS)
        if sure or (ts is not None and sender):
            # one export of a chat has seconds and another has none
            told = (kind, sender or "", "" if ts is None else str(ts // 60), " ".join(words))
            yield Mark(row, _keyed(keys, "said", "\0".join(told)), sure)


def of_bytes(extra: str, keys: Keys) -> str | None:
    """What a rule keeps of a document's bytes, so that a copy elsewhere stays away too; None for other records."""
    found = _BYTES_HASH.search(extra)
    return _keyed(keys, "bytes", found["hash"]) if found else None


def _keyed(keys: Keys, what: str, value: str) -> str:
    return keys.id_hash(f"forget\0{what}\0{value}")
