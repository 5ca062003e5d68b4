"""Transcripts of speech: captions (.vtt, .srt, .sbv), whisper's .json, and text with speakers.

`read` returns cues, each with its time, speaker and text; `format_transcript` joins them into one text and records
where each is. Unreadable parts of a file are faults; the rest is kept. Calls and meetings use both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

from relrag_pipelines.records import Failure, SpeechSegment
from relrag_pipelines.sources.formats.charset_detection import CharsetError, DecodedText, decode
from relrag_pipelines.sources.formats.transcript import captions, speaker_text, whisper
from relrag_pipelines.sources.formats.transcript.cues import Cue, Transcript, TranscriptError
from relrag_pipelines.sources.formats.transcript.speakers import is_placeholder, may_be_same

__all__ = [
    "Cue",
    "Transcript",
    "TranscriptError",
    "describe_damage",
    "format_transcript",
    "is_placeholder",
    "may_be_same",
    "read",
    "speakers",
    "swap_speakers",
    "word_count",
]

_READERS = {
    ".vtt": captions.vtt,
    ".srt": captions.srt,
    ".sbv": captions.sbv,
    ".json": whisper.read,
}


def read(data: bytes, suffix: str, names: Collection[str] = ()) -> Transcript:
    """The transcript in a file with a suffix; `names` are known participants.

    Raises TranscriptError if it is no transcript or has no text.
    """
    if not data.strip():
        raise TranscriptError("empty", "the file has no text; restore it or delete it")
    try:
        decoded = decode(data)
    except CharsetError as error:
        raise TranscriptError(error.fault, f"{error}; save it as UTF-8") from None
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    transcript = _READERS[suffix](text) if suffix in _READERS else speaker_text.read(text, names)
    if not any(cue.text for cue in transcript.cues):
        why = transcript.faults[0].message if transcript.faults else "the file contains no captions"
        raise TranscriptError("no_cues", why)
    transcript.faults += describe_damage(decoded)
    return transcript


def describe_damage(decoded: DecodedText) -> list[Failure]:
    """Failures for damaged bytes and a guessed charset."""
    if decoded.damaged_places:
        why = (
            f"damaged in {decoded.damaged_places} places, where U+FFFD stands now; restore the file or save it as UTF-8"
        )
    elif decoded.rivals:
        why = f"read as {decoded.charset}, but it may as well be {' or '.join(decoded.rivals)}; save it as UTF-8"
    else:
        return []
    return [Failure("text", "charset", why)]


def speakers(cues: Sequence[Cue]) -> list[str]:
    """All speakers, in the order in which they first speak."""
    return list(dict.fromkeys([cue.speaker for cue in cues if cue.speaker]))


def swap_speakers(cues: Sequence[Cue]) -> list[Cue]:
    """The cues with their two speakers exchanged; unchanged if there are not exactly two."""
    names = speakers(cues)
    if len(names) != 2:
        return list(cues)
    other = dict(zip(names, reversed(names), strict=True))
    return [cue._replace(speaker=other.get(cue.speaker or "")) for cue in cues]


def word_count(cues: Sequence[Cue]) -> list[str]:
    """All words in order: transcripts with equal words are equal, however they are split into cues."""
    return list(chain.from_iterable(cue.text.split() for cue in cues))


def format_transcript(cues: Sequence[Cue]) -> tuple[str, list[SpeechSegment]]:
    """The transcript as text, one line per turn of a speaker, and the time of each part.

    Successive cues of one speaker are one line `Name: ...`; a cue without a speaker is a line of its own.
    """
    parts: list[str] = []
    spoken: list[SpeechSegment] = []
    offset = 0
    previous_speaker: str | None = None
    for start, end, speaker, text in cues:
        if not text:
            continue
        lead = _lead(speaker, previous_speaker)
        previous_speaker = speaker
        lead = lead if offset else lead[1:]
        begin = offset + (lead[:1] == "\n")
        offset += len(lead) + len(text)
        parts += (lead, text)
        if start is not None:
            spoken.append(SpeechSegment(start, start if end is None or end < start else end, begin, offset))
    return "".join(parts), spoken


def _lead(speaker: str | None, previous_speaker: str | None) -> str:
    """The text between a cue and the one before it."""
    if speaker is None:
        return "\n"
    return " " if speaker == previous_speaker else f"\n{speaker}: "
