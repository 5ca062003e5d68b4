"""Captions: WebVTT (https://www.w3.org/TR/webvtt1/), SubRip, and YouTube's SBV.

A line with a time and an arrow begins a cue; its text extends to the next empty line or the next such line. Text
between cues is an identifier, a comment, or a fault. A file whose cues are all formatted alike, as programs write
them, is split and checked as a whole, because a pattern per cue costs five times as much; any other is read cue by cue.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.transcript.cues import Cue, Transcript
from relrag_pipelines.sources.formats.transcript.speakers import split_names

_TIME = r"(?:\d+:)?[0-5]?\d:[0-5]\d[.,]\d{3}"
_ARROW = re.compile(rf"^[ \t]*({_TIME})[ \t]*-->[ \t]*({_TIME})(?:[ \t][^\n]*)?$\n?", re.MULTILINE)
_COMMA = re.compile(r"^(\d+:[0-5]\d:[0-5]\d\.\d{3}),(\d+:[0-5]\d:[0-5]\d\.\d{3})[ \t]*$\n?", re.MULTILINE)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>\n]+)>")
_ONE_VOICE = re.compile(r"\0<v ([^\s>]+(?: [^\s>]+)*)>([^<>\0]*[^<>\s\0])(?:</v>)?\s*(?=\0)")
"""the common case in long transcripts; a NUL follows each caption"""
_TAG = re.compile(r"</?(?:c|i|b|u|v|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<(?:\d+:)?\d\d:\d\d\.\d{3}>|\{\\an?\d\}", re.I)
_BLANKS = re.compile(r"\n[ \t]*\n[\n \t]*")
_BLOCKS = ("NOTE", "STYLE", "REGION")
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z]{2})\b", re.MULTILINE)
_ROLLING = 3
"""captions roll if at least one in this many repeats a line"""
_SPACED_ARROW = " --> "
_WIDTH = 12
"""characters of `01:02:03.004`, as nearly all programs write a time"""
_DIGITS, _COLONS, _POINT = [0, 1, 3, 4, 6, 7, 9, 10, 11], [2, 5], 8
"""positions of digits and separators in a time"""
_HIGHEST = np.array([9, 9, 5, 9, 5, 9, 9, 9, 9])
_WEIGHTS = np.array([36_000_000, 3_600_000, 600_000, 60_000, 10_000, 1_000, 100, 10, 1])
"""milliseconds that each digit stands for"""


class _RawCue(NamedTuple):
    """A file split at the lines with a time and an arrow."""

    head: str
    """text before the first cue"""
    starts: list[float]
    ends: list[float]
    bodies: list[str]
    """text after each time, up to the next time"""
    with_point: int
    """number of cues with a time that has a decimal point"""


def vtt(text: str) -> Transcript:
    """WebVTT with voices, including the variants of Zoom, Teams, Meet and YouTube."""
    text = text.removeprefix("\ufeff")
    if "\n\n" not in text or _may_hold_blanks(text):
        text = _BLANKS.sub("\n\n", text)
    has_header = text.startswith("WEBVTT")
    raw = _cut_uniform(text) or _split_cues(_ARROW, text)
    header, _, rest = raw.head.partition("\n\n") if has_header else ("", "", raw.head)
    texts, faults = _texts(raw.bodies, rest, indexed=False)
    if not has_header:
        why = "the first line is not WEBVTT, so it may be no captions; what it holds was read all the same"
        faults.insert(0, Failure("line 1", "no_header", why))
    language = _LANGUAGE.search(header)
    return Transcript(_voice_cues(raw, texts), language[1].lower() if language else None, faults)


def srt(text: str) -> Transcript:
    """SubRip: numbered cues, a comma before the milliseconds."""
    text = text.removeprefix("\ufeff")
    if "\n\n" not in text or _may_hold_blanks(text):
        text = _BLANKS.sub("\n\n", text)
    raw = _cut_uniform(text) or _split_cues(_ARROW, text)
    texts, faults = _texts(raw.bodies, raw.head, indexed=True)
    if raw.with_point:
        why = f"{raw.with_point} times are written with a point, as in WebVTT; they were read all the same"
        faults.append(Failure("times", "odd_time", why))
    return Transcript([cue for cue in _voice_cues(raw, texts) if cue.text], faults=faults)


def sbv(text: str) -> Transcript:
    """YouTube's SBV: `0:00:00.378,0:00:11.378` above each text."""
    text = _BLANKS.sub("\n\n", text.removeprefix("\ufeff"))
    raw = _split_cues(_COMMA, text)
    texts, faults = _texts(raw.bodies, raw.head, indexed=False, arrow="\0")
    return Transcript([cue for cue in _voice_cues(raw, texts) if cue.text], faults=faults)


def _may_hold_blanks(text: str) -> bool:
    """Whether lines that look empty may contain blanks."""
    return " \n" in text or ("\t" in text and "\t\n" in text) or "\n\n\n" in text


def _split_cues(pattern: re.Pattern[str], text: str) -> _RawCue:
    parts = pattern.split(text)
    starts, ends = parts[1::3], parts[2::3]
    with_point = sum("." in start or "." in end for start, end in zip(starts, ends, strict=True))
    return _RawCue(parts[0], [*map(_seconds, starts)], [*map(_seconds, ends)], parts[3::3], with_point)


def _cut_uniform(text: str) -> _RawCue | None:
    """The file split, if each time line is two times of twelve characters and the arrow, nothing else; else None."""
    parts = text.split(_SPACED_ARROW)
    starts = _times([part[-_WIDTH - 1 :] for part in parts[:-1]], line_end=0)
    ends = _times([part[: _WIDTH + 1] for part in parts[1:]], line_end=_WIDTH)
    if starts is None or ends is None:
        return None
    bodies = [part[_WIDTH + 1 : -_WIDTH] for part in parts[1:-1]]
    bodies.append(parts[-1][_WIDTH + 1 :])
    with_point = int(np.count_nonzero(starts[1] | ends[1]))
    return _RawCue(parts[0][:-_WIDTH], starts[0].tolist(), ends[0].tolist(), bodies, with_point)


def _times(fields: list[str], line_end: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]] | None:
    """Seconds, and whether a point precedes the milliseconds; None if a field isn't a time of that width.

    Each field includes a line end at the index `line_end`, its first or last character.
    """
    joined = "".join(fields)
    if not fields or not joined.isascii() or len(joined) != (_WIDTH + 1) * len(fields):
        return None
    marks = np.frombuffer(joined.encode(), np.uint8).reshape(-1, _WIDTH + 1)
    line_ends, marks = marks[:, line_end], marks[:, 1:] if line_end == 0 else marks[:, :-1]
    digits = marks[:, _DIGITS].astype(np.int64) - ord("0")
    point = marks[:, _POINT] == ord(".")
    valid = (
        (line_ends == ord("\n")).all()
        and (digits >= 0).all()
        and (digits <= _HIGHEST).all()
        and (marks[:, _COLONS] == ord(":")).all()
        and (point | (marks[:, _POINT] == ord(","))).all()
    )
    return (digits @ _WEIGHTS / 1000, point) if valid else None


def _texts(bodies: list[str], head: str, indexed: bool, arrow: str = "-->") -> tuple[list[str], list[Failure]]:
    """The text of each cue; `indexed`: a number precedes each time, possibly without an empty line before it."""
    lost = _lost_lines(head, before_cue=head[-2:] != "\n\n", arrow=arrow)
    if not lost and (uniform := _uniform_texts(bodies, indexed, arrow)):
        return uniform, []
    first = 0 if lost else -1
    texts = []
    for number, body in enumerate(bodies, 1):
        text, lost_cues = _cue_text(body, arrow, is_last=number == len(bodies), indexed=indexed)
        if lost_cues and first < 0:
            first = number
        lost += lost_cues
        texts.append(text)
    if not lost:
        return texts, []
    if not any(texts):
        return texts, [Failure("", "no_cues", "no text below a line with two times; export the captions again")]
    why = f"{lost} cues have no time that can be read, the first behind cue {first}; mend the times, the rest was read"
    return texts, [Failure(f"behind cue {first}", "bad_cue", why)]


def _cue_text(body: str, arrow: str, *, is_last: bool, indexed: bool) -> tuple[str, int]:
    """The text of a cue, and the number of cues without a readable time in the text up to the next time.

    Where numbers begin cues, text without one behind an empty line belongs to the cue.
    """
    text, gap, rest = body.partition("\n\n")
    if body[:1] == "\n":  # an empty line above the text
        text, gap, rest = "", "\n\n", body[1:]
    if arrow in text:  # an unreadable time within the text
        text = text[: text.rfind("\n", 0, text.find(arrow)) + 1]
        return text, _lost_cues(rest, arrow) + 1
    if not indexed:
        return text, _lost_cues(rest, arrow)
    if is_last:
        further, lost = _further_text(rest, arrow)
    elif gap:
        further, lost = _further_text(_without_index(rest), arrow)
    else:
        return _without_index(text), 0
    return "\n".join([text, *further]), lost


def _lost_cues(rest: str, arrow: str) -> int:
    if not rest or rest.strip().isdigit():
        return 0
    return _lost_lines(rest, before_cue=rest[-2:] != "\n\n", arrow=arrow)


def _without_index(text: str) -> str:
    """The text without its last line, if that is the number of the next cue."""
    lines, _, last = text.rstrip("\n").rpartition("\n")
    return lines if last.strip().isdigit() else text


def _further_text(rest: str, arrow: str) -> tuple[list[str], int]:
    """The blocks that belong to the cue before them, and the number of cues behind them that have no time.

    A block with an arrow or with a number at its beginning is a cue of its own.
    """
    blocks = [block for block in rest.split("\n\n") if block.strip()]
    texts = list(takewhile(lambda block: arrow not in block and not block.strip()[0].isdigit(), blocks))
    return texts, sum(not block.strip().isdigit() for block in blocks[len(texts) :])


def _uniform_texts(bodies: list[str], indexed: bool, arrow: str) -> list[str]:
    """The text of each cue, if an empty line and at most an identifier follow each text; else an empty list."""
    parts = [body.partition("\n\n") for body in bodies]
    texts = [text for text, _, _ in parts]
    identifiers = [rest for _, _, rest in parts if rest]
    everything = "\0".join(["", *texts])
    if arrow in everything or "\0\n" in everything:  # an unreadable time, or a cue without text
        return []
    if indexed and not all(gap for _, gap, _ in parts[:-1]):
        return []
    if parts and parts[-1][2]:
        return []
    lines = "".join(identifiers)
    if indexed and not (lines.replace("\n", "").isdigit() or not lines):
        return []
    return texts if arrow not in lines and lines.count("\n") == len(identifiers) else []


def _lost_lines(between: str, before_cue: bool, arrow: str) -> int:
    """The number of cues without a time in the text between two cues.

    `before_cue`: the last line may be the identifier of the next cue.
    """
    blocks = [block for block in between.split("\n\n") if block.strip()]
    if blocks and before_cue and "\n" not in blocks[-1].strip() and arrow not in blocks[-1]:
        blocks.pop()
    return sum(not block.lstrip("\n").startswith(_BLOCKS) for block in blocks)


def _voice_cues(raw: _RawCue, texts: list[str]) -> list[Cue]:
    """Cues with their speakers: by voice tags, else by names that recur before a colon."""
    everything = "\0".join(["", *texts, ""])
    if "<v" in everything:
        return _tagged_cues(raw, texts, everything)
    if "<" in everything:
        texts = [_TAG.sub("", text) for text in texts]
    if "&" in everything:
        texts = [html.unescape(text) for text in texts]
    lines = [_line(text) if "\n" in text else text.strip() for text in _merge_rolling(texts)]
    return _cues(raw, *split_names(lines, each_may_speak_once=True))


def _tagged_cues(raw: _RawCue, texts: list[str], everything: str) -> list[Cue]:
    """Cues by voice tags; `everything` is all texts, separated by NULs."""
    voices = _ONE_VOICE.findall(everything)
    if len(voices) == len(texts):
        names, lines = zip(*voices, strict=True)
        return _cues(
            raw, names, [_strip_markup(line) if "\n" in line or "&" in line else line.strip() for line in lines]
        )
    cues: list[Cue] = []
    for start, end, text in zip(raw.starts, raw.ends, texts, strict=True):
        cues += _voices(start, end, text)
    return cues


def _cues(raw: _RawCue, names: Sequence[str | None], texts: Sequence[str]) -> list[Cue]:
    # tuple.__new__ avoids the call in Python of a named tuple's constructor
    new_cue: Any = partial(tuple.__new__, Cue)
    return list(map(new_cue, zip(raw.starts, raw.ends, names, texts, strict=True)))


def _voices(start: float, end: float, text: str) -> list[Cue]:
    """One cue for each voice that its tags name; text before the first tag has no speaker."""
    parts = _VOICE.split(text)
    lines = [_strip_markup(part) for part in parts[::2]]
    cues = [Cue(start, end, " ".join(name.split()), part) for name, part in zip(parts[1::2], lines[1:], strict=True)]
    cues = [cue for cue in cues if cue.text]
    if lines[0] or not cues:
        cues.insert(0, Cue(start, end, None, lines[0]))
    return cues


def _strip_markup(text: str) -> str:
    if "<" in text:
        text = _TAG.sub("", text)
    if "&" in text:
        text = html.unescape(text)
    return _line(text) if "\n" in text else text.strip()


def _line(text: str) -> str:
    """The lines of a caption joined into one, except for dialogues, in which each line begins with a dash."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "".join(("\n" if line[:1] == "-" else " ") + line for line in lines if line).strip()


def _merge_rolling(texts: list[str]) -> list[str]:
    """Rolling captions repeat the last line of the caption before; such repeated lines are left out."""
    if not any("\n" in text.strip() for text in texts):
        return texts
    captions = [[line.strip() for line in text.split("\n") if line.strip()] for text in texts]
    repeats = [bool(previous and lines and previous[-1] == lines[0]) for previous, lines in pairwise(captions)]
    if sum(repeats) * _ROLLING < len(repeats):
        return texts  # people say the same thing twice
    return ["\n".join(lines[repeat:]) for lines, repeat in zip(captions, [False, *repeats], strict=True)]


def _seconds(time: str) -> float:
    hours, minutes, seconds = ([*["0"] * 3, *time.replace(",", ".").split(":")])[-3:]
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
