"""The parts of a mail's text: what its author wrote, the history below it, signature, disclaimer, what is passed on.

Read line by line, and precise rather than greedy: a line that only looks like a mark stays what the author wrote. Marks
are known in the languages of `phrases`. Every pattern is matched against a bounded piece of one line or a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from relrag_pipelines.sources.mail import segmentation_phrases

SegmentKind = Literal["fresh", "quoted", "signature", "disclaimer", "forward_headers", "forwarded"]
"""fresh: the author's own words; quoted: an earlier message with the line that introduces it, answered here;
forward_headers and forwarded: a message that is passed on, its header with the divider above, and its text"""

LONGEST_MARK = 400
"""A mark is not looked for in more characters of a line than this."""
_LONGEST_INTRODUCTION = 40
"""Lines: a divider and a header, or who wrote it and the line that follows."""
LONGEST_SIGNATURE = 30
"""Lines below `-- `; below `--`, which some write between paragraphs, a third."""
LONGEST_CARD = 8
"""Lines below a closing, or below another rule, that are the writer's name and card; none has over 80 characters."""
MOST_DISCLAIMERS = 10
"""Paragraphs."""

_DIRECTION = dict.fromkeys(map(ord, "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))
_HYPHENS = dict.fromkeys((0x05BE, *range(0x2010, 0x2016), 0x2212), "-")
_PLAIN = _DIRECTION | _HYPHENS | {0xA0: " ", 0x202F: " ", 0x2009: " ", 0xFF1A: ":", 0x2019: "'", ord("\t"): " "}
_LINE = re.compile(r"(?:[ \t\r]*+\n)++|[^\n]*+\n|[^\n]++")
_QUOTE = re.compile(r"[ \t\u200e\u200f\u202a-\u202e\u2066-\u2069]{0,3}(>(?![:;=]-?[()DP])(?:[ \t]?>)*+)")
_DATED = re.compile(r"\d{4}|\d{1,2}[./-] ?\d{1,2}[./-]|\d{1,2}[:.]\d\d|\d ?h ?\d\d")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d[./-] ?\d{1,2}[./-] ?\d\d(?!\d)")
_TIME = re.compile(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)")
_ADDRESS_LAST = re.compile(r"@[^\s<>()@]{1,190}[>)]{1,3} ?:$")
_VERB_FOLLOWS = re.compile(r"(?:on|at|am|le|el|en|dne) ")
_POSTSCRIPT = re.compile(r"(?:p\. ?s\b|ps\b|n\.b\.|נ\.ב)")
_RULED = re.compile(r"[-_=*~]{2,}\s?(.{3,100}?)\s?[-_=*~]{0,80}:?")
_UNDERSCORES = re.compile(r"[_-]{5,}")


class Segment(NamedTuple):
    """One part, text[start:end]."""

    kind: SegmentKind
    start: int
    end: int


@dataclass(frozen=True)
class Segments:
    """The parts of one text in order; they cover it without a gap."""

    text: str
    spans: tuple[Segment, ...]

    def only(self, *kinds: SegmentKind) -> str:
        """The text of the parts of these kinds, joined as they follow each other, without white space around."""
        return "".join(self.text[span.start : span.end] for span in self.spans if span.kind in kinds).strip()


class _Line(NamedTuple):
    start: int
    end: int
    depth: int
    """how often it is quoted by >"""
    raw: str
    """its beginning, as written"""
    bare: str
    """the same in lower case, without quoting and marks of direction"""


def segment(text: str, subject: str = "") -> Segments:
    """The parts of the plain text of a mail; joined again they are the text.

    Outlook writes the same header above a message that is answered and one that is passed on; the mail's subject
    ("FW: ...") tells which. What is below such a header, or below a line like "On 12 Jan 2024, Dana <...> wrote:" that
    no `>` follows, is all of the old message.
    """
    lines = list(_lines(text))
    kinds = _mark_history(lines, bool(segmentation_phrases.FORWARD_SUBJECT.match(subject)))
    for kind, begin, end in list(_runs(kinds)):
        if kind == "fresh" and not _is_gap(lines, kinds, begin, end):
            _mark_signature(lines, kinds, begin, end)
        elif kind == "fresh":
            _mark_gap(kinds, begin, end)
    spans = (Segment(kind, lines[begin].start, lines[end - 1].end) for kind, begin, end in _runs(kinds))
    return Segments(text, tuple(spans))


def attribution_lines(text: str) -> list[tuple[int, int]]:
    """Where in quoted text it says who wrote what follows: headers, dividers, lines like "On 12 Jan, Dana wrote:"."""
    lines = list(_lines(text))
    found, at = [], 0
    while at < len(lines):
        depth = lines[at].depth
        # as it stood when it was written, before others quoted it again
        around = [one._replace(depth=max(0, one.depth - depth)) for one in lines[at : at + _LONGEST_INTRODUCTION]]
        size = _introduced(around) if lines[at].bare else 0
        if size:
            found.append((lines[at].start, lines[at + size - 1].end))
        at += size or 1
    return found


def _introduced(lines: Sequence[_Line]) -> int:
    """How many lines from here say who wrote what follows."""
    if told := _message(lines, 0, False):
        return told[1]
    behind = _next_text(lines, 1) if _divider(lines[0].bare) == "original" else 0
    size = _introduction(lines[behind:], 0) if behind < len(lines) else 0
    return behind + size if size else 0


def _runs(kinds: Sequence[SegmentKind]) -> Iterator[tuple[SegmentKind, int, int]]:
    """Equal kinds in a row: the kind, the first line, the line behind the last."""
    begin = 0
    for kind, group in groupby(kinds):
        end = begin + len(list(group))
        yield kind, begin, end
        begin = end


def _is_gap(lines: Sequence[_Line], kinds: Sequence[SegmentKind], begin: int, end: int) -> bool:
    """Whether these are empty lines between quoted ones."""
    return (
        begin > 0
        and end < len(kinds)
        and kinds[begin - 1] == kinds[end] == "quoted"
        and not any(line.bare for line in lines[begin:end])
    )


def _lines(text: str) -> Iterator[_Line]:
    """The lines; empty ones in a row are one. `>>> ` is a prompt unless it follows a quotation in a quotation."""
    before = 0
    for found in _LINE.finditer(text):
        start, end = found.span()
        raw = text[start : min(end, start + LONGEST_MARK)]
        prompt = raw.startswith(">From ") or (raw.startswith(">>> ") and before < 2)
        mark = None if prompt else _QUOTE.match(raw)
        bare = raw[mark.end() :] if mark else raw
        bare = (bare if bare.isascii() and "\t" not in bare else bare.translate(_PLAIN)).strip().lower()
        depth = mark[1].count(">") if mark else 0
        before = depth if bare else before
        yield _Line(start, end, depth, raw, bare)


def _mark_history(lines: Sequence[_Line], forward: bool) -> list[SegmentKind]:
    """The kind of each line as far as old messages go; the rest is fresh."""
    kinds: list[SegmentKind] = ["fresh"] * len(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.bare and _divider(line.bare) == "original" and _introduction(lines, _next_text(lines, at + 1)):
            at = _mark_gap(kinds, at, _next_text(lines, at + 1))  # the line that follows says how far it goes
        elif line.bare and (found := _message(lines, at, forward)):
            passed_on, body = found
            end = _region_end(lines, at)
            kinds[at:body] = ["forward_headers" if passed_on else "quoted"] * (body - at)
            kinds[body:end] = ["forwarded" if passed_on else "quoted"] * (end - body)
            at = end
        elif line.depth:
            at = _mark_gap(kinds, at, _quotation_end(lines, at))
        elif line.bare and (size := _introduction(lines, at)):
            following = _next_text(lines, at + size)
            quoted = following < len(lines) and lines[following].depth > 0
            at = _mark_gap(kinds, at, _quotation_end(lines, following) if quoted else len(lines))
        else:
            at += 1
    return kinds


def _mark_gap(kinds: list[SegmentKind], begin: int, end: int) -> int:
    kinds[begin:end] = ["quoted"] * (end - begin)
    return end


def _next_text(lines: Sequence[_Line], at: int) -> int:
    while at < len(lines) and not lines[at].bare:
        at += 1
    return at


def _region_end(lines: Sequence[_Line], at: int) -> int:
    """Where a message that begins here ends: with the text, or where its quotation does."""
    depth, end = lines[at].depth, at
    while end < len(lines) and (lines[end].depth >= depth or not lines[end].bare):
        end += 1
    return end


def _quotation_end(lines: Sequence[_Line], at: int) -> int:
    while at < len(lines) and lines[at].depth:
        at += 1
    return at


def _message(lines: Sequence[_Line], at: int, forward: bool) -> tuple[bool, int] | None:
    """Whether the message whose divider or header begins here is passed on, and the line where its text begins."""
    line = lines[at]
    if line.depth and at and lines[at - 1].depth:
        return None
    divider = _divider(line.bare)
    if not divider:
        end, fields = _header(lines, at)
        told = any("@" in one.bare or _YEAR.search(one.bare) for one in lines[at:end])
        return (forward, end) if told and fields >= {"from", "date", "subject"} else None
    end, fields = _header(lines, _next_text(lines, at + 1))
    if divider == "rule":
        return (forward, end) if fields >= {"from", "date", "subject"} else None
    if divider == "forwarded":
        return (True, end) if {"from", "subject", "date"} & fields else None
    return (forward and bool(fields), end)


def _divider(bare: str) -> str | None:
    """What a line announces by itself: "forwarded", "original" or, as an unlabelled "rule", possibly either."""
    if _UNDERSCORES.fullmatch(bare):
        return "rule"
    ruled = _RULED.fullmatch(bare)
    said = ruled[1].strip(" :") if ruled else bare[:-1].strip() if bare.endswith(":") else ""
    if not said or len(said) > 100:
        return None
    if segmentation_phrases.FORWARDED.fullmatch(said):
        return "forwarded"
    return "original" if ruled and segmentation_phrases.ORIGINAL.fullmatch(said) else None


def _header(lines: Sequence[_Line], at: int) -> tuple[int, set[str]]:
    """The line behind the header fields that begin here, and which fields they are."""
    fields: set[str] = set()
    depth = lines[at].depth if at < len(lines) else 0
    begin, last = at, ""
    while at < min(len(lines), begin + 30) and lines[at].depth == depth:
        label, colon, _ = lines[at].bare.partition(":")
        field = segmentation_phrases.LABELS.get(label.strip("* ")) if colon and len(label) < 30 else None
        if field:
            if field in fields and field != "cc":
                break
            fields.add(field)
            last = field
        elif not lines[at].bare:
            if not fields or at + 1 == len(lines) or not _labelled(lines[at + 1]):
                break
        elif not (last in ("to", "cc") and ("@" in lines[at].bare or ";" in lines[at].bare)) and not (
            last and lines[at].raw[:1] in " \t" and not lines[at].depth
        ):
            break
        at += 1
    return (at, fields) if fields else (begin, fields)


def _labelled(line: _Line) -> bool:
    label, colon, _ = line.bare.partition(":")
    return bool(colon) and label.strip("* ") in segmentation_phrases.LABELS


def _introduction(lines: Sequence[_Line], at: int) -> int:
    """How many lines from here say who wrote what follows, and when; 0 for ordinary text."""
    said = ""
    for size in range(1, 5):
        if at + size > len(lines) or lines[at + size - 1].depth or not lines[at + size - 1].bare:
            return 0
        if (
            said
            and segmentation_phrases.BEGINS.match(lines[at + size - 1].bare)
            and _DATED.search(lines[at + size - 1].bare)
        ):
            return 0
        said = f"{said} {_without_rule(lines[at + size - 1].bare)}".strip()
        if said[-1] == ":" and len(said) <= LONGEST_MARK:
            following = _next_text(lines, at + size)
            quoted = following < len(lines) and lines[following].depth > 0
            return size if _introduces(said, quoted, size) else 0
        if not _DATED.search(said) and not segmentation_phrases.BEGINS.match(said):
            return 0
    return 0


def _without_rule(bare: str) -> str:
    """What stands between hyphens as Zoho puts it: `---- On ... wrote ---`."""
    ruled = bare.startswith("--") and bare.endswith("--") and len(bare) > 20
    return f"{bare.strip('- ')}:" if ruled else bare


def _introduces(said: str, quoted: bool, size: int) -> bool:
    """Whether it does, with a quotation right below or, where more evidence is asked for, without."""
    dated, begins = bool(_DATED.search(said)), bool(segmentation_phrases.BEGINS.match(said))
    wrote_on = bool(segmentation_phrases.WROTE_ON.search(said))
    wrote, addressed = wrote_on or bool(segmentation_phrases.WROTE.search(said)), bool(_ADDRESS_LAST.search(said))
    if quoted:
        return (wrote and (size == 1 or (begins and dated))) or (addressed and begins and dated)
    if not (begins or (wrote_on and "@" in said)) or not _TIME.search(said):
        return False
    # where the verb is part of the line, it is no line of that sort without
    return (addressed and not _VERB_FOLLOWS.match(said)) or (wrote and bool(_YEAR.search(said)))


def _mark_signature(lines: Sequence[_Line], kinds: list[SegmentKind], begin: int, end: int) -> None:
    """Marks disclaimer and signature at the end of a run of fresh lines."""
    last = _disclaimer(lines, begin, end)
    kinds[last:end] = ["disclaimer"] * (end - last)
    total = texts = sum(bool(line.bare) for line in lines[begin:last])
    for at in range(begin, last):
        above = texts < total
        texts -= bool(lines[at].bare)
        if _signs(lines, at, last, texts, above):
            kinds[at:last] = ["signature"] * (last - at)
            return


def _signs(lines: Sequence[_Line], at: int, end: int, below: int, above: bool) -> bool:
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
    if _UNDERSCORES.fullmatch(line.bare) and at + 1 < end:
        return lines[at + 1].bare.endswith("mailing list")
    return below <= 3 and len(line.bare) <= 160 and bool(segmentation_phrases.SENT_FROM.fullmatch(line.bare))


def _is_card(lines: Sequence[_Line], begin: int, end: int, below: int, *, named: bool) -> bool:
    """Whether these lines are who wrote the mail: short, few, no postscript; where `named`, a name comes first."""
    texts = [line for line in lines[begin:end] if line.bare]
    if not 0 < below <= LONGEST_CARD or any(len(line.bare) > 80 or _POSTSCRIPT.match(line.bare) for line in texts):
        return False
    words = texts[0].raw.split()
    if not named or segmentation_phrases.SENT_FROM.fullmatch(texts[0].bare):
        return True
    return len(words) <= 4 and all(word[0].isalpha() and not word[0].islower() for word in words)


def _disclaimer(lines: Sequence[_Line], begin: int, end: int) -> int:
    """Where the disclaimers begin that these lines end with; `end` without one."""
    found = end
    for _ in range(MOST_DISCLAIMERS):
        first = last = _previous_text(lines, begin, found)
        if last < begin:
            break
        while first > begin and lines[first - 1].bare and last - first < 60:
            first -= 1
        if (at := _disclaims(lines, first, last + 1)) is None:
            break
        found = at
    if (
        found < end
        and (rule := _previous_text(lines, begin, found)) >= begin
        and _UNDERSCORES.fullmatch(lines[rule].bare)
    ):
        found = rule
    return found


def _previous_text(lines: Sequence[_Line], begin: int, end: int) -> int:
    end -= 1
    while end >= begin and not lines[end].bare:
        end -= 1
    return end


def _disclaims(lines: Sequence[_Line], begin: int, end: int) -> int | None:
    """The line of this paragraph where a disclaimer begins."""
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
    """Where the phrases of each language that has enough of them stand."""
    for language, parts in segmentation_phrases.DISCLAIMERS.items():
        found = [match.start() for part in parts if (match := re.search(part, text))]
        if len(found) >= segmentation_phrases.ENOUGH[language] and len(text) >= 60:
            yield found
