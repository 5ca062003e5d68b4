"""Recognises a forgotten record whose id has changed: by the same file, or the same words of the same sender.

The id of a chat message contains the chat's title, and that of a JSON line its source's name; after a renaming, a
forgotten record would come back as a new one. A JSON line is identified by its own id and text. A message is not,
because the same text may be sent to two chats at once; but a stretch of a chat is, if several senders match.
A record that matches without certainty stays and is reported to the owner.
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
    "LIKE_FORGOTTEN",
    "MIN_MESSAGES",
    "MIN_UNDATED",
    "MIN_WORDS",
    "Fingerprint",
    "file_fingerprint",
    "fingerprints",
    "renamed_chat_rows",
]  # fmt: skip

MIN_WORDS = 6
"""in a text that identifies a message; notes such as "This message was deleted" are shorter"""
MIN_UNDATED = 12
"""the same for a message without a time"""
MIN_MESSAGES = 3
"""that identify a chat under another title"""
_OWN_IDS = frozenset(kind.name for kind in KINDS.values() if kind.own_ids)

_BYTES_HASH = re.compile(r'"bytes_hash":"(?P<hash>[0-9a-f]+)"')
"""in a document's `extra`: a keyed hash of its file, the same for equal bytes anywhere"""
_WORD = re.compile(r"[^\W_]+")


class Fingerprint(NamedTuple):
    """A mark by which a rule recognises a record."""

    row: int
    hash: str
    """keyed, 16 hex digits"""
    sure: bool
    """no other record can have it"""
    telling: bool = True
    """another record with it has the same text; otherwise the match may be chance"""


def _file_fingerprints(records: pa.Table, keys: Keys) -> Iterator[Fingerprint]:
    """Yields the fingerprints of the records that have a hash of a file's bytes."""
    extra = records["extra"]
    for row in pc.indices_nonzero(pc.match_substring(extra, '"bytes_hash"')).to_pylist():
        if hashed := file_fingerprint(extra[row].as_py(), keys):
            yield Fingerprint(row, hashed, sure=True)


def fingerprints(records: pa.Table, keys: Keys) -> Iterator[Fingerprint]:
    """Yields the fingerprints of private records: bytes of files; sender, minute and text where ids may change."""
    yield from _file_fingerprints(records, keys)
    kinds = pa.array([kind.name for kind in KINDS.values() if kind.ids_depend_on_names])
    rows = pc.indices_nonzero(pc.and_(pc.is_in(records["kind"], kinds), pc.is_null(records["index_in_parent"])))
    columns = (records[name].take(rows).to_pylist() for name in ("kind", "source_id", "from", "ts", "text"))
    for row, kind, own_id, sender, ts, text in zip(rows.to_pylist(), *columns, strict=True):
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        sentence = len(words) >= (MIN_UNDATED if ts is None else MIN_WORDS)
        is_distinctive = sentence or bool(ts is not None and sender)
        # one export of a chat has seconds and another has none
        signature = "\0".join((kind, sender or "", "" if ts is None else str(ts // 60), " ".join(words)))
        if is_distinctive:
            yield Fingerprint(row, _keyed_hash(keys, "said", signature), sure=False, telling=sentence)
        if kind in _OWN_IDS:
            yield Fingerprint(
                row, _keyed_hash(keys, "row", f"{own_id}\0{signature}"), sure=is_distinctive, telling=is_distinctive
            )


def renamed_chat_rows(records: pa.Table, matching_rows: Iterable[int]) -> list[int]:
    """The matching rows whose chat is a forgotten one under another title.

    It is one if most messages between its first and last matching row match, from more than one sender: a message sent
    to many chats at once matches alone in each.
    """
    by_thread: dict[str, list[int]] = defaultdict(list)
    kinds, threads = records["kind"], records["thread_id"]
    for row in matching_rows:
        if kinds[row].as_py() not in _OWN_IDS and threads[row].is_valid:
            by_thread[threads[row].as_py()].append(row)
    renamed: list[int] = []
    for thread, rows in by_thread.items():
        matching = records.take(rows).filter(pc.field("from").is_valid())
        if matching.num_rows < MIN_MESSAGES or len(pc.unique(matching["from"])) == 1:
            continue
        span = pc.min_max(matching["ts"])
        in_thread = (pc.field("thread_id") == thread) & pc.field("from").is_valid()
        between = records.filter(in_thread & (pc.field("ts") >= span["min"]) & (pc.field("ts") <= span["max"]))
        if 2 * matching.num_rows > between.num_rows:
            renamed += rows
    return renamed


def file_fingerprint(extra: str, keys: Keys) -> str | None:
    """The fingerprint of a document's bytes, which matches copies elsewhere; None for other records."""
    match = _BYTES_HASH.search(extra)
    return _keyed_hash(keys, "bytes", match["hash"]) if match else None


def _keyed_hash(keys: Keys, kind: str, value: str) -> str:
    return keys.id_hash(f"forget\0{kind}\0{value}")
