"""What follows a question in its thread: a reply often shares no word with what it replies to."""

from __future__ import annotations

from dataclasses import replace

from relrag_pipelines.sources import record_type
from relrag_query.answering.sentences import asks_for_something, expects_reply, quotable_spans, split
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import CONTEXT_EXPANSION, Hit
from relrag_query.retrieval.term_coverage import Term, term_coverage, tokens

_MOST = 5
"""hits whose question is followed"""
_LATER = 2 * 86_400
"""seconds within which a reply comes in a chat"""
_BEFORE = 3
"""turns at the end of a chat window of which one holds words of the question and the last may ask"""
_BEHIND = 4
"""messages, or mails, among which the reply is looked for"""


def attach_replies(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Gives a chat window that ends with a question what was written next, and a mail that asks the one that replies.

    Mails that reply stand behind all hits.
    """
    present = {hit.chunk.chunk_id: hit for hit in hits}
    asking = [hit for hit in hits if not hit.role and hit.chunk.thread_id and _waits(hit, context.question.terms)][
        :_MOST
    ]
    followed: dict[str, Hit] = {}
    for hit in asking:
        if hit.messages:
            followed[hit.chunk.chunk_id] = _continued(hit, context)
        elif reply := _reply(hit, context):
            reply = present.setdefault(reply.chunk.chunk_id, reply)
            followed[hit.chunk.chunk_id] = replace(hit, reply=reply)
    replies = list(present.values())[len(hits) :]
    if asking:
        context.note("replies", f"{len(asking)} hits ask, {len(replies)} mails that reply added")
    return [*(followed.get(hit.chunk.chunk_id, hit) for hit in hits), *replies]


def _chat_waits(hit: Hit) -> bool:
    """Whether a chat window ends with a question near the messages that match."""
    matching = {hit.messages[position].asset_id for position in hit.matching}
    *_, last = turns = quotable_spans(hit)[-_BEFORE:]
    first_second = turns[0].ts or 0
    latest = {message.asset_id for message in hit.messages if (message.ts or 0) >= first_second}
    return expects_reply(last.text) and bool(matching & latest)


def _waits(hit: Hit, terms: list[Term]) -> bool:
    """Whether what a hit says of the question asks, or what a chat says right behind it, and nothing of it replies."""
    if hit.messages:
        return _chat_waits(hit)
    if not record_type(hit.chunk.rag_source_type).mail or hit.chunk.section is not None:
        return False
    shares = [(term_coverage(terms, tokens(part)), part) for part in split(hit.chunk.text)]
    return bool(shares) and asks_for_something(max(shares)[1])


def _continued(hit: Hit, context: QueryContext) -> Hit:
    """The chat window with the messages that follow soon."""
    end = hit.messages[-1].ts or 0
    windows = catalog_reader.following_chunks(context.connection, str(hit.chunk.thread_id), end, _BEHIND)
    members = list(dict.fromkeys(ref for window in windows for ref in window.members))
    messages = catalog_reader.messages(context.connection, members) if members else {}
    later = sorted(
        (message for message in messages.values() if end < (message.ts or 0) <= end + _LATER),
        key=lambda message: message.ts or 0,
    )
    return replace(hit, messages=(*hit.messages, *later[:_BEHIND]))


def _reply(hit: Hit, context: QueryContext) -> Hit | None:
    """The mail that replies to this one, else the next of somebody else in its thread."""
    chunk = hit.chunk
    later = [
        mail
        for mail in catalog_reader.following_chunks(context.connection, str(chunk.thread_id), chunk.ts or 0, _BEHIND)
        if mail.from_ != chunk.from_ and context.allows(mail)
    ]
    later.sort(key=lambda mail: mail.parent_asset_id != chunk.asset_id)
    if not later:
        return None
    return Hit(
        later[0],
        hit.score,
        hit.display_score,
        CONTEXT_EXPANSION,
        in_time=hit.in_time,
        why=f"replies to {chunk.asset_id}",
    )
