"""Finds signatures and disclaimers at the end of what the author of a mail wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from relrag_pipelines import languages
from relrag_pipelines.sources.mail import segmentation_phrases
from relrag_pipelines.sources.mail.introductions import UNDERSCORES
from relrag_pipelines.sources.mail.text_lines import Line, previous_text

LONGEST_SIGNATURE = 30
"""Lines below `-- `; below `--`, which some write between paragraphs, a third."""
LONGEST_CARD = 8
"""Lines below a closing, or below another rule, that are the writer's name and card; none has over 80 characters."""
MAX_DISCLAIMERS = 10
"""Paragraphs."""
_POSTSCRIPT = re.compile(languages.patterns("exports", "postscript"))


def signature_bounds(lines: Sequence[Line], begin: int, end: int) -> tuple[int, int]:
    """Where the signature and where the disclaimers begin at the end of a run of the author's lines."""
    last = _disclaimer(lines, begin, end)
    total = texts = sum(bool(line.bare) for line in lines[begin:last])
    for at in range(begin, last):
        above = texts < total
        texts -= bool(lines[at].bare)
        if _signs(lines, at, last, texts, above):
            return at, last
    return last, last


def _signs(lines: Sequence[Line], at: int, end: int, below: int, above: bool) -> bool:
    """Whether a signature begins at this line; `below` is how many lines of text follow it, `above` if any precede."""
    line = lines[at]
    if below > LONGEST_SIGNATURE:
        return False
    if line.bare == "--":
        return below <= LONGEST_SIGNATURE // 3 or line.raw.rstrip("\r\n") == "-- "
    if line.bare in ("-", "---", "__", "___"):
        return _is_card(lines, at + 1, end, below, named=True)
    if segmentation_phrases.CLOSES.fullmatch(line.bare.rstrip(" ,.!")):
        return above and _is_card(lines, at + 1, end, below, named=False)
    if UNDERSCORES.fullmatch(line.bare) and at + 1 < end:
        return lines[at + 1].bare.endswith("mailing list")
    return below <= 3 and len(line.bare) <= 160 and bool(segmentation_phrases.SENT_FROM.fullmatch(line.bare))


def _is_card(lines: Sequence[Line], begin: int, end: int, below: int, *, named: bool) -> bool:
    """Whether these lines are who wrote the mail: short, few, no postscript; where `named`, a name comes first."""
    texts = [line for line in lines[begin:end] if line.bare]
    if not 0 < below <= LONGEST_CARD or any(len(line.bare) > 80 or _POSTSCRIPT.match(line.bare) for line in texts):
        return False
    words = texts[0].raw.split()
    if not named or segmentation_phrases.SENT_FROM.fullmatch(texts[0].bare):
        return True
    return len(words) <= 4 and all(word[0].isalpha() and not word[0].islower() for word in words)


def _disclaimer(lines: Sequence[Line], begin: int, end: int) -> int:
    """First line of the disclaimers at the end of these lines; `end` without one."""
    start = end
    for _ in range(MAX_DISCLAIMERS):
        first = last = previous_text(lines, begin, start)
        if last < begin:
            break
        while first > begin and lines[first - 1].bare and last - first < 60:
            first -= 1
        if (at := _disclaims(lines, first, last + 1)) is None:
            break
        start = at
    if (
        start < end
        and (rule := previous_text(lines, begin, start)) >= begin
        and UNDERSCORES.fullmatch(lines[rule].bare)
    ):
        start = rule
    return start


def _disclaims(lines: Sequence[Line], begin: int, end: int) -> int | None:
    """The line of this paragraph at which a disclaimer begins."""
    text = " ".join(line.bare for line in lines[begin:end])
    hits = [min(hits) for hits in _hits(text)]
    footer = segmentation_phrases.FOOTERS.search(text)
    if not hits and not footer:
        return None
    reached = min([*hits, *([footer.start()] if footer else [])])
    at = begin
    while at + 1 < end and reached > len(lines[at].bare):
        reached -= len(lines[at].bare) + 1
        at += 1
    while at > begin and len(lines[at - 1].bare) >= 50:
        at -= 1
    return at


def _hits(text: str) -> Iterator[list[int]]:
    """Offsets of the phrases of each language that has enough of them in the text."""
    for parts in segmentation_phrases.DISCLAIMERS:
        offsets = [match.start() for part in parts if (match := re.search(part, text))]
        if len(offsets) >= segmentation_phrases.ENOUGH_PARTS and len(text) >= 60:
            yield offsets
