"""Loads what a hit holds beside its passage: messages of a chat window, fields of its kind, how sure its time is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from relrag_pipelines.sources import record_type
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit, Message
from relrag_query.retrieval.term_coverage import term_coverage, tokens

_NEAR_BEST = 0.7
"""messages that cover less than this share of what the best of their window covers are not shown"""


def with_messages(hits: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """The hits with the messages of their members, as far as these exist, in order of time."""
    members = list(dict.fromkeys(ref for hit in hits for ref in hit.members))
    known = catalog_reader.messages(context.connection, members) if members else {}

    def messages_of(hit: Hit) -> tuple[Message, ...]:
        return tuple(sorted((known[ref] for ref in hit.members if ref in known), key=lambda one: one.ts or 0))

    return [replace(hit, messages=messages_of(hit)) if hit.members else hit for hit in hits]


def match_messages(hit: Hit, matches: Callable[[Message], bool]) -> Hit:
    """The hit with the positions of the messages that match."""
    return replace(hit, matching=tuple(place for place, one in enumerate(hit.messages) if matches(one)))


def load_messages(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Gives each chat window its messages, and says which of them hold words of the question.

    A message is shown once: a later window whose matching messages all stand in earlier ones is dropped.
    """
    shown: set[str] = set()
    kept: list[Hit] = []
    for hit in with_messages(hits, context):
        shares = [term_coverage(context.terms, tokens(f"{one.sender or ''}\n{one.text}")) for one in hit.messages]
        least = _NEAR_BEST * max(shares, default=0.0)
        telling = {one.asset_id for one, share in zip(hit.messages, shares, strict=True) if share and share >= least}
        new = telling - shown
        if new or not telling:
            matching = tuple(place for place, one in enumerate(hit.messages) if one.asset_id in new)
            kept.append(replace(hit, matching=matching))
        shown |= telling
    return kept


def load_extra(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Gives commits and code what only they have: hash, class, method."""
    own = {hit.chunk.asset_id for hit in hits if record_type(hit.chunk.rag_source_type).details}
    known = catalog_reader.extras(context.connection, sorted(own)) if own else {}
    return [replace(hit, extra=known.get(hit.chunk.asset_id, {})) if hit.chunk.asset_id in own else hit for hit in hits]


def load_dates(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Says of each hit how its time is known: that of a document may be the time of its file.

    No words of the question are found in a day that is not known: its timestamp is only what is.
    """
    return [_dated(hit, hit.chunk.date_quality or "") if _may_be_undated(hit) else hit for hit in hits]


def _dated(hit: Hit, quality: str) -> Hit:
    chunk = hit.chunk
    if (known := {"modified": 0, "year": len("2025")}.get(quality)) is not None:
        chunk = replace(chunk, timestamp=(chunk.timestamp or "")[:known] or None)
    return replace(hit, date_quality=quality, chunk=chunk)


def _may_be_undated(hit: Hit) -> bool:
    """Messages have times, what is attached has that of its message, and cards tell when they were changed."""
    kind = record_type(hit.chunk.rag_source_type)
    return not (hit.date_quality or kind.chat or kind.mail or kind.part_of or kind.card or kind.about_people)
