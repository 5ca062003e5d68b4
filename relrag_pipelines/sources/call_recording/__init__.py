"""Recorded calls: an audio file with its transcript beside it, `call.m4a` with `call.vtt`.

A call is identified by the keyed hash of its audio, so moving or renaming the file keeps its id. `extra.state` is
`pending` (no transcript), `transcribed`, `approved` or `left_out` (by the owner) or `error` (no transcript, and the
audio or the transcript file is damaged). The text of a call that waits for approval, or is left out, stays out of the
archive. A transcript without audio is a call too, identified by its path.
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
from relrag_pipelines.sources.call_filenames import FilenameFacts, parse_filename, says_call
from relrag_pipelines.sources.call_recording.audio import AudioError, seconds
from relrag_pipelines.sources.call_recording.transcribe import cache_file, transcript_of
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

PENDING, TRANSCRIBED, APPROVED, LEFT_OUT, ERROR = "pending", "transcribed", "approved", "left_out", "error"

_HEAD = 4096
"""bytes at the start of a text that `recognise` reads"""
_MIN_BYTES_PER_SECOND = 500
"""No recorder writes fewer, so the file's size bounds the length of a recording, whatever its header claims."""
_HEADS = re.compile(
    rb"....ftyp|ID3|\xff[\xe0-\xff]|RIFF....WAVE|OggS|#!AMR|fLaC|\x30\x26\xb2\x75|\x1a\x45\xdf\xa3", re.DOTALL
)


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a call, and a failure for each part that could not be read."""
    is_audio = unit.file.suffix.lower() in AUDIO
    audio = unit.file if is_audio and unit.file.stat().st_size else None
    native = _native(audio, unit, reading)
    length, audio_failure = _audio_length(audio, reading) if is_audio else (None, None)
    if audio_failure:
        yield audio_failure
    filename = parse_filename(PurePosixPath(unit.path).stem, reading.file_names, reading.timezone)
    files = list(unit.companions) if is_audio else [unit.file]
    names = list(filter(None, (reading.owner, filename.name)))
    transcript, transcript_name, failures = _transcript(files, reading, names)
    if audio and not transcript and not failures and reading.transcription_model:
        transcript, transcript_name, failures = _transcribe(audio, native, length, reading)
    yield from failures
    approval = reading.approvals().get(f"call_recording:{native}", CallApproval())
    damaged = audio is not None and audio_failure is not None
    extra: dict[str, Any] = {} if length is None else {"seconds": length}
    extra["state"] = _state(transcript, approval, failed=damaged or bool(failures))
    if transcript_name:
        extra["transcript"] = transcript_name
    if audio or transcript:
        yield _record(unit, reading, native, audio is not None, filename, transcript, approval, extra)


def _audio_length(audio: Path | None, reading: ReadContext) -> tuple[float | None, Failure | None]:
    """Seconds that the recording's header states, and what is wrong with it; `audio` is None for an empty file."""
    if audio is None:
        return None, Failure("audio", "empty", "the recording has no bytes; copy it again, or delete it")
    try:
        return call(reading.limits, 0, seconds, audio), None  # reads the header only, hence 0 bytes
    except AudioError as error:
        return None, Failure("audio", "damaged_audio", str(error))
    except ParserStopped as error:
        return None, Failure("audio", error.fault, str(error))


def recognise(file: Path) -> bool:
    """Whether a file is a recorded call: a recording or transcript that has the other beside it or is named as a call.

    Sound alone isn't enough: music, voice notes and films have the same suffixes.
    """
    suffix = file.suffix.lower()
    if suffix in AUDIO:
        with open_plain(file) as opened:
            sound = _HEADS.match(opened.read(16)) is not None
        return sound and (
            says_call(file.stem)
            or any(file.with_suffix(transcript_suffix).is_file() for transcript_suffix in TRANSCRIPTS)
        )
    has_recording = suffix in TRANSCRIPTS and any(file.with_suffix(audio_suffix).is_file() for audio_suffix in AUDIO)
    return has_recording or (suffix == ".txt" and _is_lone_transcript(file))


def _is_lone_transcript(file: Path) -> bool:
    """Whether a text without a recording has a file name that call recorders use, and several speakers."""
    if not says_call(file.stem) and parse_filename(file.stem, (), "UTC").date_quality != "exact":
        return False
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    try:
        return len(speakers(read_transcript(head[: head.rfind(b"\n") + 1], ".txt").cues)) > 1
    except TranscriptError:
        return False


def _native(audio: Path | None, unit: Unit, reading: ReadContext) -> str:
    """The keyed hash of the audio; without audio, that of the path without its suffix."""
    if audio is None:
        return reading.hash(str(PurePosixPath(unit.path).with_suffix("")))
    with open_plain(audio) as file:
        return reading.hash(hashlib.file_digest(file, "sha256").hexdigest())


def _transcribe(
    audio: Path, native: str, length: float | None, reading: ReadContext
) -> tuple[Transcript | None, str | None, list[Failure]]:
    """A transcript made by the model, and a placeholder for the name of its file."""
    if reading.transcripts is None:
        return None, None, []
    longest = audio.stat().st_size / _MIN_BYTES_PER_SECOND
    limits = reading.transcription_limits(min(length or longest, longest))
    try:
        return (
            transcript_of(audio, cache_file(reading, native), reading.transcription_model, limits),
            "transcription_model",
            [],
        )
    except (TranscriptError, ParserStopped) as error:
        return None, None, [Failure("audio", error.fault, str(error))]


def _transcript(
    files: list[Path], reading: ReadContext, names: list[str]
) -> tuple[Transcript | None, str | None, list[Failure]]:
    """The first readable transcript in the order of TRANSCRIPTS, its file's name, and the failures of all files.

    `names` are people known to take part.
    """
    transcripts: list[tuple[Transcript, str]] = []
    failures: list[Failure] = []
    for file in sorted(files, key=lambda path: (TRANSCRIPTS.index(path.suffix.lower()), path.name)):
        try:
            if file.stat().st_size > reading.unit_max_bytes:
                raise TranscriptError("too_large", "larger than unit_max_bytes; raise it, or exclude the file")
            transcripts.append((read_transcript(read_plain(file), file.suffix.lower(), names), file.name))
        except TranscriptError as error:
            failures.append(Failure(file.name, error.fault, str(error)))
    if not transcripts:  # the record of an earlier transcript stays, unless the file was emptied
        return None, None, [replace(failure, whole_unit=failure.fault != "empty") for failure in failures]
    transcript, name = transcripts[0]
    failures += transcript.faults
    for other, other_name in transcripts[1:]:
        if word_count(other.cues) != word_count(transcript.cues):
            why = f"differs from {PurePosixPath(name).suffix}, which was read; keep the right one"
            failures.append(Failure(other_name, "two_transcripts", why))
    return transcript, name, failures


def _state(transcript: Transcript | None, approval: CallApproval, failed: bool) -> str:
    if transcript is None:
        return ERROR if failed else PENDING
    if approval.left_out:
        return LEFT_OUT
    return APPROVED if approval.approved else TRANSCRIBED


def _record(
    unit: Unit,
    reading: ReadContext,
    native: str,
    has_audio: bool,
    filename: FilenameFacts,
    transcript: Transcript | None,
    approval: CallApproval,
    extra: dict[str, Any],
) -> Record:
    path, cues = PurePosixPath(unit.path), transcript.cues if transcript else []
    if approval.swapped:
        cues = swap_speakers(cues)
    speaker_names = speakers(cues)
    other, participants = _participants(speaker_names, filename, reading.owner)
    extra = _extra(extra, cues, filename, speaker_names)
    is_open = approval.approved or not (reading.approval_required or approval.left_out)
    text, spoken = format_transcript(cues) if is_open else ("", [])
    return Record(
        source_id=native,
        text=text,
        from_=other,
        participants=participants,
        subject=f"Call with {other}" if other else path.stem,
        ts=filename.ts if filename.ts is not None else unit.file.stat().st_mtime_ns // 10**9,
        date_quality=filename.date_quality if filename.ts is not None else "modified",
        parent_ref=f"{AUDIO_REF}{native}" if has_audio else None,
        content_type=path.suffix.lower().lstrip("."),
        file_name=path.name,
        source_uri=unit.path,
        locations=[unit.path, *(path.with_name(file.name).as_posix() for file in unit.companions)],
        language=transcript.language if transcript else None,
        people=_people(filename, participants),
        numbers=reference_numbers.find_reference_numbers(text),
        extra=extra,
        spoken=spoken or None,
    )


def _participants(speaker_names: list[str], filename: FilenameFacts, owner: str) -> tuple[str | None, list[str]]:
    """The person whom the owner spoke with, if that is clear, and all participants."""
    real_names = [name for name in speaker_names if not is_placeholder(name)]
    callee = filename.name or filename.phone
    others = [name for name in real_names if not _is_owner(name, owner, [*real_names, filename.name or ""])]
    other = others[0] if len(others) == 1 else callee
    return other, [*real_names, callee] if callee and not others else real_names


def _extra(extra: dict[str, Any], cues: list[Cue], filename: FilenameFacts, speaker_names: list[str]) -> dict[str, Any]:
    """`extra` with the fields that only a call has. Its length is the recording's, else the transcript's."""
    if cues and not extra.get("seconds"):
        extra = {**extra, "seconds": max((cue.end or cue.start or 0.0 for cue in cues), default=None)}
    if filename.phone:
        extra = {**extra, "phone": filename.phone}
    return {**extra, "speakers": speaker_names} if speaker_names else extra


def _is_owner(name: str, owner: str, names: list[str]) -> bool:
    """Whether a name is the owner's: the full name, or the owner's given name if no other name begins with it."""
    if not may_be_same(name, owner):
        return False
    if name.casefold() == owner.casefold():
        return True
    given_name = owner.casefold().split()[:1]
    return len({other for other in names if other.casefold().split()[:1] == given_name}) == 1


def _people(filename: FilenameFacts, names: list[str]) -> list[NamedPerson]:
    """Participants that the file name states and the transcript doesn't."""
    transcript_names = {name.casefold() for name in names}
    return [
        NamedPerson("participant", name) for name in filename[:2] if name and name.casefold() not in transcript_names
    ]
