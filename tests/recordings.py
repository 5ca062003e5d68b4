"""Recordings that tests make: whole ones, cut ones, and a stand-in for a transcribing model."""

from __future__ import annotations

import importlib.util
import io
import tempfile
import wave
from collections.abc import Callable
from pathlib import Path

import pytest

from relrag_pipelines.workers import sandbox
from tests import ROOT

_spec = importlib.util.spec_from_file_location("make_recordings", ROOT / "examples" / "make_recordings.py")
assert _spec
assert _spec.loader
make_recordings = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_recordings)


def m4a(seconds: float) -> bytes:
    """An MP4 container of that length, without sound."""
    data: bytes = make_recordings.m4a(seconds)
    return data


def wav(seconds: float) -> bytes:
    """Silence of that length."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(100)
        file.writeframes(b"\x80" * round(seconds * 100))
    return out.getvalue()


_STAND_IN = """
import os
from pathlib import Path
from types import SimpleNamespace

NOTES = Path(__file__).with_name("asked")

def note(what):
    with NOTES.open("a") as file:
        file.write(f"{what}\\n")

class WhisperModel:
    def __init__(self, folder, *, local_files_only):
        assert local_files_only
        note(folder)

class BatchedInferencePipeline:
    def __init__(self, model):
        self.model = model

    def transcribe(self, audio, *, batch_size, without_timestamps):
        assert batch_size > 1
        assert not without_timestamps, "else a cue is half a minute long"
        note(audio)
        if "DIES_ON" in audio:
            DOES
        segments = (SimpleNamespace(start=start, end=end, text=text) for start, end, text in SAYS)
        return segments, SimpleNamespace(language=LANGUAGE)
"""


def stand_in(
    patch: pytest.MonkeyPatch,
    says: list[tuple[float, float, str]],
    language: str = "he",
    dies_on: str = "",
    does: str = "pass",
) -> Callable[[], list[str]]:
    """Puts a faster_whisper in place, for other processes too, whose model says that of every recording.

    With a recording whose path holds `dies_on` it does what the line of Python `does` says. The function that is
    returned tells what it was asked for so far: folders of models, and recordings.
    """
    folder = Path(tempfile.mkdtemp())
    module = _STAND_IN.replace("DIES_ON", dies_on).replace("DOES", does)
    module = module.replace("SAYS", repr(says)).replace("LANGUAGE", repr(language))
    (folder / "faster_whisper.py").write_text(module)
    put_library(patch, folder)
    asked = folder / "asked"
    return lambda: asked.read_text().splitlines() if asked.exists() else []


def put_library(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Lets the process that transcribes find the modules of a folder before all others."""
    sandbox.stop()  # the next one takes the path as it is then
    patch.syspath_prepend(folder)
