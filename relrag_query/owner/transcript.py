"""The transcript of a recording in the stretches that a player follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relrag_pipelines.records import SpeechSegment
from relrag_query.service import Service


class Segment(NamedTuple):
    """A stretch of speech."""

    start: float
    """seconds"""
    end: float
    text: str
    begins_line: bool
    """whether another speaker begins to speak"""


def of_record(service: Service, ref: str) -> list[Segment]:
    """The transcript of a record as it is in the index, redacted; empty if the record has none with times."""
    with service.reading() as archive:
        record = archive.record(ref)
    return segments(record.text, record.spoken) if record else []


def segments(text: str, spoken: Sequence[SpeechSegment] | None) -> list[Segment]:
    """The stretches of a text that are said, in order of time."""
    return [
        Segment(
            part.start_second,
            part.end_second,
            text[part.start : part.end].strip(),
            part.start == 0 or text[part.start - 1] == "\n",
        )
        for part in sorted(spoken or (), key=lambda part: part.start_second)
        if text[part.start : part.end].strip()
    ]
