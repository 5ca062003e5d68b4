"""Results as text for a terminal, and as JSON.

Retrieved text is shown, never obeyed: characters that could command a terminal are taken out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Chunk
from relrag_query.cli.terminal import safe
from relrag_query.display.metadata_line import hit_line
from relrag_query.results import Answer, CitedSource, Quote, Results
from relrag_query.retrieval.hit import Hit

_EXCERPT = 400
"""characters of a passage in a list of results"""
UNSURE = "Not sure. What comes closest:"
_ADVICE = "Try other words for it, one word alone, or fewer limits."


def search_text(results: Results, zone: ZoneInfo) -> str:
    """The hits, numbered, each with its compact line, its place and what it says."""
    head = ["\n".join(map(safe, results.head))] if results.head else []
    if not results.hits:
        return "\n".join([*head, "Nothing found.", *_where(results), _ADVICE])
    return "\n\n".join([*head, *("\n".join(_hit(number, hit, zone)) for number, hit in enumerate(results.hits, 1))])


def answer_text(answer: Answer, zone: ZoneInfo, show_sources: bool = False, *, told: bool = False) -> str:
    """The answer with numbered sources; `show_sources` adds what each source says, `told` leaves out what was said."""
    quoted = answer.quotes and not answer.written
    parts = ["\n\n".join(_quoted(quote) for quote in answer.quotes) if quoted else safe(answer.text.strip())]
    if told and answer.written and answer.found:
        parts = []
    if answer.head:
        parts.insert(0, "\n".join(map(safe, answer.head)))
    if answer.confidence == "unsure":
        parts.insert(0, UNSURE)
    if answer.notice:
        parts.append(safe(answer.notice))
    if answer.confidence == "none":
        parts.append("\n".join(_not_found(answer)))
    cited = [source for source in answer.sources if source.cited]
    for title, some in (("", cited), ("See also:\n", [one for one in answer.sources if not one.cited])):
        if some:
            parts.append(title + "\n".join(line for source in some for line in _source(source, zone, show_sources)))
    return "\n\n".join(parts)


def results_json(results: Results, zone: ZoneInfo) -> dict[str, Any]:
    """A search as JSON."""
    return {
        "query": results.query,
        "head": results.head,
        "hits": [_hit_json(hit, zone) for hit in results.hits],
        "searched": results.searched,
        "missing": results.missing,
        "intents": [intent.value for intent in results.intents],
        "when": _when(results),
        "trace": results.trace,
    }


def answer_json(answer: Answer, zone: ZoneInfo) -> dict[str, Any]:
    """An answer as JSON."""
    return {
        "question": answer.question,
        "found": answer.found,
        "confidence": answer.confidence,
        "head": answer.head,
        "answer": answer.text,
        "quotes": [
            {"text": one.text, "from": one.sender, "time": _time(one.ts, zone), "sources": one.sources}
            for one in answer.quotes
        ],
        "sources": [
            {"number": source.number, **_hit_json(source.hit, zone)}
            | {"cited_chunk_ids": [hit.chunk.chunk_id for hit in source.cited], "locations": source.locations}
            for source in answer.sources
        ],
        "closest": [_hit_json(hit, zone) for hit in answer.closest],
        "searched": answer.searched,
        "missing": answer.missing,
        "written_by": answer.written.model if answer.written else None,
        "invented_citations": answer.written.invented if answer.written else 0,
        "notice": answer.notice,
        "people": answer.people,
        "intents": [intent.value for intent in answer.intents],
        "when": _when(answer),
        "trace": answer.trace,
    }


def time_of(ts: int | None, zone: ZoneInfo) -> str:
    """A time by the owner's clock: 2025-01-15 10:12."""
    return datetime.fromtimestamp(ts, zone).strftime("%Y-%m-%d %H:%M") if ts is not None else "undated"


def _quoted(quote: Quote) -> str:
    numbers = "".join(f"[{number}]" for number in quote.sources)
    return safe(f"{quote.text.rstrip()} {numbers}".rstrip())


def _not_found(answer: Answer) -> Iterator[str]:
    yield from _where(answer)
    if answer.closest:
        yield "Closest:"
        yield from (f"  {safe(hit_line(hit))}" for hit in answer.closest)


def _where(asked: Answer | Results) -> Iterator[str]:
    yield safe(f"Searched {asked.searched}.")
    if asked.missing:
        yield safe(f"No passage holds: {', '.join(asked.missing)}.")


def _source(source: CitedSource, zone: ZoneInfo, with_text: bool) -> Iterator[str]:
    hit = source.hit
    yield safe(f"[{source.number}] {hit_line(hit)}")
    if with_text:
        for one in source.cited or [hit]:
            yield safe("\n".join(_messages(one, zone)) if one.messages else one.text)
    yield safe(f"    {_place(hit, zone, source.locations)}")
    if hit.related:
        yield safe(f"    related to {hit.related}")


def _hit(number: int, hit: Hit, zone: ZoneInfo) -> Iterator[str]:
    yield safe(f"{number}. {hit_line(hit)}")
    said = "\n".join(_messages(hit, zone)) if hit.messages else textwrap.shorten(hit.text, _EXCERPT, placeholder=" ...")
    yield safe(textwrap.indent(said, "   "))
    score = f"score {hit.display_score:.2f}" if hit.display_score else "near in meaning"
    yield safe(f"   {_place(hit, zone, [])}, {score}")


def _place(hit: Hit, zone: ZoneInfo, locations: list[str]) -> str:
    chunk = hit.chunk
    page = f"page {chunk.page_number}" if chunk.page_number else ""
    part = f"passage {chunk.chunk_index + 1} of {chunk.chunk_count}" if chunk.chunk_count > 1 else ""
    return ", ".join(
        word
        for word in (
            time_of(chunk.ts, zone),
            page,
            seconds_of(chunk),
            part,
            chunk.source,
            *locations[:1],
            chunk.asset_id,
        )
        if word
    )


def seconds_of(chunk: Chunk) -> str:
    """Where a passage is said in its recording: 2:05-3:10, with hours 1:02:05-1:03:10; empty where it has no times."""
    if chunk.start_second is None or chunk.end_second is None:
        return ""
    return "-".join(clock(int(second)) for second in (chunk.start_second, chunk.end_second))


def clock(seconds: int) -> str:
    """Seconds as 2:05, with hours as 1:02:05."""
    minutes = f"{seconds // 60 % 60}:{seconds % 60:02}"
    return f"{seconds // 3600}:{minutes:0>5}" if seconds >= 3600 else minutes


def _messages(hit: Hit, zone: ZoneInfo) -> Iterator[str]:
    """The messages that hold words of the question; all of them where none does."""
    for place, one in enumerate(hit.messages):
        if place in hit.matching or not hit.matching:
            yield f"{time_of(one.ts, zone)} {one.sender or ''}: {one.text}"


def _hit_json(hit: Hit, zone: ZoneInfo) -> dict[str, Any]:
    chunk = hit.chunk
    return {
        "line": hit_line(hit),
        "asset_id": chunk.asset_id,
        "chunk_id": chunk.chunk_id,
        "chunk_index": chunk.chunk_index,
        "chunk_count": chunk.chunk_count,
        "source": chunk.source,
        "kind": chunk.kind,
        "rag_source_type": chunk.rag_source_type,
        "from": chunk.from_,
        "subject": chunk.subject,
        "timestamp": chunk.timestamp,
        "time": _time(chunk.ts, zone),
        "page_number": chunk.page_number,
        "start_second": chunk.start_second,
        "end_second": chunk.end_second,
        "file_name": chunk.file_name,
        "source_uri": chunk.source_uri,
        "thread_id": chunk.thread_id,
        "parent_asset_id": chunk.parent_asset_id,
        "score": hit.score,
        "display_score": hit.display_score,
        "source_role": hit.role,
        "related": hit.related,
        "text": chunk.text,
        "messages": [
            {"asset_id": one.asset_id, "from": one.sender, "time": _time(one.ts, zone), "text": one.text}
            | {"matches": place in hit.matching}
            for place, one in enumerate(hit.messages)
        ],
    }


def _time(ts: int | None, zone: ZoneInfo) -> str | None:
    return datetime.fromtimestamp(ts, zone).isoformat() if ts is not None else None


def _when(asked: Answer | Results) -> dict[str, Any] | None:
    when = asked.when
    return {"phrase": when.phrase, "since": when.since, "until": when.until} if when else None
