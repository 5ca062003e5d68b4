"""Formats results for a terminal; service/replies.py formats them as JSON.

Retrieved text is untrusted: `safe` removes characters that could control the terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from relrag_pipelines.text import citation_marks
from relrag_query.display.inert_text import safe
from relrag_query.display.metadata_line import hit_line
from relrag_query.display.source_line import pages_of, seconds_of, source_line, time_of, when_of
from relrag_query.results import Answer, CitedSource, Quote, Results
from relrag_query.retrieval.excerpts import plain
from relrag_query.retrieval.hit import Hit, QuotedPlace

_EXCERPT_CHARACTERS = 400
"""length of a passage in a list of results, in characters"""
STRONG = "Strong match:"
_BOLD, _NOT_BOLD = "\x1b[1m", "\x1b[22m"
"""control sequences of a terminal (ECMA-48, SGR)"""
_ADVICE = "Try other words for it, one word alone, or fewer limits."


def search_text(results: Results, zone: ZoneInfo, show_sources: bool = False) -> str:
    """The hits, numbered, each with its text; `show_sources` adds the compact line, the id and the score of each."""
    head = ["\n".join(map(safe, results.head))] if results.head else []
    if not results.hits:
        return "\n".join([*head, "Nothing found.", *_search_scope(results), _ADVICE])
    return "\n\n".join(
        [*head, *("\n".join(_hit(number, hit, zone, show_sources)) for number, hit in enumerate(results.hits, 1))]
    )


def _body(answer: Answer, *, terminal: bool) -> str:
    """The quotes of an answer, or what a model wrote."""
    if answer.quotes and not answer.written:
        return "\n\n".join(_quote_text(quote, terminal=terminal) for quote in answer.quotes)
    return safe(answer.text.strip())


def answer_text(
    answer: Answer, zone: ZoneInfo, show_sources: bool = False, *, printed: bool = False, terminal: bool = False
) -> str:
    """The answer with numbered sources; with `printed`, the text that was already printed is left out.

    `show_sources` adds the compact line of each source, its id and its text. On a `terminal` the sentence that answers
    is bold in its excerpt.
    """
    has_quotes = answer.quotes and not answer.written
    parts = [] if printed and answer.written else [_body(answer, terminal=terminal)]
    if answer.head:
        parts.insert(0, "\n".join(map(safe, answer.head)))
    if answer.confidence == "sure" and has_quotes:
        parts.insert(0, STRONG)
    if answer.notice:
        parts.append(safe(answer.notice))
    if answer.confidence == "none":
        parts.append("\n".join(_not_found(answer, zone)))
    if answer.confidence == "unsure" and answer.missing:
        parts.append(_missing(answer))
    return "\n\n".join([*parts, *_source_lists(answer, zone, show_sources)])


def _source_lists(answer: Answer, zone: ZoneInfo, show_sources: bool) -> Iterator[str]:
    """The sources that the answer cites, and those that it does not."""
    cited = [source for source in answer.sources if source.cited]
    others = [source for source in answer.sources if not source.cited]
    for title, sources in (("", cited), ("See also:\n", others)):
        if sources:
            yield title + "\n".join(line for source in sources for line in _source(source, zone, show_sources))


def _quote_text(quote: Quote, *, terminal: bool) -> str:
    text, answering = safe(quote.cited_text), safe(citation_marks.disarm(quote.answering))
    if not terminal or quote.answering == quote.text:
        return text
    return text.replace(answering, f"{_BOLD}{answering}{_NOT_BOLD}", 1)


def _not_found(answer: Answer, zone: ZoneInfo) -> Iterator[str]:
    yield from _search_scope(answer)
    if answer.closest:
        yield "Closest:"
        yield from (f"  {safe(source_line(hit, zone))}" for hit in answer.closest)


def _search_scope(reply: Answer | Results) -> Iterator[str]:
    yield safe(f"Searched {reply.searched}.")
    if reply.missing:
        yield _missing(reply)


def _missing(reply: Answer | Results) -> str:
    return safe(f"No passage holds: {', '.join(reply.missing)}.")


def _source(source: CitedSource, zone: ZoneInfo, with_details: bool) -> Iterator[str]:
    hit = source.hit
    if not with_details:
        yield safe(f"[{source.number}] {source_line(hit, zone, source.places)}")
        if hit.related:
            yield safe(f"    related: {hit.related.partition(': ')[2]}")
        return
    yield safe(f"[{source.number}] {hit_line(hit)}")
    for part in source.cited or [hit]:
        yield safe(citation_marks.disarm("\n".join(_messages(part, zone)) if part.messages else _plain_text(part)))
    yield safe(f"    {_details(hit, zone, source.locations, source.places)}")
    if hit.related:
        yield safe(f"    related to {hit.related}")


def _hit(number: int, hit: Hit, zone: ZoneInfo, show_sources: bool) -> Iterator[str]:
    yield safe(f"{number}. {hit_line(hit) if show_sources else source_line(hit, zone)}")
    excerpt = textwrap.shorten(_plain_text(hit), _EXCERPT_CHARACTERS, placeholder=" ...")
    text = "\n".join(_messages(hit, zone)) if hit.messages else excerpt
    yield safe(textwrap.indent(text, "   "))
    if not show_sources:
        return
    score = f"score {hit.display_score:.2f}" if hit.display_score else "near in meaning"
    yield safe(f"   {_details(hit, zone, [])}, {score}")


def _plain_text(hit: Hit) -> str:
    return plain(hit.text, hit.chunk.rag_source_type)


def _details(hit: Hit, zone: ZoneInfo, locations: list[str], places: Sequence[QuotedPlace] = ()) -> str:
    chunk = hit.chunk
    part = f"passage {chunk.chunk_index + 1} of {chunk.chunk_count}" if chunk.chunk_count > 1 else ""
    return ", ".join(
        word
        for word in (
            when_of(hit, zone, chunk.ts),
            pages_of(chunk, places),
            seconds_of(chunk, places),
            part,
            chunk.source,
            *locations[:1],
            chunk.asset_id,
        )
        if word
    )


def _messages(hit: Hit, zone: ZoneInfo) -> Iterator[str]:
    """The messages that contain words of the question; all messages if no message does."""
    for index, message in enumerate(hit.messages):
        if index in hit.matching or not hit.matching:
            yield f"{time_of(message.ts, zone, hit.chunk.rag_source_type)} {message.sender or ''}: {message.text}"
