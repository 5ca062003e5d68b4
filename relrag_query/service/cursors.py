"""Cursors: where the next page of a list begins, in the generation that the first page was read from.

To a caller they are opaque. What they hold is no secret, and a changed one shows nothing that could not be asked for.
"""

from __future__ import annotations

import base64
import binascii

from relrag_pipelines.errors import RelragError

_LARGEST = 10_000_000


class CursorError(RelragError):
    """A cursor that cannot be gone on from; the message says what to do."""


def cursor(generation: int, offset: int) -> str:
    """The cursor of what comes behind so many entries."""
    return base64.urlsafe_b64encode(f"{generation}:{offset}".encode()).decode().rstrip("=")


def offset_of(given: str | None, generation: int) -> int:
    """How many entries are behind that cursor; 0 without one.

    Raises CursorError for what is no cursor, and for one of another generation, whose entries may be others.
    """
    if not given:
        return 0
    try:
        numbers = base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)).decode("ascii").split(":")
        made_in, offset = (int(one) for one in numbers)
    except (ValueError, binascii.Error):
        raise CursorError("the cursor is none of this archive; begin again without one") from None
    if made_in != generation:
        raise CursorError("the archive has changed since the cursor was made; begin again without one")
    if not 0 <= offset <= _LARGEST:
        raise CursorError("the cursor is none of this archive; begin again without one")
    return offset
