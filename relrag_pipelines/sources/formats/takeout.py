"""What a Google Takeout holds beside exports: records of activity and places, and statements about products.

Takeout has a folder for each product, whose names are in the user's language, so the contents decide.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

TAKEOUT = "Takeout"
"""the folder around the products, in every language"""
HEAD = 2**16
"""bytes by which a file is recognised as a record of activity"""
STATED = (".html", ".json", ".csv", ".jpg", ".png")
"""suffixes of what Takeout states about its products and their settings"""

_ACTIVITY: tuple[tuple[str, bytes], ...] = (
    ("videos watched and searches (YouTube)", rb"(?:www\.)?youtube\.com\\?/(?:watch|results|channel)"),
    ("searches and activity", rb"class=\"(?:mdl-grid|outer-cell mdl-cell)|\"titleUrl\"\s*:|\"activityControls\""),
    ("visited pages", rb"\"page_transition(?:_qualifier)?\"\s*:"),
    ("visited places", rb"\"(?:latitudeE7|semanticSegments|timelineObjects|placeVisit)\"|\"locations\"\s*:\s*\[\s*\{"),
)
_PATTERNS = [(label, re.compile(pattern)) for label, pattern in _ACTIVITY]
ACTIVITY_LABELS = tuple(label for label, _ in _ACTIVITY)
"""what records of activity hold, the most particular first"""
_RECORDS = (".html", ".json", ".csv")
"""suffixes of records of activity"""


def may_be_activity(path: str) -> bool:
    """Whether a file of that name may be a record of activity."""
    return path.lower().endswith(_RECORDS)


def activity_label(head: bytes) -> str:
    """What a record of activity holds, by its first bytes; empty for other files."""
    return next((label for label, pattern in _PATTERNS if pattern.search(head, 0, HEAD)), "")


def product_folder(path: str) -> str:
    """The folder of a product that a file of a Takeout lies in, or the file beside those; empty for other files."""
    parts = PurePosixPath(path).parts
    depth = next((index for index, part in enumerate(parts[:-1]) if part == TAKEOUT), -1)
    return "/".join(parts[: depth + 2]) if depth >= 0 else ""
