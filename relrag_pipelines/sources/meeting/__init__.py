"""Meetings: captions or minutes, with the invitation beside them, `review.vtt` with `review.ics`.

Title, participants and time come from the invitation, else from the head of the minutes, else from the captions'
speakers and the file's name. One file is one meeting; its id is the keyed hash of its path, so an edit keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines import languages
from relrag_pipelines.files.regular_files import open_plain, read_plain
from relrag_pipelines.records import Failure, NamedPerson, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.formats import recording_time
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.transcript import (
    Transcript,
    TranscriptError,
    describe_damage,
    format_transcript,
    speaker_text,
    speakers,
)
from relrag_pipelines.sources.formats.transcript import read as read_transcript
from relrag_pipelines.sources.meeting.invitation import MAX_BYTES, Invitation, InvitationError
from relrag_pipelines.sources.meeting.invitation import parse as parse_invitation
from relrag_pipelines.sources.meeting.minutes import Minutes
from relrag_pipelines.sources.meeting.minutes import parse as parse_minutes
from relrag_pipelines.text import reference_numbers
from relrag_pipelines.workers.sandbox import ParserStopped, call

CONTENT_TYPE = "meeting-transcript"

_HEAD = 4096
_IN_TITLE = re.compile(r"(?:GMT)?\d{4}[-_.]?\d\d[-_.]?\d\d(?:[-_ T]*\d\d[-_.:h]?\d\d(?:[-_.:]?\d\d)?)?|\.transcript$")
_KNOWN_BY = re.compile(rf"^\W*(?:{languages.patterns('exports', 'minutes_heading')})\W*:", re.IGNORECASE | re.MULTILINE)


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a meeting, and failures for unreadable parts."""
    invitation, failures = _invitation(unit, reading)
    yield from failures
    suffix = unit.file.suffix.lower()
    try:
        if unit.size > reading.unit_max_bytes:
            raise TranscriptError("too_large", "larger than unit_max_bytes; raise it, or exclude the file")
        data = read_plain(unit.file)
        if suffix in (".txt", ".md"):
            minutes, transcript = _minutes(data, invitation.participants if invitation else [])
        else:
            minutes, transcript = Minutes(""), read_transcript(data, suffix)
    except TranscriptError as error:
        yield Failure("", error.fault, str(error), whole_unit=error.fault != "empty")
        return
    yield from transcript.faults
    yield _record(unit, reading, minutes, transcript, invitation)


def _invitation(unit: Unit, reading: ReadContext) -> tuple[Invitation | None, list[Failure]]:
    """The invitation beside a meeting, if there is a readable one, and failures for its unreadable parts."""
    if not unit.companions:
        return None, []
    file = unit.companions[0]
    try:
        data = read_plain(file, MAX_BYTES + 1)
        invitation = call(reading.limits, len(data), parse_invitation, data, reading.timezone)
    except InvitationError as error:
        return None, [Failure(file.name, "no_event", str(error))]
    except ParserStopped as error:
        return None, [Failure(file.name, error.fault, str(error))]
    failures = [replace(failure, location=f"{file.name}, {failure.location}") for failure in invitation.failures]
    return invitation, failures


def recognise(file: Path) -> bool:
    """Whether a file holds captions, or minutes that list their participants or have an invitation beside them."""
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    if file.suffix.lower() in (".vtt", ".srt", ".sbv"):
        return head.lstrip(b"\xef\xbb\xbf").startswith(b"WEBVTT") or b"-->" in head or file.suffix.lower() == ".sbv"
    if file.with_suffix(".ics").is_file():
        return bool(head.strip())
    try:
        return _KNOWN_BY.search(decode(head[: head.rfind(b"\n") + 1] or head).text) is not None
    except CharsetError:
        return False


def _minutes(data: bytes, invited: list[str]) -> tuple[Minutes, Transcript]:
    """Minutes, and their body as a transcript, if it is one. Raises TranscriptError."""
    if not data.strip():
        raise TranscriptError("empty", "the file has no text; restore it or delete it")
    try:
        decoded = decode(data)
    except CharsetError as error:
        raise TranscriptError(error.fault, f"{error}; save it as UTF-8") from None
    minutes = parse_minutes(decoded.text.replace("\r\n", "\n").replace("\r", "\n"))
    transcript = speaker_text.read(minutes.body, [*minutes.participants, *invited])
    transcript.faults += describe_damage(decoded)
    return minutes, transcript


def _record(
    unit: Unit, reading: ReadContext, minutes: Minutes, transcript: Transcript, invitation: Invitation | None
) -> Record:
    path = PurePosixPath(unit.path)
    text, spoken = format_transcript(transcript.cues)
    speaker_names = speakers(transcript.cues)
    participants = (invitation.participants if invitation else []) or minutes.participants or speaker_names
    ts, quality = _date(unit, reading, minutes, invitation)
    extra: dict[str, Any] = {"calendar_uid": reading.hash(invitation.uid)} if invitation and invitation.uid else {}
    if speaker_names:
        extra["speakers"] = speaker_names
    if last := max((segment.end_second for segment in spoken), default=None):
        extra["seconds"] = last
    return Record(
        source_id=reading.hash(unit.path),
        text=text,
        from_=", ".join(participants) or None,
        participants=_deduplicate([*participants, *speaker_names]),
        subject=(invitation and invitation.title) or minutes.title or _title(path),
        ts=ts,
        date_quality=quality,
        parent_ref=f"meeting-{path.name.replace(':', '_')}",
        content_type=CONTENT_TYPE,
        file_name=path.name,
        locations=[unit.path, *(path.with_name(file.name).as_posix() for file in unit.companions)],
        language=transcript.language,
        people=_invited_people(invitation),
        numbers=reference_numbers.find_reference_numbers(text),
        extra=extra,
        spoken=spoken or None,
    )


def _invited_people(invitation: Invitation | None) -> list[NamedPerson]:
    """The participants whose mail address the invitation states."""
    addresses = invitation.addresses if invitation else []
    return [NamedPerson("participant", address) for address in addresses if "@" in address]


def _deduplicate(names: list[str]) -> list[str]:
    """The names in order, without those that differ only in case from an earlier one."""
    unique: dict[str, str] = {}
    for name in names:
        unique.setdefault(name.casefold(), name)
    return list(unique.values())


def _date(unit: Unit, reading: ReadContext, minutes: Minutes, invitation: Invitation | None) -> tuple[int, str]:
    """Seconds since 1970 and date_quality, from the invitation, the minutes, the file's name or the file."""
    in_name = recording_time.time_in_name(PurePosixPath(unit.path).name, reading.timezone)
    if invitation and invitation.ts is not None:
        if not invitation.has_time and in_name and in_name[1] == "exact":
            return in_name
        return invitation.ts, "exact" if invitation.has_time else "day"
    if minutes.date and (minutes.has_time or not in_name or in_name[1] == "day"):
        return _seconds(minutes.date, reading, has_time=minutes.has_time)
    return in_name or (unit.file.stat().st_mtime_ns // 10**9, "modified")


def _seconds(date: datetime, reading: ReadContext, *, has_time: bool) -> tuple[int, str]:
    """Seconds since 1970 and date_quality of the date in the minutes."""
    zone = ZoneInfo(reading.timezone) if has_time else UTC
    at = date if date.tzinfo else date.replace(tzinfo=zone)
    return int(at.timestamp()), "exact" if has_time else "day"


def _title(path: PurePosixPath) -> str:
    """The name of the file without its date."""
    stem = _IN_TITLE.sub(" ", path.stem)
    return " ".join(re.split(r"[\s_]+", stem)).strip(" -_.") or path.stem
