"""Transcripts in JSON, as whisper, faster-whisper, WhisperX (with speakers) and whisper.cpp write them."""

from __future__ import annotations

from typing import Any

import orjson

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.transcript.cues import Cue, Transcript, TranscriptError

_MILLISECONDS = 1000


def read(text: str) -> Transcript:
    """The segments of a transcript. Raises TranscriptError where it has none."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise TranscriptError("not_json", "the file is not JSON; make the transcript again") from None
    parts = found.get("segments", found.get("transcription")) if isinstance(found, dict) else found
    if not isinstance(parts, list):
        raise TranscriptError("no_cues", "no `segments` (whisper) or `transcription` (whisper.cpp) in the file")
    read = [_cue(part) for part in parts]
    cues = [cue for cue in read if cue]
    faults = []
    if lost := len(read) - len(cues):
        why = f"{lost} of {len(read)} segments have no text or times of another type; the rest was read"
        faults = [Failure("segments", "bad_cue", why)]
    return Transcript(cues, _language(found), faults)


def _cue(part: Any) -> Cue | None:
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return None
    start, end, speaker = part.get("start"), part.get("end"), part.get("speaker")
    offsets = part.get("offsets")
    if isinstance(offsets, dict):
        start, end = (_seconds(offsets.get(name), _MILLISECONDS) for name in ("from", "to"))
    else:
        start, end = _seconds(start), _seconds(end)
    name = " ".join(speaker.split()) if isinstance(speaker, str) else ""
    return Cue(start, end, name or None, " ".join(part["text"].split()))


def _seconds(value: Any, unit: int = 1) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**40
    return value / unit if number else None


def _language(found: Any) -> str | None:
    about = found.get("result", found) if isinstance(found, dict) else {}
    language = about.get("language") if isinstance(about, dict) else None
    return language.lower() if isinstance(language, str) and len(language) == 2 else None
