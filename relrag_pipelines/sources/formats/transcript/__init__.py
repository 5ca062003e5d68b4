"""Transcripts of what was said: captions (.vtt, .srt, .sbv), whisper's .json, and text with speakers.

`read` gives cues, each with its time, speaker and text; `written` makes one text of them and says where in it each is.
What cannot be read of a file is a fault; the rest is kept. Used by calls and meetings alike.
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


def read(data: bytes, suffix: str, known: Collection[str] = ()) -> Transcript:
    """The transcript in a file with that suffix; `known` are names of participants.

    Raises TranscriptError where it is none or says nothing.
    """
    if not data.strip():
        raise TranscriptError("empty", "the file has no text; restore it or delete it")
    try:
        decoded = decode(data)
    except CharsetError as error:
        raise TranscriptError(error.fault, f"{error}; save it as UTF-8") from None
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    found = _READERS[suffix](text) if suffix in _READERS else speaker_text.read(text, known)
    if not any(cue.text for cue in found.cues):
        raise TranscriptError("no_cues", found.faults[0].message if found.faults else "the file contains no captions")
    found.faults += describe_damage(decoded)
    return found


def describe_damage(decoded: DecodedText) -> list[Failure]:
    """That bytes of a text were damaged, or that its charset is a guess."""
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
    """What is said, word for word: two transcripts of one call with the same words say the same."""
    return list(chain.from_iterable(cue.text.split() for cue in cues))


def format_transcript(cues: Sequence[Cue]) -> tuple[str, list[SpeechSegment]]:
    """The transcript as text, one line per turn of a speaker, and when each part is spoken.

    Cues of one speaker in a row are one line `Name: ...`; a cue without a speaker is a line of its own.
    """
    parts: list[str] = []
    spoken: list[SpeechSegment] = []
    place = 0
    before: str | None = None
    for start, end, speaker, text in cues:
        if not text:
            continue
        if speaker is None:
            lead = "\n"
        elif speaker == before:
            lead = " "
        else:
            lead = f"\n{speaker}: "
        before = speaker
        lead = lead if place else lead[1:]
        begin = place + (lead[:1] == "\n")
        place += len(lead) + len(text)
        parts += (lead, text)
        if start is not None:
            spoken.append(SpeechSegment(start, start if end is None or end < start else end, begin, place))
    return "".join(parts), spoken
