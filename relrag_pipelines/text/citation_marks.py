"""Tells marks that stand in a record's own text from the citations that relrag writes.

relrag cites as `[7]` and as `[Data: Sources (0, 1)]`. A record that holds such a mark, because it quotes an answer or
because somebody planted it, must not cite anything. So wherever foreign text becomes a part of an answer, a report or
a prompt, the brackets of its marks become full-width ones, which no reader of citations takes for its own.
"""

from __future__ import annotations

import re

_UNSEEN = r"[\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]*"
"""what may stand between the letters of a mark: much of it is left out where texts are printed"""
_NUMBERS = rf"\d+(?:{_UNSEEN}[,;]?{_UNSEEN}\d+)*"
_MARK = re.compile(
    rf"\[(?P<inside>{_UNSEEN}(?:{_NUMBERS}{_UNSEEN}(?=\])|{_UNSEEN.join('data')}{_UNSEEN}:[^\[\]\n]*))(?P<end>\]?)",
    re.IGNORECASE,
)


def disarm(text: str) -> str:
    """The text with marks like relrag's citations in full-width brackets; its length doesn't change."""
    if "[" not in text:
        return text
    return _MARK.sub(lambda mark: f"［{mark['inside']}{'］' if mark['end'] else ''}", text)
