"""Recognises a forgotten record whose id has changed: by the same file, or the same words of the same sender.

The id of a chat message holds the chat's title, and that of a line of JSON its source's name; under another one what
was forgotten would come back as a new record. A line of JSON is told for sure by its own id and what it says. A message
is not, as the same may be sent to two chats at once; but a stretch of a chat is, in which several people say the same.
What is not told for sure is kept, and named to the owner.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure.rule_file import LIKE_FORGOTTEN
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.sources import KINDS

__all__ = [
    "FEWEST_MESSAGES",
    "FEWEST_UNDATED",
    "FEWEST_WORDS",
    "LIKE_FORGOTTEN",
    "Fingerprint",
    "file_fingerprint",
    "fingerprints",
    "renamed_chat_rows",
]  # fmt: skip

FEWEST_WORDS = 6
"""of a text that is not sent twice in a minute; notes such as "This message was deleted" are shorter"""
FEWEST_UNDATED = 12
"""of one that has no time"""
FEWEST_MESSAGES = 3
"""by which a chat is known under another title"""
_OWN_IDS = frozenset(kind.name for kind in KINDS.values() if kind.own_ids)

_BYTES_HASH = re.compile(r'"bytes_hash":"(?P<hash>[0-9a-f]+)"')
"""what a document's `extra` says of its file: a keyed hash, equal for equal bytes anywhere"""
_WORD = re.compile(r"[^\W_]+")


class Fingerprint(NamedTuple):
    """What a rule keeps to know a record again."""

    row: int
    hash: str
    """keyed, 16 hex digits"""
    sure: bool
    """nothing else has it"""
    telling: bool = True
    """what else has it says the same; else that may be chance"""


def fingerprints(records: pa.Table, keys: Keys) -> Iterator[Fingerprint]:
    """The marks of private records: of files their bytes, and where ids may change who said what in which minute."""
    extra = records["extra"]
    for row in pc.indices_nonzero(pc.match_substring(extra, '"bytes_hash"')).to_pylist():
        if hashed := file_fingerprint(extra[row].as_py(), keys):
            yield Fingerprint(row, hashed, sure=True)
    named = pa.array([kind.name for kind in KINDS.values() if kind.ids_depend_on_names])
    rows = pc.indices_nonzero(pc.and_(pc.is_in(records["kind"], named), pc.is_null(records["index_in_parent"])))
    columns = (records[name].take(rows).to_pylist() for name in ("kind", "source_id", "from", "ts", "text"))
    for row, kind, own_id, sender, ts, text in zip(rows.to_pylist(), *columns, strict=True):
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        sentence = len(words) >= (FEWEST_UNDATED if ts is None else FEWEST_WORDS)
        some = sentence or bool(ts is not None and sender)
        # one export of a chat has seconds and another has none
        told = "\0".join((kind, sender or "", "" if ts is None else str(ts // 60), " ".join(words)))
        if some:
            yield Fingerprint(row, _keyed_hash(keys, "said", told), sure=False, telling=sentence)
        if kind in _OWN_IDS:
            yield Fingerprint(row, _keyed_hash(keys, "row", f"{own_id}\0{told}"), sure=some, telling=some)


def renamed_chat_rows(records: pa.Table, alike: Iterable[int]) -> list[int]:
    """Those of the rows that are like forgotten ones of which the chat is a forgotten one under another title.

    It is where most of what is said from the first to the last of them is like it, and by more than one sender: what
    somebody sends to many chats at once stands alone in each.
    """
    by_thread: dict[str, list[int]] = defaultdict(list)
    kinds, threads = records["kind"], records["thread_id"]
    for row in alike:
        if kinds[row].as_py() not in _OWN_IDS and threads[row].is_valid:
            by_thread[threads[row].as_py()].append(row)
    found: list[int] = []
    for thread, rows in by_thread.items():
        like = records.take(rows).filter(pc.field("from").is_valid())
        if like.num_rows < FEWEST_MESSAGES or len(pc.unique(like["from"])) == 1:
            continue
        span = pc.min_max(like["ts"])
        said = (pc.field("thread_id") == thread) & pc.field("from").is_valid()
        between = records.filter(said & (pc.field("ts") >= span["min"]) & (pc.field("ts") <= span["max"]))
        if 2 * like.num_rows > between.num_rows:
            found += rows
    return found


def file_fingerprint(extra: str, keys: Keys) -> str | None:
    """What a rule keeps of a document's bytes, so that a copy elsewhere stays away too; None for other records."""
    found = _BYTES_HASH.search(extra)
    return _keyed_hash(keys, "bytes", found["hash"]) if found else None


def _keyed_hash(keys: Keys, what: str, value: str) -> str:
    return keys.id_hash(f"forget\0{what}\0{value}")
