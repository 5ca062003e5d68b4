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
from relrag_query.display.page_texts import PageTexts, page_texts
from relrag_query.display.source_line import pages_of, seconds_of, source_line, time_of, when_of, without_address
from relrag_query.results import Answer, CitedSource, Quote, Results
from relrag_query.retrieval.excerpts import plain
from relrag_query.retrieval.hit import Hit, QuotedPlace

_EXCERPT_CHARACTERS = 400
"""length of a passage in a list of results, in characters"""
_BOLD, _NOT_BOLD = "\x1b[1m", "\x1b[22m"
"""control sequences of a terminal (ECMA-48, SGR)"""


def search_text(results: Results, zone: ZoneInfo, show_sources: bool = False) -> str:
    """The hits, numbered, each with its text; `show_sources` adds the compact line, the id and the score of each."""
    head = ["\n".join(map(safe, results.head))] if results.head else []
    texts = page_texts(results.language)
    if not results.hits:
        return "\n".join([*head, texts.nothing, *_search_scope(results, texts), texts.advice])
    hits = ("\n".join(_hit(number, hit, zone, show_sources, texts)) for number, hit in enumerate(results.hits, 1))
    return "\n\n".join([*head, *hits])


def _body(answer: Answer, zone: ZoneInfo, *, terminal: bool) -> str:
    """The quotes of an answer, or what a model wrote."""
    if answer.quotes and answer.form == "list" and not answer.written:
        return "\n".join(_item(quote, zone, page_texts(answer.language)) for quote in answer.quotes)
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
    texts = page_texts(answer.language)
    parts = [] if printed and answer.written else [_body(answer, zone, terminal=terminal)]
    if answer.head:
        parts.insert(0, "\n".join(map(safe, answer.head)))
    if answer.confidence == "sure" and answer.quotes and not answer.written:
        parts.insert(0, f"{texts.strong}:")
    if answer.notice:
        parts.append(safe(answer.notice))
    if answer.confidence == "none":
        parts.append("\n".join(_not_found(answer, zone, texts)))
    if answer.confidence == "unsure" and answer.missing:
        parts.append(_missing(answer, texts))
    return "\n\n".join([*parts, *_source_lists(answer, zone, show_sources)])


def _source_lists(answer: Answer, zone: ZoneInfo, show_sources: bool) -> Iterator[str]:
    """The sources that the answer cites, and those that it does not."""
    cited = [source for source in answer.sources if source.cited]
    others = [source for source in answer.sources if not source.cited]
    texts = page_texts(answer.language)
    for title, sources in (("", cited), (f"{texts.see_also}:\n", others)):
        if sources:
            yield title + "\n".join(line for source in sources for line in _source(source, zone, show_sources, texts))


def _quote_text(quote: Quote, *, terminal: bool) -> str:
    text, answering = safe(quote.cited_text), safe(citation_marks.disarm(quote.answering))
    if not terminal or quote.answering == quote.text:
        return text
    return text.replace(answering, f"{_BOLD}{answering}{_NOT_BOLD}", 1)


def _item(quote: Quote, zone: ZoneInfo, texts: PageTexts) -> str:
    """An item of a list on one line: `- 2025-03-04, Dana Levi: the text [1]`."""
    text = " ".join(safe(quote.cited_text).removeprefix(f"{quote.sender}: ").split())
    if quote.hit is None:
        return f"- {text}"
    chunk = quote.hit.chunk
    when = when_of(quote.hit, zone, quote.ts, texts)
    day = when.partition(" ")[0] if when[:1].isdigit() else when
    who = without_address(quote.sender or chunk.subject or chunk.file_name or "")
    return f"- {safe(', '.join(filter(None, (day, who))))}: {text.removeprefix(f'{who}: ')}"


def _not_found(answer: Answer, zone: ZoneInfo, texts: PageTexts) -> Iterator[str]:
    yield from _search_scope(answer, texts)
    if answer.closest:
        yield f"{texts.closest}:"
        yield from (f"  {safe(source_line(hit, zone, texts=texts))}" for hit in answer.closest)


def _search_scope(reply: Answer | Results, texts: PageTexts) -> Iterator[str]:
    if reply.searched:
        yield safe(texts.searched.format(scope=reply.searched))
    if reply.missing:
        yield _missing(reply, texts)


def _missing(reply: Answer | Results, texts: PageTexts) -> str:
    return safe(texts.missing.format(words=", ".join(reply.missing)))


def _source(source: CitedSource, zone: ZoneInfo, with_details: bool, texts: PageTexts) -> Iterator[str]:
    hit = source.hit
    if not with_details:
        yield safe(f"[{source.number}] {source_line(hit, zone, source.places, texts)}")
        if hit.related:
            yield safe(f"    related: {hit.related.partition(': ')[2]}")
        return
    yield safe(f"[{source.number}] {hit_line(hit)}")
    for part in source.cited or [hit]:
        yield safe(citation_marks.disarm("\n".join(_messages(part, zone)) if part.messages else _plain_text(part)))
    yield safe(f"    {_details(hit, zone, source.locations, source.places)}")
    if hit.related:
        yield safe(f"    related to {hit.related}")


def _hit(number: int, hit: Hit, zone: ZoneInfo, show_sources: bool, texts: PageTexts) -> Iterator[str]:
    yield safe(f"{number}. {hit_line(hit) if show_sources else source_line(hit, zone, texts=texts)}")
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
