"""`references` edges from a record to others it names by id: as its connector resolved them, or by Message-ID."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.privacy.keys import safe_id
from relrag_pipelines.records import Edge, Record
from relrag_pipelines.sources import MAIL_REF
from relrag_pipelines.sources.mail_ids import plain_id
from relrag_pipelines.stores.table_schema import arrow_schema

NAMED = "named_messages"
"""field of `extra`: asset ids of mails whose Message-ID is in the record's text"""
MAX_NAMED = 50
"""a text with more is a log of mails; these many are kept"""

_MARK = '"references":'
_HOST = r"@[\w.\[\]-]{1,200}[\w\]]"
_ID = rf"[\w.!#$%&'*+/=?^`{{|}}~-]{{1,200}}{_HOST}"
_ANNOUNCED = re.compile(
    rf"(?:\b(?:message-?id|in-reply-to|references)\b[ \t]*+[:=]?+[ \t]*+<?|\bmid:<?)({_ID})", re.IGNORECASE | re.ASCII
)
"""in a head or a trailer, or as a `mid:` address (RFC 2392)"""
_ARCHIVED = re.compile(rf"https?://[^\s?]{{1,100}}/([\w.!$%*+=^~-]{{1,200}}{_HOST})", re.IGNORECASE | re.ASCII)
"""the last part of the address of a mail in an archive of mails"""
_BRACKETED = re.compile(rf"<({_ID})>", re.ASCII)
_MAX_NAME_CHARS = 15
_DIGITS = re.compile(r"\d")
_MIN_DIGITS = 6


def references(records: pa.Table) -> pa.Table:
    """A claim for each entry of `extra.references` of redacted Record rows, the record that it answers left out.

    An entry is an id, or `ref`, `why` and `confidence`.
    """
    rows = records.filter(pc.match_substring(records["extra"], _MARK))
    columns = (rows[name].to_pylist() for name in ("asset_id", "parent_asset_id", "extra"))
    claims = [claim for row in zip(*columns, strict=True) for claim in _claims(*row)]
    return pa.Table.from_pylist(claims, schema=arrow_schema(Edge))


def message_id_edges(records: pa.Table) -> pa.Table:
    """A claim for each mail that the text of a redacted Record row names, but for those that `references` has."""
    rows = records.filter(pc.match_substring(records["extra"], f'"{NAMED}":'))
    claims = []
    columns = (rows[name].to_pylist() for name in ("asset_id", "parent_asset_id", "extra"))
    for asset_id, parent, extra in zip(*columns, strict=True):
        other_refs = {asset_id, parent, *(claim["dst_asset_ref"] for claim in _claims(asset_id, parent, extra))}
        refs = orjson.loads(extra).get(NAMED)
        claims += [
            # a Message-ID is unique in the world (RFC 5322, 3.6.4)
            _claim(asset_id, ref, 1.0, "names its Message-ID")
            for ref in (refs if isinstance(refs, list) else [])
            if isinstance(ref, str) and ref not in other_refs
        ]
    return pa.Table.from_pylist(claims, schema=arrow_schema(Edge))


def collect_message_ids(record: Record, id_hash: Callable[[str], str]) -> None:
    """Notes in `extra` which mails a record's text names by their Message-ID; to be called before it is redacted."""
    if "@" not in record.text or NAMED in record.extra:
        return
    ids = (MAIL_REF + safe_id(message_id, id_hash) for message_id in message_ids(record.text))
    own = plain_id(record.asset_id)
    if other_ids := [message_id for message_id in dict.fromkeys(ids) if message_id != own]:
        record.extra[NAMED] = other_ids


def message_ids(text: str) -> list[str]:
    """The Message-IDs that a text names, in order, each once, at most MAX_NAMED.

    In angle brackets alone, as addresses of people stand too, it has to look like one: a long part before the `@` with
    many digits.
    """
    # no id goes over a line's end, and few lines hold one
    text = "\n".join([line for line in text.split("\n") if "@" in line])
    ids_by_offset = {
        match.start(1): match[1] for pattern in (_ANNOUNCED, _ARCHIVED) for match in pattern.finditer(text)
    }
    for match in _BRACKETED.finditer(text):
        local = match[1].partition("@")[0]
        if len(local) > _MAX_NAME_CHARS and len(_DIGITS.findall(local)) >= _MIN_DIGITS:
            ids_by_offset[match.start(1)] = match[1]
    return list(dict.fromkeys(ids_by_offset[offset].rstrip(".") for offset in sorted(ids_by_offset)))[:MAX_NAMED]


def _claims(asset_id: str, answered: str | None, extra: str) -> Iterator[dict[str, str | float]]:
    references = orjson.loads(extra).get("references")
    seen = {asset_id, answered}
    for ref, why, confidence in filter(None, map(_entry, references if isinstance(references, list) else [])):
        if ref not in seen:
            seen.add(ref)
            yield _claim(asset_id, ref, confidence, why)


def _claim(src: str, dst: str, confidence: float, why: str) -> dict[str, str | float]:
    return {
        "src_asset_ref": src,
        "dst_asset_ref": dst,
        "relation_type": "references",
        "confidence": confidence,
        "provenance": why,
    }


def _entry(reference: Any) -> tuple[str, str, float] | None:
    """Id, reason and confidence; None where a source that brings its own `extra` means something else by the word."""
    if isinstance(reference, str):
        return reference, "it names the other", 1.0
    if isinstance(reference, dict) and {"ref", "why", "confidence"} <= reference.keys():
        return str(reference["ref"]), str(reference["why"]), float(reference["confidence"])
    return None
