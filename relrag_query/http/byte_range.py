"""Answers with bytes, whole or the part that a player asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def bytes_response(request: Request, content: bytes, media_type: str, headers: Mapping[str, str]) -> Response:
    """The bytes with status 200, the part in the request's Range with 206, and 416 for a part behind the end.

    Several ranges, ranges that are not well formed, and a range with a condition are answered with all of it.
    """
    size, sent = len(content), {**headers, "Accept-Ranges": "bytes"}
    match = _RANGE.fullmatch(request.headers.get("range", ""))
    if match is None or not any(match.groups()) or "if-range" in request.headers:
        return Response(content, media_type=media_type, headers=sent)
    start, end = _bounds(match[1], match[2], size)
    if start >= end:
        return Response(status_code=416, headers={**sent, "Content-Range": f"bytes */{size}"})
    sent["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return Response(content[start:end], 206, media_type=media_type, headers=sent)


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    """Start and end of the part, the end excluded. Without `first`, `last` is how many bytes at the end are sent."""
    if not first:
        return max(size - int(last), 0), size
    return int(first), min(int(last) + 1, size) if last else size
