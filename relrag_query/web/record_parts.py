"""Splits the text of a record into parts, so that the page of a long record stays small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from relrag_query.service.record_replies import RecordReply

MAX_PART_CHARACTERS = 60_000
"""maximum length of a part"""


class Stretch(NamedTuple):
    """A stretch of text on one page of the original; the number is None if there are no pages."""

    page: int | None
    text: str


def parts(record: RecordReply) -> list[list[Stretch]]:
    """The text in parts, each with as many stretches as fit; at least one part."""
    record_parts: list[list[Stretch]] = [[]]
    size = 0
    for stretch in _stretches(record):
        if record_parts[-1] and size + len(stretch.text) > MAX_PART_CHARACTERS:
            record_parts.append([])
            size = 0
        record_parts[-1].append(stretch)
        size += len(stretch.text)
    return record_parts


def template_context(record: RecordReply | None, part: str) -> dict[str, Any]:
    """`texts`, the parts of a record, and `part`, the number of the requested part; 1 if it is invalid."""
    texts = parts(record) if record else []
    number = int(part) if part.isascii() and part.isdecimal() and len(part) < 9 else 1
    return {"texts": texts, "part": number if 0 < number <= len(texts) else 1}


def _stretches(record: RecordReply) -> Iterator[Stretch]:
    pages = record.pages if len(record.pages) > 1 else [(None, 0, len(record.text))]
    for number, start, end in pages:
        while end - start > MAX_PART_CHARACTERS:
            # cut at the end of a line, if one is near
            cut = (
                record.text.rfind("\n", start + MAX_PART_CHARACTERS // 2, start + MAX_PART_CHARACTERS) + 1
                or start + MAX_PART_CHARACTERS
            )
            yield Stretch(number, record.text[start:cut])
            start = cut
        yield Stretch(number, record.text[start:end])
