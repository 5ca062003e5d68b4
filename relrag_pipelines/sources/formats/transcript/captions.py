"""Captions: WebVTT (https://www.w3.org/TR/webvtt1/), SubRip, and YouTube's SBV.

A line with a time and an arrow begins a cue; its text goes to the next empty line, or to the next such line. What
stands between cues is an identifier, a comment, or a fault. A file in which all cues are written alike, as programs
write them, is cut and checked as a whole, because a pattern a cue costs five times as much; any other is read cue by
cue.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
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
"""the plain case, which is nearly all there is in long transcripts; behind each caption stands a NUL"""
_TAG = re.compile(r"</?(?:c|i|b|u|v|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<(?:\d+:)?\d\d:\d\d\.\d{3}>|\{\\an?\d\}", re.I)
_BLANKS = re.compile(r"\n[ \t]*\n[\n \t]*")
_BLOCKS = ("NOTE", "STYLE", "REGION")
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z]{2})\b", re.MULTILINE)
_ROLLING = 3
"""captions roll where one in so many repeats a line"""
_SPACED_ARROW = " --> "
_WIDTH = 12
"""characters of `01:02:03.004`, as nearly all programs write a time"""
_DIGITS, _COLONS, _POINT = [0, 1, 3, 4, 6, 7, 9, 10, 11], [2, 5], 8
"""where in it the digits stand, and what is between them"""
_HIGHEST = np.array([9, 9, 5, 9, 5, 9, 9, 9, 9])
_WEIGHTS = np.array([36_000_000, 3_600_000, 600_000, 60_000, 10_000, 1_000, 100, 10, 1])
"""milliseconds that each digit stands for"""


class _RawCue(NamedTuple):
    """A file cut at the lines with a time and an arrow."""

    head: str
    """what stands before the first"""
    starts: list[float]
    ends: list[float]
    bodies: list[str]
    """what follows each, up to the next"""
    with_point: int
    """of how many cues a time is written with a point"""


def vtt(text: str) -> Transcript:
    """WebVTT with voices, also as Zoom, Teams, Meet and YouTube write it."""
    text = text.removeprefix("\ufeff")
    if "\n\n" not in text or _may_hold_blanks(text):
        text = _BLANKS.sub("\n\n", text)
    said = text.startswith("WEBVTT")
    cut = _cut_uniform(text) or _split_cues(_ARROW, text)
    header, _, rest = cut.head.partition("\n\n") if said else ("", "", cut.head)
    texts, faults = _texts(cut.bodies, rest, indexed=False)
    if not said:
        why = "the first line is not WEBVTT, so it may be no captions; what it holds was read all the same"
        faults.insert(0, Failure("line 1", "no_header", why))
    language = _LANGUAGE.search(header)
    return Transcript(_voice_cues(cut, texts), language[1].lower() if language else None, faults)


def srt(text: str) -> Transcript:
    """SubRip: numbered cues, a comma before the milliseconds."""
    text = text.removeprefix("\ufeff")
    if "\n\n" not in text or _may_hold_blanks(text):
        text = _BLANKS.sub("\n\n", text)
    cut = _cut_uniform(text) or _split_cues(_ARROW, text)
    texts, faults = _texts(cut.bodies, cut.head, indexed=True)
    if cut.with_point:
        why = f"{cut.with_point} times are written with a point, as in WebVTT; they were read all the same"
        faults.append(Failure("times", "odd_time", why))
    return Transcript([cue for cue in _voice_cues(cut, texts) if cue.text], faults=faults)


def sbv(text: str) -> Transcript:
    """YouTube's SBV: `0:00:00.378,0:00:11.378` above each text."""
    text = _BLANKS.sub("\n\n", text.removeprefix("\ufeff"))
    cut = _split_cues(_COMMA, text)
    texts, faults = _texts(cut.bodies, cut.head, indexed=False, arrow="\0")
    return Transcript([cue for cue in _voice_cues(cut, texts) if cue.text], faults=faults)


def _may_hold_blanks(text: str) -> bool:
    """Whether lines that look empty may hold blanks."""
    return " \n" in text or ("\t" in text and "\t\n" in text) or "\n\n\n" in text


def _split_cues(pattern: re.Pattern[str], text: str) -> _RawCue:
    parts = pattern.split(text)
    starts, ends = parts[1::3], parts[2::3]
    with_point = sum("." in start or "." in end for start, end in zip(starts, ends, strict=True))
    return _RawCue(parts[0], [*map(_seconds, starts)], [*map(_seconds, ends)], parts[3::3], with_point)


def _cut_uniform(text: str) -> _RawCue | None:
    """The same where each time is two of twelve characters and the arrow, alone on its line; else nothing."""
    parts = text.split(_SPACED_ARROW)
    starts = _times([part[-_WIDTH - 1 :] for part in parts[:-1]], line_end=0)
    ends = _times([part[: _WIDTH + 1] for part in parts[1:]], line_end=_WIDTH)
    if starts is None or ends is None:
        return None
    bodies = [part[_WIDTH + 1 : -_WIDTH] for part in parts[1:-1]]
    bodies.append(parts[-1][_WIDTH + 1 :])
    with_point = int(np.count_nonzero(starts[1] | ends[1]))
    return _RawCue(parts[0][:-_WIDTH], starts[0].tolist(), ends[0].tolist(), bodies, with_point)


def _times(written: list[str], line_end: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]] | None:
    """Seconds, and whether a point stands before the milliseconds; nothing where one is no time of that width.

    Each is written with the line end before or behind it: where that stands.
    """
    joined = "".join(written)
    if not written or not joined.isascii() or len(joined) != (_WIDTH + 1) * len(written):
        return None
    marks = np.frombuffer(joined.encode(), np.uint8).reshape(-1, _WIDTH + 1)
    line_ends, marks = marks[:, line_end], marks[:, 1:] if line_end == 0 else marks[:, :-1]
    digits = marks[:, _DIGITS].astype(np.int64) - ord("0")
    point = marks[:, _POINT] == ord(".")
    alike = (
        (line_ends == ord("\n")).all()
        and (digits >= 0).all()
        and (digits <= _HIGHEST).all()
        and (marks[:, _COLONS] == ord(":")).all()
        and (point | (marks[:, _POINT] == ord(","))).all()
    )
    return (digits @ _WEIGHTS / 1000, point) if alike else None


def _texts(bodies: list[str], head: str, indexed: bool, arrow: str = "-->") -> tuple[list[str], list[Failure]]:
    """The text of each cue; `indexed`: a number stands above each time, if need be without an empty line before it."""
    lost = _lost_lines(head, behind=head[-2:] != "\n\n", arrow=arrow)
    if not lost and (alike := _uniform_texts(bodies, indexed, arrow)):
        return alike, []
    first = 0 if lost else -1
    texts = []
    for number, body in enumerate(bodies):
        said, gap, rest = body.partition("\n\n")
        if body[:1] == "\n":  # the cue says nothing
            said, gap, rest = "", "\n\n", body[1:]
        if (
            rest
            and not rest.strip().isdigit()
            and (found := _lost_lines(rest, behind=rest[-2:] != "\n\n", arrow=arrow))
        ):
            lost, first = lost + found, number + 1 if first < 0 else first
        if arrow in said:  # a time that is none, within the text
            said, lost, first = said[: said.rfind("\n", 0, said.find(arrow)) + 1], lost + 1, max(first, number + 1)
        elif indexed and not gap and number + 1 < len(bodies):
            line = said.rstrip("\n").rpartition("\n")
            said = line[0] if line[2].strip().isdigit() else said
        texts.append(said)
    if not lost:
        return texts, []
    if not any(texts):
        return texts, [Failure("", "no_cues", "no text below a line with two times; export the captions again")]
    why = f"{lost} cues have no time that can be read, the first behind cue {first}; mend the times, the rest was read"
    return texts, [Failure(f"behind cue {first}", "bad_cue", why)]


def _uniform_texts(bodies: list[str], indexed: bool, arrow: str) -> list[str]:
    """The same where an empty line and at most an identifier stand behind each text; else nothing."""
    parts = [body.partition("\n\n") for body in bodies]
    texts = [said for said, _, _ in parts]
    behind = [rest for _, _, rest in parts if rest]
    everything = "\0".join(["", *texts])
    alike = (
        arrow not in everything
        and "\0\n" not in everything  # a cue that says nothing
        and (not indexed or all(gap for _, gap, _ in parts[:-1]))
        and (not parts or not parts[-1][2])
        and arrow not in (lines := "".join(behind))
        and lines.count("\n") == len(behind)
    )
    return texts if alike else []


def _lost_lines(between: str, behind: bool, arrow: str) -> int:
    """How many cues without a time stand between two cues; `behind`: its last line may be the next one's identifier."""
    blocks = [block for block in between.split("\n\n") if block.strip()]
    if blocks and behind and "\n" not in blocks[-1].strip() and arrow not in blocks[-1]:
        blocks.pop()
    return sum(not block.lstrip("\n").startswith(_BLOCKS) for block in blocks)


def _voice_cues(cut: _RawCue, texts: list[str]) -> list[Cue]:
    """Cues with their speakers: by voice tags, else by names that recur before a colon."""
    everything = "\0".join(["", *texts, ""])
    if "<v" in everything:
        plain = _ONE_VOICE.findall(everything)
        if len(plain) == len(texts):
            names, said = zip(*plain, strict=True)
            return _cues(cut, names, [_plain(text) if "\n" in text or "&" in text else text.strip() for text in said])
        return [
            cue
            for start, end, text in zip(cut.starts, cut.ends, texts, strict=True)
            for cue in _voices(start, end, text)
        ]
    if "<" in everything:
        texts = [_TAG.sub("", text) for text in texts]
    if "&" in everything:
        texts = [html.unescape(text) for text in texts]
    lines = [_line(text) if "\n" in text else text.strip() for text in _merge_rolling(texts)]
    return _cues(cut, *split_names(lines, each_may_speak_once=True))


def _cues(cut: _RawCue, names: Sequence[str | None], texts: Sequence[str]) -> list[Cue]:
    # as tuples, without the call of Python that the constructor of a named tuple is
    make: Any = partial(tuple.__new__, Cue)
    return list(map(make, zip(cut.starts, cut.ends, names, texts, strict=True)))


def _voices(start: float, end: float, text: str) -> list[Cue]:
    """A cue in the voice, or one for each of the voices, that its tags name."""
    parts = _VOICE.split(text)
    said = [_plain(part) for part in parts[::2]]
    cues = [Cue(start, end, " ".join(name.split()), part) for name, part in zip(parts[1::2], said[1:], strict=True)]
    cues = [cue for cue in cues if cue.text]
    if said[0] or not cues:
        cues.insert(0, Cue(start, end, None, said[0]))
    return cues


def _plain(text: str) -> str:
    if "<" in text:
        text = _TAG.sub("", text)
    if "&" in text:
        text = html.unescape(text)
    return _line(text) if "\n" in text else text.strip()


def _line(text: str) -> str:
    """Lines of one caption as one, but for dialogues, in which each has a dash."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "".join(("\n" if line[:1] == "-" else " ") + line for line in lines if line).strip()


def _merge_rolling(texts: list[str]) -> list[str]:
    """Rolling captions begin with the line that the one before ended with: what they repeat is left out."""
    if not any("\n" in text.strip() for text in texts):
        return texts
    lines = [[line.strip() for line in text.split("\n") if line.strip()] for text in texts]
    repeats = [bool(before and after and before[-1] == after[0]) for before, after in pairwise(lines)]
    if sum(repeats) * _ROLLING < len(repeats):
        return texts  # people say the same twice
    return ["\n".join(said[repeat:]) for said, repeat in zip(lines, [False, *repeats], strict=True)]


def _seconds(time: str) -> float:
    hours, minutes, seconds = ([*["0"] * 3, *time.replace(",", ".").split(":")])[-3:]
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
