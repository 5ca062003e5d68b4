"""Transcripts of calls that have none, by a faster-whisper model that lies on this machine.

Sound is decoded, and the model runs, in a process with limits (sandbox.py), which keeps the model for the next
recording. Each transcript is kept as WebVTT as soon as it is made, so that an interrupted sync goes on with the next
recording. The library would fetch a model or tokenizer that is missing; here a folder that lacks them is refused before
it is opened.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.sources.formats.transcript import Cue, Transcript, TranscriptError, read
from relrag_pipelines.workers.sandbox import Limits, call

BATCH = 8
"""stretches of a recording that are decoded together"""
_NEEDED = ("model.bin", "config.json", "tokenizer.json")


def transcript_of(audio: Path, kept: Path, model: str, limits: Limits) -> Transcript:
    """The transcript of a recording: the one in `kept`, else a new one that is put there.

    Raises TranscriptError where the model cannot be used or the recording not be decoded, and sandbox.ParserStopped
    where that takes more than the limits.
    """
    if not kept.exists():
        write_text(kept, vtt(*call(limits, 0, _transcribe, audio, model)))
    made = kept.read_bytes()
    if b"-->" not in made:
        raise TranscriptError(
            "no_speech", "the model heard nobody speak in it; put a transcript beside it if that is wrong"
        )
    return read(made, ".vtt")


def vtt(cues: list[Cue], language: str | None) -> str:
    """Cues as WebVTT, which a person can read and correct."""
    head = f"WEBVTT\nLanguage: {language}\n" if language else "WEBVTT\n"
    return "\n".join([head, *(f"{_time(cue.start)} --> {_time(cue.end)}\n{cue.text}\n" for cue in cues)])


def _transcribe(audio: Path, model: str) -> tuple[list[Cue], str | None]:
    try:
        segments, about = _pipeline(model).transcribe(str(audio), batch_size=BATCH, without_timestamps=False)
        cues = [Cue(one.start, one.end, None, " ".join(one.text.replace("-->", "→").split())) for one in segments]
    except (OSError, RuntimeError, ValueError) as error:
        why = f"the recording could not be transcribed ({type(error).__name__}); play it to see whether it is whole"
        raise TranscriptError("not_transcribed", why) from None
    return [cue for cue in cues if cue.text], about.language


def lacks(folder: Path) -> str:
    """What is missing for using the model in that folder, and what to do; empty if nothing is."""
    if missing := [name for name in _NEEDED if not (folder / name).is_file()]:
        return f"transcription_model has no {', '.join(missing)}; name the folder of a faster-whisper model"
    try:
        import faster_whisper  # noqa: F401
    except ImportError:
        return "transcription_model is set, but faster-whisper is not installed: pip install 'relrag[transcribe]'"
    return ""


@functools.lru_cache(1)
def _pipeline(folder: str) -> Any:
    """The model, loaded once in the process that transcribes."""
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
