"""Where a quote stands in its record: the page of a document, the second of a recording, the time of a message.

A passage may go over several pages or minutes, so what is known of the passage is not what a reader looks up.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from relrag_query.answering.sentences import QuotableSpan
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.catalog_reader import Connection, Layout
from relrag_query.retrieval.hit import QuotedPlace

_WORDS = 12
"""words by which a quote is found in its passage"""


def locate(spans: Sequence[QuotableSpan], connection: Connection) -> list[QuotedPlace]:
    """The place of each, in their order."""
    long_refs = {span.asset_id for span in spans if _is_long(span)}
    layouts = catalog_reader.layouts(connection, sorted(long_refs)) if long_refs else {}
    return [_place(span, layouts.get(span.asset_id)) for span in spans]


def _is_long(span: QuotableSpan) -> bool:
    """Whether a passage has more than one page, or is said in a recording."""
    chunk = span.hit.chunk
    return chunk.section is None and (chunk.page_number != chunk.last_page_number or chunk.start_second is not None)


def _place(span: QuotableSpan, layout: Layout | None) -> QuotedPlace:
    chunk = span.hit.chunk
    offset = _offset(span) if layout else None
    if layout is None or offset is None:
        return QuotedPlace(span.ts, chunk.page_number, chunk.start_second)
    page = _before(offset, [(part.start, part.number) for part in layout.pages])
    second = _before(offset, [(part.start, part.start_second) for part in layout.speech])
    return QuotedPlace(
        span.ts, chunk.page_number if page is None else int(page), chunk.start_second if second is None else second
    )


def _offset(span: QuotableSpan) -> int | None:
    """Of the quote in its record's text: lines are joined and stripped when a passage is cut into quotes."""
    words = span.text.split()[:_WORDS]
    match = re.search(r"\s+".join(map(re.escape, words)), span.hit.chunk.text) if words else None
    return span.hit.chunk.start + match.start() if match else None


def _before(offset: int, starts: Sequence[tuple[int, float]]) -> float | None:
    """What belongs to the last start at or before an offset."""
    count = bisect_right([start for start, _ in starts], offset)
    return starts[count - 1][1] if count else None
