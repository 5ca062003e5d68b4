"""Recognises lines that introduce a quoted message: dividers, headers, `On Monday Jana wrote:`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relrag_pipelines.sources.mail import segmentation_phrases
from relrag_pipelines.sources.mail.text_lines import LONGEST_MARK, Line, next_text

UNDERSCORES = re.compile(r"[_-]{5,}")
LONGEST_INTRODUCTION = 40
"""Lines: a divider and a header, or who wrote it and the line that follows."""
_DATED = re.compile(r"\d{4}|\d{1,2}[./-] ?\d{1,2}[./-]|\d{1,2}[:.]\d\d|\d ?h ?\d\d")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\d[./-] ?\d{1,2}[./-] ?\d\d(?!\d)")
_TIME = re.compile(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)")
_ADDRESS_LAST = re.compile(r"@[^\s<>()@]{1,190}[>)]{1,3} ?:$")
_VERB_FOLLOWS = re.compile(r"(?:on|at|am|le|el|en|dne) ")
_RULED = re.compile(r"[-_=*~]{2,}\s?(.{3,100}?)\s?[-_=*~]{0,80}:?")


def attribution_size(lines: Sequence[Line]) -> int:
    """How many lines from here form an attribution such as `On Monday Jana wrote:`."""
    if header := message_header(lines, 0, False):
        return header[1]
    behind = next_text(lines, 1) if divider_kind(lines[0].bare) == "original" else 0
    size = introduction_size(lines[behind:], 0) if behind < len(lines) else 0
    return behind + size if size else 0


def message_header(lines: Sequence[Line], at: int, forward: bool) -> tuple[bool, int] | None:
    """Whether the message whose divider or header begins here is forwarded, and the line where its text begins."""
    line = lines[at]
    if line.depth and at and lines[at - 1].depth:
        return None
    divider = divider_kind(line.bare)
    if not divider:
        end, fields = _header(lines, at)
        has_evidence = any("@" in header_line.bare or _YEAR.search(header_line.bare) for header_line in lines[at:end])
        return (forward, end) if has_evidence and fields >= {"from", "date", "subject"} else None
    end, fields = _header(lines, next_text(lines, at + 1))
    if divider == "rule":
        return (forward, end) if fields >= {"from", "date", "subject"} else None
    if divider == "forwarded":
        return (True, end) if {"from", "subject", "date"} & fields else None
    return (forward and bool(fields), end)


def divider_kind(bare: str) -> str | None:
    """The kind of a divider line: "forwarded", "original", or "rule" for a rule without a label; else None."""
    if UNDERSCORES.fullmatch(bare):
        return "rule"
    ruled = _RULED.fullmatch(bare)
    label = ruled[1].strip(" :") if ruled else bare[:-1].strip() if bare.endswith(":") else ""
    if not label or len(label) > 100:
        return None
    if segmentation_phrases.FORWARDED.fullmatch(label):
        return "forwarded"
    return "original" if ruled and segmentation_phrases.ORIGINAL.fullmatch(label) else None


def _header(lines: Sequence[Line], at: int) -> tuple[int, set[str]]:
    """The line behind the header fields that begin here, and which fields they are."""
    fields: set[str] = set()
    depth = lines[at].depth if at < len(lines) else 0
    begin, last = at, ""
    while at < min(len(lines), begin + 30) and lines[at].depth == depth:
        line = lines[at]
        if field := _header_field(line):
            if field in fields and field != "cc":
                break
            fields.add(field)
            last = field
        elif not line.bare:
            if not fields or at + 1 == len(lines) or not _has_label(lines[at + 1]):
                break
        elif not _continues_field(line, last):
            break
        at += 1
    return (at, fields) if fields else (begin, fields)


def _header_field(line: Line) -> str | None:
    """The header field whose label begins the line."""
    label, colon, _ = line.bare.partition(":")
    return segmentation_phrases.LABELS.get(label.strip("* ")) if colon and len(label) < 30 else None


def _continues_field(line: Line, field: str) -> bool:
    """Whether a line continues the value of the header field above it; `field` is empty without one."""
    if field in ("to", "cc") and ("@" in line.bare or ";" in line.bare):
        return True
    return bool(field) and line.raw[:1] in " \t" and not line.depth


def _has_label(line: Line) -> bool:
    label, colon, _ = line.bare.partition(":")
    return bool(colon) and label.strip("* ") in segmentation_phrases.LABELS


def introduction_size(lines: Sequence[Line], at: int) -> int:
    """How many lines from here introduce a quoted message; 0 for ordinary text."""
    introduction = ""
    for size in range(1, 5):
        if at + size > len(lines):
            return 0
        line = lines[at + size - 1]
        if line.depth or not line.bare:
            return 0
        if introduction and segmentation_phrases.BEGINS.match(line.bare) and _DATED.search(line.bare):
            return 0
        introduction = f"{introduction} {_without_rule(line.bare)}".strip()
        if introduction[-1] == ":" and len(introduction) <= LONGEST_MARK:
            following = next_text(lines, at + size)
            quoted = following < len(lines) and lines[following].depth > 0
            return size if _introduces(introduction, quoted, size) else 0
        if not _DATED.search(introduction) and not segmentation_phrases.BEGINS.match(introduction):
            return 0
    return 0


def _without_rule(bare: str) -> str:
    """The text between the hyphens that Zoho writes: `---- On ... wrote ---`."""
    ruled = bare.startswith("--") and bare.endswith("--") and len(bare) > 20
    return f"{bare.strip('- ')}:" if ruled else bare


def _introduces(introduction: str, quoted: bool, size: int) -> bool:
    """Whether the text introduces a quoted message; without a quotation below it, more evidence is required."""
    dated, begins = bool(_DATED.search(introduction)), bool(segmentation_phrases.BEGINS.match(introduction))
    wrote_on = bool(segmentation_phrases.WROTE_ON.search(introduction))
    wrote = wrote_on or bool(segmentation_phrases.WROTE.search(introduction))
    addressed = bool(_ADDRESS_LAST.search(introduction))
    if quoted:
        return (wrote and (size == 1 or (begins and dated))) or (addressed and begins and dated)
    if not (begins or (wrote_on and "@" in introduction)) or not _TIME.search(introduction):
        return False
    # where the verb is part of the line, it is no line of that sort without
    return (addressed and not _VERB_FOLLOWS.match(introduction)) or (wrote and bool(_YEAR.search(introduction)))
