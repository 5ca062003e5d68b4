"""Cursors: the start of the next page of a list, in the generation of the first page.

Cursors are opaque to callers, but not secret: a forged cursor gives no access to other data.
"""

from __future__ import annotations

import re

from relrag_pipelines.errors import RelragError

MAX_ENTRIES = 100
"""maximum number of entries on a page"""
PATTERN = r"^[1-9][0-9]{0,8}-(0|[1-9][0-9]{0,6})$"
"""the generation, and the number of entries before the page"""


class CursorError(RelragError):
    """A malformed cursor; the message says what to do."""


class StaleCursor(CursorError):
    """A cursor of another generation, whose list may differ."""


def cursor(generation: int, offset: int) -> str:
    """The cursor of the page that begins after `offset` entries."""
    return f"{generation}-{offset}"


def offset_of(text: str | None, generation: int) -> int:
    """Number of entries before the page of a cursor; 0 without a cursor.

    Raises CursorError for a malformed cursor, StaleCursor for a cursor of another generation.
    """
    if not text:
        return 0
    if not re.fullmatch(PATTERN, text, re.ASCII):
        raise CursorError("this is not a cursor of the archive; begin again without one", code="cursor_wrong")
    of_generation, _, offset = text.partition("-")
    if int(of_generation) != generation:
        raise StaleCursor(
            "the archive has changed since the cursor was made; begin again without one", code="cursor_stale"
        )
    return int(offset)
