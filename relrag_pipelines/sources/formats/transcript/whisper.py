"""Transcripts in JSON, as whisper, faster-whisper, WhisperX (with speakers) and whisper.cpp write them.

JSON of other programs has texts and times as well (chats, calendars, named entities), so a file counts as a transcript
only if half of its parts have the fields of a segment, no others, and times that a recording can have.
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
_MAX_SECONDS = 7 * 86_400
"""length of a recording; larger values are times since 1970"""


def read(text: str) -> Transcript:
    """The segments of a transcript. Raises TranscriptError if there are none, or the JSON is of another program."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise TranscriptError("not_json", "the file is not JSON; make the transcript again") from None
    parts = _parts(data)
    if not parts:
        raise TranscriptError("no_cues", "no `segments` (whisper) or `transcription` (whisper.cpp) in the file")
    cues = list(filter(None, (_cue(part) for part in parts if _is_segment(part))))
    if len(cues) * 2 < len(parts) or not cues or not _is_speech(cues):
        why = "JSON of another program: its parts are no segments of speech; exclude the file, or move it elsewhere"
        raise TranscriptError("no_cues", why)
    faults = []
    if lost := len(parts) - len(cues):
        why = f"{lost} of {len(parts)} segments have no text or times of another type; the rest was read"
        faults = [Failure("segments", "bad_cue", why)]
    return Transcript(cues, _language(data), faults)


def _parts(data: Any) -> list[Any]:
    parts = data.get("segments", data.get("transcription")) if isinstance(data, dict) else data
    return parts if isinstance(parts, list) else []


def _is_segment(part: Any) -> bool:
    """Whether a part has text and both times, and no field that segments don't have."""
    if not isinstance(part, dict) or not isinstance(part.get("text"), str) or not part.keys() <= _FIELDS:
        return False
    start, end = _times(part)
    return start is not None and end is not None and start <= end <= _MAX_SECONDS


def _is_speech(cues: list[Cue]) -> bool:
    """Whether the cues follow one another, and aren't words with their offsets in a text."""
    ordered = all((cue.start or 0) <= (following.start or 0) for cue, following in pairwise(cues))
    are_offsets = all((cue.end or 0) - (cue.start or 0) == len(cue.text) for cue in cues)
    return ordered and not (are_offsets and len(cues) > 1)


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


def _language(data: Any) -> str | None:
    result = data.get("result", data) if isinstance(data, dict) else {}
    language = result.get("language") if isinstance(result, dict) else None
    return language.lower() if isinstance(language, str) and len(language) == 2 else None
