"""Recordings that tests make: whole ones, cut ones, and a stand-in for a transcribing model."""

from __future__ import annotations

import importlib.util
import io
import sys
import wave
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.conftest import ROOT

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


def stand_in(patch: pytest.MonkeyPatch, says: list[tuple[float, float, str]], language: str = "he") -> list[str]:
    """Puts a faster_whisper in place whose model says that of every recording; returns what it was asked for."""
    asked: list[str] = []

    class WhisperModel:
        def __init__(self, folder: str, *, local_files_only: bool) -> None:
            assert local_files_only
            asked.append(folder)

    class BatchedInferencePipeline:
        def __init__(self, model: WhisperModel) -> None:
            self.model = model

        def transcribe(self, audio: str, *, batch_size: int, without_timestamps: bool) -> tuple[Any, Any]:
            assert batch_size > 1
            assert not without_timestamps, "else a cue is half a minute long"
            asked.append(audio)
            segments = (SimpleNamespace(start=start, end=end, text=text) for start, end, text in says)
            return segments, SimpleNamespace(language=language)

    module = ModuleType("faster_whisper")
    module.__dict__.update(WhisperModel=WhisperModel, BatchedInferencePipeline=BatchedInferencePipeline)
    patch.setitem(sys.modules, "faster_whisper", module)
    return asked
