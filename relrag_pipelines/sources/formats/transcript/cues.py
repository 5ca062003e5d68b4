"""The parts of a transcript: cues, with time, speaker and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from relrag_pipelines.records import Failure


class Cue(NamedTuple):
    """One stretch of speech."""

    start: float | None
    """seconds from the beginning; None where the file gives no times"""
    end: float | None
    speaker: str | None
    text: str


@dataclass
class Transcript:
    """The contents of a transcript file."""

    cues: list[Cue]
    language: str | None = None
    """ISO 639-1, where the file names it"""
    faults: list[Failure] = field(default_factory=list)
    """what of it could not be read"""


class TranscriptError(Exception):
    """A file that is not a transcript. It has a fault word, what was found and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[TranscriptError], tuple[str, str]]:
        return TranscriptError, (self.fault, str(self))  # it travels between processes
