"""Transcribes calls that have no transcript, with a faster-whisper model on this machine.

Decoding and transcription run in a process with limits (sandbox.py), which keeps the model for the next recording.
Each transcript is cached as WebVTT as soon as it is complete, so an interrupted sync continues with the next
recording. The library would download a missing model or tokenizer; a folder without them is refused before the library
opens it.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.formats.transcript import Cue, Transcript, TranscriptError, read
from relrag_pipelines.workers.limits import Limits
from relrag_pipelines.workers.sandbox import call

BATCH = 8
"""segments of a recording that are decoded together"""
_NEEDED = ("model.bin", "config.json", "tokenizer.json")


def cache_file(reading: ReadContext, native: str) -> Path:
    """The file that holds the transcript of a recording once it is made; `native` is the recording's id."""
    return (reading.transcripts or Path()) / reading.source / f"{native}.vtt"


def transcript_of(audio: Path, cached: Path, model: str, limits: Limits) -> Transcript:
    """The transcript of a recording: the one in the file `cached`, else a new one, which is stored there.

    Raises TranscriptError if the model cannot be used or the recording cannot be decoded, and sandbox.ParserStopped
    if that exceeds the limits.
    """
    if not cached.exists():
        write_text(cached, vtt(*call(limits, 0, _transcribe, audio, model)))
    data = cached.read_bytes()
    if b"-->" not in data:
        raise TranscriptError(
            "no_speech", "the model heard nobody speak in it; put a transcript beside it if that is wrong"
        )
    return read(data, ".vtt")


def vtt(cues: list[Cue], language: str | None) -> str:
    """Cues as WebVTT, which a person can read and correct."""
    head = f"WEBVTT\nLanguage: {language}\n" if language else "WEBVTT\n"
    return "\n".join([head, *(f"{_time(cue.start)} --> {_time(cue.end)}\n{cue.text}\n" for cue in cues)])


def _transcribe(audio: Path, model: str) -> tuple[list[Cue], str | None]:
    try:
        segments, about = _pipeline(model).transcribe(str(audio), batch_size=BATCH, without_timestamps=False)
        cues = [
            Cue(segment.start, segment.end, None, " ".join(segment.text.replace("-->", "→").split()))
            for segment in segments
        ]
    except (OSError, RuntimeError, ValueError) as error:
        why = f"the recording could not be transcribed ({type(error).__name__}); play it to see whether it is whole"
        raise TranscriptError("not_transcribed", why) from None
    return [cue for cue in cues if cue.text], about.language


def lacks(folder: Path) -> str:
    """What the folder lacks to be used as a model, and what to do; empty if nothing."""
    if missing := [name for name in _NEEDED if not (folder / name).is_file()]:
        return f"transcription_model has no {', '.join(missing)}; name the folder of a faster-whisper model"
    try:
        import faster_whisper  # noqa: F401
    except ImportError:
        return "transcription_model is set, but faster-whisper is not installed: pip install 'relrag[transcribe]'"
    return ""


@functools.lru_cache(1)
def _pipeline(folder: str) -> Any:
    """The model in a folder, loaded once in the process that transcribes."""
    if why := lacks(Path(folder)):
        raise TranscriptError("no_model", why)
    from faster_whisper import BatchedInferencePipeline, WhisperModel

    try:
        return BatchedInferencePipeline(WhisperModel(folder, local_files_only=True))
    except (OSError, RuntimeError, ValueError) as error:
        why = f"the model in transcription_model could not be loaded ({type(error).__name__}); convert it again"
        raise TranscriptError("no_model", why) from None


def _time(seconds: float | None) -> str:
    thousandths = round((seconds or 0.0) * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}.{rest % 1000:03}"
