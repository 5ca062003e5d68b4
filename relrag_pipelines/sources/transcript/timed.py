"""Captions: WebVTT (https://www.w3.org/TR/webvtt1/), SubRip, and YouTube's SBV.

A line with a time and an arrow begins a cue; its text goes to the next empty line, or to the next such line. One
pattern cuts the whole file at those lines, and the times are worked out together, because a pattern a line costs five
times as much. What stands between cues is an identifier, a comment, or a fault.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.transcript.cues import Cue, Transcript
from relrag_pipelines.sources.transcript.names import split_names

_TIME = r"(?:\d+:)?[0-5]?\d:[0-5]\d[.,]\d{3}"
_ARROW = re.compile(rf"^[ \t]*({_TIME})[ \t]*-->[ \t]*({_TIME})(?:[ \t][^\n]*)?$\n?", re.MULTILINE)
_COMMA = re.compile(r"^(\d+:[0-5]\d:[0-5]\d\.\d{3}),(\d+:[0-5]\d:[0-5]\d\.\d{3})[ \t]*$\n?", re.MULTILINE)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>\n]+)>")
_ONE_VOICE = re.compile(r"<v ([^\s>]+(?: [^\s>]+)*)>([^<>&\n]*[^<>&\s])(?:</v>)?\s*").fullmatch
"""the plain case, which is nearly all there is in long transcripts"""
_TAG = re.compile(r"</?(?:c|i|b|u|v|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<(?:\d+:)?\d\d:\d\d\.\d{3}>|\{\\an?\d\}", re.I)
_BLANKS = re.compile(r"\n[ \t]*\n[\n \t]*")
_BLOCKS = ("NOTE", "STYLE", "REGION")
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z]{2})\b", re.MULTILINE)
_ROLLING = 3
"""captions roll where one in so many repeats a line"""
_WIDTH = 13
"""characters of `100:00:00.000`: four days, less a little"""
_WEIGHTS = np.array([360_000_000, 36_000_000, 3_600_000, 0, 600_000, 60_000, 0, 10_000, 1_000, 0, 100, 10, 1])
"""milliseconds that each digit of a time stands for"""


def vtt(text: str) -> Transcript:
    """WebVTT with voices, also as Zoom, Teams, Meet and YouTube write it."""
    text = text.removeprefix("\ufeff")
    if "\n\n" not in text or _spaced(text):
        text = _BLANKS.sub("\n\n", text)
    said = text.startswith("WEBVTT")
    head, starts, ends, bodies = _cut(_ARROW, text)
    header, _, rest = head.partition("\n\n") if said else ("", "", head)
    texts, faults = _texts(bodies, rest, indexed=False)
    if not said:
        why = "the first line is not WEBVTT, so it may be no captions; what it holds was read all the same"
        faults.insert(0, Failure("line 1", "no_header", why))
    language = _LANGUAGE.search(header)
    return Transcript(_voiced(starts, ends, texts), language[1].lower() if language else None, faults)


def srt(text: str) -> Transcript:
    """SubRip: numbered cues, a comma before the milliseconds."""
    text = text.removeprefix("\ufeff")
    if "\n\n" not in text or _spaced(text):
        text = _BLANKS.sub("\n\n", text)
    head, starts, ends, bodies = _cut(_ARROW, text)
    texts, faults = _texts(bodies, head, indexed=True)
    if odd := sum("." in start or "." in end for start, end in zip(starts, ends, strict=True)):
        why = f"{odd} times are written with a point, as in WebVTT; they were read all the same"
        faults.append(Failure("times", "odd_time", why))
    cues = _voiced(starts, ends, texts)
    return Transcript([cue for cue in cues if cue.text], faults=faults)


def sbv(text: str) -> Transcript:
    """YouTube's SBV: `0:00:00.378,0:00:11.378` above each text."""
    text = _BLANKS.sub("\n\n", text.removeprefix("\ufeff"))
    head, starts, ends, bodies = _cut(_COMMA, text)
    texts, faults = _texts(bodies, head, indexed=False, arrow="\0")
    cues = _voiced(starts, ends, texts)
    return Transcript([cue for cue in cues if cue.text], faults=faults)


def _spaced(text: str) -> bool:
    """Whether lines that look empty may hold blanks."""
    return " \n" in text or "\t\n" in text or "\n\n\n" in text


def _cut(pattern: re.Pattern[str], text: str) -> tuple[str, list[str], list[str], list[str]]:
    """What stands before the first time, and of each cue its two times and what follows them."""
    parts = pattern.split(text)
    return parts[0], parts[1::3], parts[2::3], parts[3::3]


def _texts(bodies: list[str], head: str, indexed: bool, arrow: str = "-->") -> tuple[list[str], list[Failure]]:
    """The text of each cue; `indexed`: a number stands above each time, if need be without an empty line before it."""
    lost = _lost(head, behind=head[-2:] != "\n\n", arrow=arrow)
    first = 0 if lost else -1
    texts = []
    for number, body in enumerate(bodies):
        said, gap, rest = body.partition("\n\n")
        if body[:1] == "\n":  # the cue says nothing
            said, gap, rest = "", "\n\n", body[1:]
        if rest and not rest.strip().isdigit() and (found := _lost(rest, behind=rest[-2:] != "\n\n", arrow=arrow)):
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


def _lost(between: str, behind: bool, arrow: str) -> int:
    """How many cues without a time stand between two cues; `behind`: its last line may be the next one's identifier."""
    blocks = [block for block in between.split("\n\n") if block.strip()]
    if blocks and behind and "\n" not in blocks[-1].strip() and arrow not in blocks[-1]:
        blocks.pop()
    return sum(not block.lstrip("\n").startswith(_BLOCKS) for block in blocks)


def _voiced(starts: Sequence[str], ends: Sequence[str], texts: list[str]) -> list[Cue]:
    """Cues with their speakers: by voice tags, else by names that recur before a colon."""
    begins, finishes = _seconds(starts), _seconds(ends)
    tagged = any("<" in text for text in texts)
    if tagged and any("<v" in text for text in texts):
        cues: list[Cue] = []
        for start, end, text in zip(begins, finishes, texts, strict=True):
            if match := _ONE_VOICE(text):
                cues.append(Cue(start, end, match[1], match[2]))
            else:
                cues += _voices(start, end, text)
        return cues
    if tagged:
        texts = [_TAG.sub("", text) for text in texts]
    if any("&" in text for text in texts):
        texts = [html.unescape(text) for text in texts]
    lines = [_line(text) if "\n" in text else text.strip() for text in _rolled(texts)]
    names, said = split_names(lines)
    return list(map(Cue, begins, finishes, names, said))


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


def _rolled(texts: list[str]) -> list[str]:
    """Rolling captions begin with the line that the one before ended with: what they repeat is left out."""
    if not any("\n" in text.strip() for text in texts):
        return texts
    lines = [[line.strip() for line in text.split("\n") if line.strip()] for text in texts]
    repeats = [bool(before and after and before[-1] == after[0]) for before, after in pairwise(lines)]
    if sum(repeats) * _ROLLING < len(repeats):
        return texts  # people say the same twice
    return ["\n".join(said[repeat:]) for said, repeat in zip(lines, [False, *repeats], strict=True)]


def _seconds(times: Sequence[str]) -> list[float]:
    if not times:
        return []
    if max(map(len, times)) > _WIDTH:
        return [_slowly(time) for time in times]
    digits = np.array([time.rjust(_WIDTH, "0") for time in times], dtype=f"S{_WIDTH}")
    values = digits.view(np.uint8).reshape(len(times), _WIDTH).astype(np.int64) - ord("0")
    seconds: list[float] = (values @ _WEIGHTS / 1000).tolist()
    return seconds


def _slowly(time: str) -> float:
    hours, minutes, seconds = ([*["0"] * 3, *time.replace(",", ".").split(":")])[-3:]
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
