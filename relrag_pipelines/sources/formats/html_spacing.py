"""White space in text made from HTML: collapsed, except in preformatted text."""

from __future__ import annotations

import re

LINE = "\x1d"
"""A line end that merges with any adjacent one. `clean` removes it from input."""
KEPT_SPACE, KEPT_LINE = "\x1e", "\x1f"
"""Space and line end of preformatted text. `clean` removes them from input."""
_OUTER_LINES = re.compile(f"(?<=\n\n){KEPT_LINE}++|(?<!{KEPT_LINE}){KEPT_LINE}++(?=\n\n)")
"""empty lines at the beginning and the end of preformatted text"""


def tidy(text: str) -> str:
    """Collapses runs of white space to one space, one line end or one empty line; preformatted text stays."""

    def reduce(run: re.Match[str]) -> str:
        return "\n\n" if run[0].count("\n") > 1 else "\n" if "\n" in run[0] or LINE in run[0] else " "

    text = re.sub(f"[ \t\n{LINE}]{{2,}}|[\t{LINE}]", reduce, _OUTER_LINES.sub("", text)).strip()
    return text.replace(KEPT_SPACE, " ").replace(KEPT_LINE, "\n")
