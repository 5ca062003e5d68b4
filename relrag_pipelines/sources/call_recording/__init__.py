"""Recorded calls: an audio file with its transcript beside it, `call.m4a` with `call.vtt`.

A call is known by the keyed hash of its audio, wherever it lies and whatever it is called. Its state stands in
`extra.state`: `pending` (no transcript), `transcribed`, `approved` (by the owner), `error` (no transcript, and what is
there is damaged). The text of one that waits for approval is not read into the archive. A transcript without its audio
is a call too, known by its path.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.files.regular_files import open_plain, read_plain
from relrag_pipelines.records import AUDIO_REF, Failure, NamedPerson, Record
from relrag_pipelines.sources import AUDIO, TRANSCRIPTS, CallApproval, ReadContext, Unit
from relrag_pipelines.sources.call_recording.audio import AudioError, seconds
from relrag_pipelines.sources.call_recording.filename_patterns import FilenameFacts, parse_filename, says_call
from relrag_pipelines.sources.call_recording.transcribe import transcript_of
from relrag_pipelines.sources.formats.transcript import (
    Transcript,
    TranscriptError,
    format_transcript,
    is_placeholder,
    may_be_same,
    speakers,
    swap_speakers,
    word_count,
)
from relrag_pipelines.sources.formats.transcript import read as read_transcript
from relrag_pipelines.sources.formats.transcript.cues import Cue
from relrag_pipelines.text import reference_numbers
from relrag_pipelines.workers.sandbox import ParserStopped, call

__all__ = ["read", "recognise"]

PENDING, TRANSCRIBED, APPROVED, ERROR = "pending", "transcribed", "approved", "error"

_HEAD = 4096
"""bytes of a text by which it is recognised"""
_LEAST_BYTES = 500
"""a second of sound: no recorder writes fewer, so a recording is no longer than that, whatever its header says"""
_HEADS = re.compile(
    rb"....ftyp|ID3|\xff[\xe0-\xff]|RIFF....WAVE|OggS|#!AMR|fLaC|\x30\x26\xb2\x75|\x1a\x45\xdf\xa3", re.DOTALL
)


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a call, and failures for what could not be read of it."""
    is_audio = unit.file.suffix.lower() in AUDIO
    audio = unit.file if is_audio and unit.file.stat().st_size else None
    native = _native(audio, unit, reading)
    extra: dict[str, Any] = {}
    damaged = False
    if audio:
        try:
            length = call(reading.limits, 0, seconds, audio)  # the sound itself is not read
            extra |= {"seconds": length} if length is not None else {}
        except AudioError as error:
            damaged = True
            yield Failure("audio", "damaged_audio", str(error))
        except ParserStopped as error:
            damaged = True
            yield Failure("audio", error.fault, str(error))
    elif is_audio:
        yield Failure("audio", "empty", "the recording has no bytes; copy it again, or delete it")
    by_name = parse_filename(PurePosixPath(unit.path).stem, reading.file_names, reading.timezone)
    known = [one for one in (reading.owner, by_name.name) if one]
    transcript, name, failures = _transcript(list(unit.companions) if is_audio else [unit.file], reading, known)
    if audio and not transcript and not failures and reading.transcription_model:
        transcript, name, failures = _transcribe(audio, native, extra.get("seconds"), reading)
    yield from failures
    said = reading.approvals().get(f"call_recording:{native}", CallApproval())
    extra["state"] = _state(transcript, said, failed=damaged or bool(failures))
    if name:
        extra["transcript"] = name
    if audio or transcript:
        yield _record(unit, reading, native, audio is not None, by_name, transcript, said, extra)


def recognise(file: Path) -> bool:
    """Whether a file is a recording with a transcript or named as a call, or a transcript with or named as a recording.

    Sound alone is none: music, voice notes and films have the same suffixes.
    """
    suffix = file.suffix.lower()
    if suffix in AUDIO:
        with open_plain(file) as opened:
            sound = _HEADS.match(opened.read(16)) is not None
        return sound and (says_call(file.stem) or any(file.with_suffix(one).is_file() for one in TRANSCRIPTS))
    beside = suffix in TRANSCRIPTS and any(file.with_suffix(one).is_file() for one in AUDIO)
    return beside or (suffix == ".txt" and _is_lone_transcript(file))


def _is_lone_transcript(file: Path) -> bool:
    """Whether a text without its recording is named as recorders name theirs, and several people speak in it."""
    if not says_call(file.stem) and parse_filename(file.stem, (), "UTC").date_quality != "exact":
        return False
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    try:
        return len(speakers(read_transcript(head[: head.rfind(b"\n") + 1], ".txt").cues)) > 1
    except TranscriptError:
        return False


def _native(audio: Path | None, unit: Unit, reading: ReadContext) -> str:
    """The keyed hash of the audio; without audio, of the path without its suffix."""
    if audio is None:
        return reading.hash(str(PurePosixPath(unit.path).with_suffix("")))
    with open_plain(audio) as file:
        return reading.hash(hashlib.file_digest(file, "sha256").hexdigest())


def _transcribe(
    audio: Path, native: str, length: float | None, reading: ReadContext
) -> tuple[Transcript | None, str | None, list[Failure]]:
    """A transcript by the model, and a placeholder for the name of its file."""
    if reading.transcripts is None:
        return None, None, []
    kept = reading.transcripts / reading.source / f"{native}.vtt"
    longest = audio.stat().st_size / _LEAST_BYTES
    limits = reading.transcription_limits(min(length or longest, longest))
    try:
        return transcript_of(audio, kept, reading.transcription_model, limits), "transcription_model", []
    except (TranscriptError, ParserStopped) as error:
        return None, None, [Failure("audio", error.fault, str(error))]


def _transcript(
    files: list[Path], reading: ReadContext, known: list[str]
) -> tuple[Transcript | None, str | None, list[Failure]]:
    """The first readable transcript in the order of TRANSCRIPTS, its file's name, and what is wrong with others."""
    found: list[tuple[Transcript, str]] = []
    failures: list[Failure] = []
    for file in sorted(files, key=lambda one: (TRANSCRIPTS.index(one.suffix.lower()), one.name)):
        try:
            if file.stat().st_size > reading.unit_max_bytes:
                raise TranscriptError("too_large", "larger than unit_max_bytes; raise it, or exclude the file")
            found.append((read_transcript(read_plain(file), file.suffix.lower(), known), file.name))
        except TranscriptError as error:
            failures.append(Failure(file.name, error.fault, str(error)))
    if not found:  # what an earlier one held is kept, unless it was emptied
        return None, None, [replace(one, whole_unit=one.fault != "empty") for one in failures]
    transcript, name = found[0]
    failures += transcript.faults
    for other, other_name in found[1:]:
        if word_count(other.cues) != word_count(transcript.cues):
            why = f"says something else than {PurePosixPath(name).suffix}, which was read; keep the right one"
            failures.append(Failure(other_name, "two_transcripts", why))
    return transcript, name, failures


def _state(transcript: Transcript | None, said: CallApproval, failed: bool) -> str:
    if transcript is None:
        return ERROR if failed else PENDING
    return APPROVED if said.approved else TRANSCRIBED


def _record(
    unit: Unit,
    reading: ReadContext,
    native: str,
    of_audio: bool,
    by_name: FilenameFacts,
    transcript: Transcript | None,
    said: CallApproval,
    extra: dict[str, Any],
) -> Record:
    path, cues = PurePosixPath(unit.path), transcript.cues if transcript else []
    if said.swapped:
        cues = swap_speakers(cues)
    said_by = speakers(cues)
    named = [name for name in said_by if not is_placeholder(name)]
    told = by_name.name or by_name.phone
    others = [name for name in named if not _is_owner(name, reading.owner, [*named, by_name.name or ""])]
    other = others[0] if len(others) == 1 else told
    participants = [*named, told] if told and not others else named
    extra = _extra(extra, cues, by_name, said_by)
    text, spoken = format_transcript(cues) if said.approved or not reading.approval_required else ("", [])
    return Record(
        source_id=native,
        text=text,
        from_=other,
        participants=participants,
        subject=f"Call with {other}" if other else path.stem,
        ts=by_name.ts if by_name.ts is not None else unit.file.stat().st_mtime_ns // 10**9,
        date_quality=by_name.date_quality if by_name.ts is not None else "modified",
        parent_ref=f"{AUDIO_REF}{native}" if of_audio else None,
        content_type=path.suffix.lower().lstrip("."),
        file_name=path.name,
        source_uri=unit.path,
        locations=[unit.path, *(path.with_name(file.name).as_posix() for file in unit.companions)],
        language=transcript.language if transcript else None,
        people=_people(by_name, participants),
        numbers=reference_numbers.find_reference_numbers(text),
        extra=extra,
        spoken=spoken or None,
    )


def _extra(found: dict[str, Any], cues: list[Cue], by_name: FilenameFacts, said_by: list[str]) -> dict[str, Any]:
    """The fields that only a call has. Its length is the recording's, else the transcript's."""
    if cues and not found.get("seconds"):
        found = {**found, "seconds": max((cue.end or cue.start or 0.0 for cue in cues), default=None)}
    return found | ({"phone": by_name.phone} if by_name.phone else {}) | ({"speakers": said_by} if said_by else {})


def _is_owner(name: str, owner: str, names: list[str]) -> bool:
    """Whether a name is the owner's: the whole one, or a given name that only one of the names begins with."""
    if not may_be_same(name, owner):
        return False
    given = owner.casefold().split()[:1]
    return (
        name.casefold() == owner.casefold() or len({one for one in names if one.casefold().split()[:1] == given}) == 1
    )


def _people(by_name: FilenameFacts, names: list[str]) -> list[NamedPerson]:
    """Who took part by the name of the file, where the transcript names them otherwise."""
    known = {name.casefold() for name in names}
    return [NamedPerson("participant", one) for one in by_name[:2] if one and one.casefold() not in known]
