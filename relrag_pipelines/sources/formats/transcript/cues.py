"""The parts of a transcript: cues, with time, speaker and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from relrag_pipelines.records import Failure


class Cue(NamedTuple):
    """One stretch of speech."""

    start: float | None
    """seconds from the beginning; None if the file has no times"""
    end: float | None
    speaker: str | None
    text: str


@dataclass
class Transcript:
    """The contents of a transcript file."""

    cues: list[Cue]
    language: str | None = None
    """ISO 639-1, if the file names it"""
    faults: list[Failure] = field(default_factory=list)
    """parts that could not be read"""


class TranscriptError(Exception):
    """A file that isn't a transcript. `fault` is the fault word; the message says what is wrong and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[TranscriptError], tuple[str, str]]:
        return TranscriptError, (self.fault, str(self))  # it travels between processes
