"""The text of a record in parts, so that the page of a long one stays as small as others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from relrag_query.service.record_replies import RecordReply

MOST = 60_000
"""characters of a part"""


class Stretch(NamedTuple):
    """What stands together on a page of the original, whose number is None where there are no pages."""

    page: int | None
    text: str


def parts(record: RecordReply) -> list[list[Stretch]]:
    """The text from beginning to end, each part as many stretches as fit; at least one part."""
    found: list[list[Stretch]] = [[]]
    size = 0
    for one in _stretches(record):
        if found[-1] and size + len(one.text) > MOST:
            found.append([])
            size = 0
        found[-1].append(one)
        size += len(one.text)
    return found


def template_context(record: RecordReply | None, asked: str) -> dict[str, Any]:
    """`texts`, the parts of a record, and `part`, the number of the one that is asked for; else of the first, 1."""
    texts = parts(record) if record else []
    number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else 1
    return {"texts": texts, "part": number if 0 < number <= len(texts) else 1}


def _stretches(record: RecordReply) -> Iterator[Stretch]:
    pages = record.pages if len(record.pages) > 1 else [(None, 0, len(record.text))]
    for number, start, end in pages:
        while end - start > MOST:
            # at the end of a line, where one is near
            cut = record.text.rfind("\n", start + MOST // 2, start + MOST) + 1 or start + MOST
            yield Stretch(number, record.text[start:cut])
            start = cut
        yield Stretch(number, record.text[start:end])
