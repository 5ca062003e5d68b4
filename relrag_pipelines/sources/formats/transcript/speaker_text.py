"""Transcripts as text with speakers, as Zoom, Teams, Meet and Otter save them and as people type them.

Known are `Name: text`, `[0:05] Name: text`, `Name (0:05): text`, a line `Name  0:05` or `[Name] 10:01:05` above what
was said, and times on lines of their own. A text without them is one cue without a speaker, as it stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from relrag_pipelines.sources.formats.transcript.cues import Cue, Transcript
from relrag_pipelines.sources.formats.transcript.speakers import split_names

_CLOCK = r"(?P<time>(?:\d{1,3}:)?[0-5]?\d:[0-5]\d)(?:[.,]\d{1,3})?"
_FORMS = (
    re.compile(rf"[\[(]{_CLOCK}[\])][ \t]*(?:-[ \t]*)?(?:(?P<name>[^\W\d][^:\n\[\]]{{0,59}}):[ \t]+)?(?P<text>.*)"),
    re.compile(rf"{_CLOCK}(?:[ \t]*-->?[ \t]*[\d:.,]+)?[ \t]+(?P<name>[^\W\d][^:\n\[\]]{{0,59}}):[ \t]+(?P<text>.*)"),
    re.compile(rf"(?P<name>[^\W\d][^:\n\[\]()]{{0,59}}?)[ \t]*[\[(]{_CLOCK}[\])]:?[ \t]*(?P<text>.*)"),
    re.compile(rf"\[(?P<name>[^\W\d][^\n\[\]]{{0,59}})\][ \t]*{_CLOCK}(?P<text>)[ \t]*"),
    re.compile(rf"(?P<name>[^\W\d][^:\n\[\]]{{0,59}}?)(?:[ \t]{{2,}}|\t){_CLOCK}(?P<text>)[ \t]*"),
    re.compile(rf"(?P<name>){_CLOCK}(?P<text>)[ \t]*"),
)
"""lines that name a time, each as a whole line"""
_FEWEST = 2
"""lines with a time that make a transcript"""


def read(text: str, known: Collection[str] = ()) -> Transcript:
    """The cues of a text; times are taken as they stand, a cue ends where the next one begins. `known` take part."""
    lines = text.strip().split("\n")
    timed = [_match_timed_line(line.strip()) for line in lines]
    if sum(match is not None for match in timed) < _FEWEST:
        timed = [None] * len(lines)
    names, texts = split_names([line.strip() for line in lines], known)
    if not any(timed) and not any(names):
        return Transcript([Cue(None, None, None, text.strip())])
    # in minutes, where each is named once, the next line is as often a decision as more of what he said
    is_dialogue = any(timed) or max(Counter(filter(None, names)).values()) > 1
    cues: list[Cue] = []
    clock: float | None = None
    holder: str | None = None
    for name, said, match in zip(names, texts, timed, strict=True):
        if match:
            clock, holder = _seconds(match["time"]), match["name"] and " ".join(match["name"].split())
            name, said = holder, match["text"]
            if not said and not name:
                holder = None
        elif name:
            holder = name if is_dialogue else None
        elif said:
            name = holder
        if said:
            cues.append(Cue(clock, None, name or None, said))
    return Transcript(_with_ends(cues))


def _match_timed_line(line: str) -> re.Match[str] | None:
    if not any(map(str.isdigit, line[:70])):
        return None
    return next((match for form in _FORMS if (match := form.fullmatch(line))), None)


def _seconds(time: str) -> float:
    hours, minutes, seconds = ["0", "0", *time.split(":")][-3:]
    return float(int(hours) * 3600 + int(minutes) * 60 + int(seconds))


def _with_ends(cues: list[Cue]) -> list[Cue]:
    """Cues that end where the next later one begins; clock times of a day count from the first."""
    first = next((cue.start for cue in cues if cue.start is not None), None)
    if first is None:
        return cues
    zero = first if first >= _CLOCK_TIMES else 0.0
    moved = [cue if cue.start is None else cue._replace(start=max(cue.start - zero, 0.0)) for cue in cues]
    ends: list[float | None] = [None] * len(moved)
    for place in range(len(moved) - 2, -1, -1):
        here, there = moved[place].start, moved[place + 1].start
        if here is not None and there is not None:
            ends[place] = there if there > here else ends[place + 1]
    return [cue if cue.start is None else cue._replace(end=end) for cue, end in zip(moved, ends, strict=True)]


_CLOCK_TIMES = 3600.0 * 5
"""a first time from here on is the time of day: no recording begins five hours in"""
