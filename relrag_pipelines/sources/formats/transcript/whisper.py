"""Transcripts in JSON, as whisper, faster-whisper, WhisperX (with speakers) and whisper.cpp write them.

JSON of other programs has texts and times as well (chats, calendars, found names), so a file is a transcript only where
half of its parts have the fields of a segment, no others, and times that a recording can have.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.transcript.cues import Cue, Transcript, TranscriptError

_MILLISECONDS = 1000
_FIELDS = frozenset(
    {
        *("id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob", "compression_ratio"),
        *("no_speech_prob", "words", "chars", "speaker", "confidence", "language", "timestamps", "offsets"),
        *("speaker_turn_next", "transient", "type"),
    }
)
"""of segments, in any of these programs"""
_LONGEST = 7 * 86_400
"""seconds of a recording; moments since 1970 are more"""


def read(text: str) -> Transcript:
    """The segments of a transcript. Raises TranscriptError where it has none, or is JSON of another program."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise TranscriptError("not_json", "the file is not JSON; make the transcript again") from None
    parts = _parts(found)
    if not parts:
        raise TranscriptError("no_cues", "no `segments` (whisper) or `transcription` (whisper.cpp) in the file")
    read = [_cue(part) if _is_segment(part) else None for part in parts]
    cues = [cue for cue in read if cue]
    if len(cues) * 2 < len(parts) or not cues or not _is_speech(cues):
        why = "JSON of another program: its parts are no segments of speech; exclude the file, or move it elsewhere"
        raise TranscriptError("no_cues", why)
    faults = []
    if lost := len(read) - len(cues):
        why = f"{lost} of {len(read)} segments have no text or times of another type; the rest was read"
        faults = [Failure("segments", "bad_cue", why)]
    return Transcript(cues, _language(found), faults)


def _parts(found: Any) -> list[Any]:
    parts = found.get("segments", found.get("transcription")) if isinstance(found, dict) else found
    return parts if isinstance(parts, list) else []


def _is_segment(part: Any) -> bool:
    """Whether it has text and both times, and no field that segments do not have."""
    if not isinstance(part, dict) or not isinstance(part.get("text"), str) or not part.keys() <= _FIELDS:
        return False
    start, end = _times(part)
    return start is not None and end is not None and start <= end <= _LONGEST


def _is_speech(cues: list[Cue]) -> bool:
    """Whether they follow one another, and are not words with their places in a text."""
    ordered = all((one.start or 0) <= (other.start or 0) for one, other in pairwise(cues))
    places = all((cue.end or 0) - (cue.start or 0) == len(cue.text) for cue in cues)
    return ordered and not (places and len(cues) > 1)


def _cue(part: dict[str, Any]) -> Cue:
    start, end = _times(part)
    speaker = part.get("speaker")
    name = " ".join(speaker.split()) if isinstance(speaker, str) else ""
    return Cue(start, end, name or None, " ".join(part["text"].split()))


def _times(part: dict[str, Any]) -> tuple[float | None, float | None]:
    """Start and end of a segment, seconds."""
    offsets = part.get("offsets")
    if isinstance(offsets, dict):
        return _seconds(offsets.get("from"), _MILLISECONDS), _seconds(offsets.get("to"), _MILLISECONDS)
    return _seconds(part.get("start")), _seconds(part.get("end"))


def _seconds(value: Any, unit: int = 1) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**40
    return value / unit if number else None


def _language(found: Any) -> str | None:
    about = found.get("result", found) if isinstance(found, dict) else {}
    language = about.get("language") if isinstance(about, dict) else None
    return language.lower() if isinstance(language, str) and len(language) == 2 else None
