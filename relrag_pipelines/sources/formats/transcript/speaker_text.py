"""Transcripts as text with speakers, as Zoom, Teams, Meet and Otter save them and as people type them.

Known are `Name: text`, `[0:05] Name: text`, `Name (0:05): text`, a line `Name  0:05` or `[Name] 10:01:05` above what
was said, and times on lines of their own. A text without them is one cue without a speaker, as it stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

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
"""patterns of lines that state a time"""
_MIN_TIMED_LINES = 2
"""Text with fewer lines that state a time isn't read as a timed transcript."""


def read(text: str, names: Collection[str] = ()) -> Transcript:
    """The cues of a text; a cue ends when the next begins. `names` are known participants."""
    lines = text.strip().split("\n")
    matches = [_match_timed_line(line.strip()) for line in lines]
    if sum(match is not None for match in matches) < _MIN_TIMED_LINES:
        matches = [None] * len(lines)
    speakers, texts = split_names([line.strip() for line in lines], names)
    if not any(matches) and not any(speakers):
        return Transcript([Cue(None, None, None, text.strip())])
    # in minutes where each speaker occurs once, the next line is as likely a decision as more of the same speech
    is_dialogue = any(matches) or max(Counter(filter(None, speakers)).values()) > 1
    return Transcript(_with_ends(list(_cues(speakers, texts, matches, is_dialogue))))


def _cues(
    speakers: list[str | None], texts: list[str], matches: list[re.Match[str] | None], is_dialogue: bool
) -> Iterator[Cue]:
    """One cue per line with text; a line without a speaker continues the speech before, at the last stated time."""
    clock: float | None = None
    current: str | None = None
    for speaker, text, match in zip(speakers, texts, matches, strict=True):
        if match:
            clock = _seconds(match["time"])
            speaker = match["name"] and " ".join(match["name"].split())
            text = match["text"]
            current = speaker
        elif speaker:
            current = speaker if is_dialogue else None
        elif text:
            speaker = current
        if text:
            yield Cue(clock, None, speaker or None, text)


def _match_timed_line(line: str) -> re.Match[str] | None:
    if not any(map(str.isdigit, line[:70])):
        return None
    return next((match for form in _FORMS if (match := form.fullmatch(line))), None)


def _seconds(time: str) -> float:
    hours, minutes, seconds = ["0", "0", *time.split(":")][-3:]
    return float(int(hours) * 3600 + int(minutes) * 60 + int(seconds))


def _with_ends(cues: list[Cue]) -> list[Cue]:
    """Cues that end where the next later one begins; times of day are made relative to the first."""
    first = next((cue.start for cue in cues if cue.start is not None), None)
    if first is None:
        return cues
    zero = first if first >= _CLOCK_TIMES else 0.0
    moved = [cue if cue.start is None else cue._replace(start=max(cue.start - zero, 0.0)) for cue in cues]
    ends: list[float | None] = [None] * len(moved)
    for index in range(len(moved) - 2, -1, -1):
        start, next_start = moved[index].start, moved[index + 1].start
        if start is not None and next_start is not None:
            ends[index] = next_start if next_start > start else ends[index + 1]
    return [cue if cue.start is None else cue._replace(end=end) for cue, end in zip(moved, ends, strict=True)]


_CLOCK_TIMES = 3600.0 * 5
"""a first time from here on is a time of day: no recording begins five hours in"""
