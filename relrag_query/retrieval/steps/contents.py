"""Loads further fields of hits: the messages of a chat window, fields of a record's kind, the quality of its date."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from relrag_pipelines.privacy import pseudonyms
from relrag_pipelines.sources import RECORD_TYPES, record_type
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit, Message
from relrag_query.retrieval.term_coverage import term_coverage, tokens

TIMED_TYPES = frozenset(
    name
    for name, kind in RECORD_TYPES.items()
    if kind.chat or kind.mail or kind.part_of or kind.card or kind.about_people
)
"""types whose time is taken as it is, whatever their date quality says: messages have exact times, attachments have
that of their message, and cards have the time of their change"""
_MIN_SHARE_OF_BEST = 0.7
"""messages that cover less than this share of what the best of their window covers are not shown"""


def with_messages(hits: Sequence[Hit], connection: catalog_reader.Connection) -> list[Hit]:
    """The hits with the messages of their members, as far as these exist, in order of time."""
    members = list(dict.fromkeys(ref for hit in hits for ref in hit.members))
    messages_by_ref = catalog_reader.messages(connection, members) if members else {}

    def messages_of(hit: Hit) -> tuple[Message, ...]:
        present = (messages_by_ref[ref] for ref in hit.members if ref in messages_by_ref)
        return tuple(sorted(present, key=lambda message: message.ts or 0))

    return [replace(hit, messages=messages_of(hit)) if hit.members else hit for hit in hits]


def name_senders(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, with the usual names of senders of whom a record only has a number, an address or a handle."""
    if context.usual_names is None:
        return hits
    refs = {
        *(message.asset_id for hit in hits for message in hit.messages if _is_nameless(message.sender)),
        *(hit.chunk.asset_id for hit in hits if not hit.messages and _is_nameless(hit.chunk.from_)),
    }
    names = context.usual_names(sorted(refs)) if refs else {}
    return [_with_names(hit, names) for hit in hits] if names else hits


def _with_names(hit: Hit, names: Mapping[str, str]) -> Hit:
    """The hit with these senders, by record."""
    if hit.messages:
        messages = (replace(message, sender=names.get(message.asset_id, message.sender)) for message in hit.messages)
        return replace(hit, messages=tuple(messages))
    if hit.chunk.asset_id not in names:
        return hit
    return replace(hit, chunk=replace(hit.chunk, from_=names[hit.chunk.asset_id]))


def _is_nameless(sender: str | None) -> bool:
    """Whether a sender is only a pseudonym of a number or address, or has no letter."""
    return sender is not None and not any(map(str.isalpha, pseudonyms.mask_pseudonyms(sender)))


def match_messages(hit: Hit, matches: Callable[[Message], bool]) -> Hit:
    """The hit with the positions of the messages that match."""
    return replace(hit, matching=tuple(position for position, message in enumerate(hit.messages) if matches(message)))


def _matching_messages(hit: Hit, context: QueryContext) -> set[str]:
    """The ids of the messages of a hit that hold words of the question, not much fewer than the best does."""
    shares = {
        message.asset_id: term_coverage(context.question.terms, tokens(f"{message.sender or ''}\n{message.text}"))
        for message in hit.messages
    }
    min_share = _MIN_SHARE_OF_BEST * max(shares.values(), default=0.0)
    return {ref for ref, share in shares.items() if share and share >= min_share}


def load_messages(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Loads the messages of each chat window, and marks those that contain words of the question.

    A message is shown once: a later window is dropped if earlier ones contain all its matching messages.
    """
    shown: set[str] = set()
    new_hits: list[Hit] = []
    for hit in name_senders(with_messages(hits, context.connection), context):
        matching_ids = _matching_messages(hit, context)
        new = matching_ids - shown
        if new or not matching_ids:
            matching = tuple(position for position, message in enumerate(hit.messages) if message.asset_id in new)
            new_hits.append(replace(hit, matching=matching))
        shown |= matching_ids
    return new_hits


def load_extra(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Loads the fields that only commits and code have: hash, class, method."""
    own = {hit.chunk.asset_id for hit in hits if record_type(hit.chunk.rag_source_type).details}
    extras = catalog_reader.extras(context.connection, sorted(own)) if own else {}
    return [
        replace(hit, extra=extras.get(hit.chunk.asset_id, {})) if hit.chunk.asset_id in own else hit for hit in hits
    ]


def load_dates(hits: list[Hit]) -> list[Hit]:
    """Sets the date quality of each hit: the time of a document may be that of its file.

    The timestamp is cut to the parts that are known, so that no word of the question matches an unknown day.
    """
    return [_dated(hit, hit.chunk.date_quality or "") if _may_be_undated(hit) else hit for hit in hits]


def _dated(hit: Hit, quality: str) -> Hit:
    chunk = hit.chunk
    if (date_length := {"modified": 0, "year": len("2025")}.get(quality)) is not None:
        chunk = replace(chunk, timestamp=(chunk.timestamp or "")[:date_length] or None)
    return replace(hit, date_quality=quality, chunk=chunk)


def _may_be_undated(hit: Hit) -> bool:
    return not (hit.date_quality or hit.chunk.rag_source_type in TIMED_TYPES)
