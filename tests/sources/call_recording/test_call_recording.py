"""Recorded calls: audio with and without transcripts, their states, and what is wrong with damaged ones."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, NamedPerson, Record, SpeechSegment
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, CallApproval, ReadContext
from relrag_pipelines.sources.call_recording import read, recognise
from relrag_pipelines.workers import sandbox
from tests.cases import cases
from tests.recordings import m4a, put_library, stand_in, wav

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
NAME = "Call_recording_Alex_Rubin_250116_183005"
VTT = """WEBVTT

00:01.000 --> 00:03.000
<v Alex Rubin>INV-1187 is paid.</v>

00:03.000 --> 00:05.000
<v Jonah>Good.</v>
"""


def calls(
    folder: Path, *, timezone: str = "Asia/Jerusalem", owner: str = "Jonah", **options: Any
) -> tuple[list[Record], list[Failure]]:
    """What a sync reads of a folder."""
    source = Source(name="calls", kind="call_recording", path=folder)  # type: ignore[call-arg]
    scan = scan_units(folder, KINDS["call_recording"], source, {}, "")
    reading = ReadContext("calls", timezone, KEYS.id_hash, owner=owner, **options)
    found = [item for unit in scan.units.values() for item in read(unit, reading)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Failure)]


def put(folder: Path, **files: bytes | str) -> None:
    """Files named as the call with that suffix."""
    for suffix, data in files.items():
        (folder / f"{NAME}.{suffix}").write_bytes(data if isinstance(data, bytes) else data.encode())


def faults(failures: list[Failure]) -> list[tuple[str, str]]:
    return [(failure.location, failure.fault) for failure in failures]


def test_the_kind_is_this_module() -> None:
    assert KINDS["call_recording"].read is read


@pytest.mark.requirement("S0-47", "S3-18")
def test_a_call_with_its_transcript(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(431), vtt=VTT)
    (record,), failures = calls(tmp_path)
    assert failures == []
    assert record.text == "Alex Rubin: INV-1187 is paid.\nJonah: Good."
    assert (record.from_, record.participants) == ("Alex Rubin", ["Alex Rubin", "Jonah"])
    assert record.subject == "Call with Alex Rubin"
    assert datetime.fromtimestamp(record.ts or 0, UTC).isoformat() == "2025-01-16T16:30:05+00:00"
    assert (record.date_quality, record.content_type, record.file_name) == ("exact", "m4a", f"{NAME}.m4a")
    assert record.locations == [f"{NAME}.m4a", f"{NAME}.vtt"]
    assert record.parent_ref == f"audio:{record.source_id}"
    assert record.spoken == [SpeechSegment(1.0, 3.0, 0, 29), SpeechSegment(3.0, 5.0, 30, 42)]
    assert record.numbers == ["INV-1187"]
    assert record.extra == {
        "seconds": 431.0, "state": "transcribed", "transcript": f"{NAME}.vtt", "speakers": ["Alex Rubin", "Jonah"],
    }  # fmt: skip


def test_the_identity_is_the_keyed_hash_of_the_audio(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(431), vtt=VTT)
    first = calls(tmp_path)[0][0]
    (tmp_path / f"{NAME}.m4a").rename(tmp_path / "renamed.m4a")
    (tmp_path / f"{NAME}.vtt").rename(tmp_path / "renamed.vtt")
    second = calls(tmp_path)[0][0]
    assert (second.source_id, second.text) == (first.source_id, first.text)
    (tmp_path / "renamed.m4a").write_bytes(m4a(432))
    assert calls(tmp_path)[0][0].source_id != first.source_id


def said(*lines: tuple[str, str]) -> str:
    """Captions in which these speak."""
    cues = (f"00:0{place}.000 --> 00:0{place}.900\n<v {name}>{text}</v>" for place, (name, text) in enumerate(lines))
    return "\n\n".join(["WEBVTT", *cues, ""])


@pytest.mark.parametrize(*cases(__file__, "the_file_names_the_other_party_where_the_transcript_does_not"))
def test_the_file_names_the_other_party_where_the_transcript_does_not(
    speakers: list[str], other: str, participants: list[str], tmp_path: Path
) -> None:
    put(tmp_path, m4a=m4a(10), **({"vtt": said(*((one, "Hello.") for one in speakers))} if speakers else {}))
    (record,), _ = calls(tmp_path, owner="Jonah Pickel")
    assert (record.from_, record.subject, record.participants) == (other, f"Call with {other}", participants)


def test_who_the_file_or_the_settings_name_speaks_though_named_once(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(10), txt="Alex Rubin: The invoice is paid.\nJonah: Good.\nNote: he will call again.\n")
    (record,), _ = calls(tmp_path, owner="Jonah Pickel")
    assert record.extra["speakers"] == ["Alex Rubin", "Jonah"]
    assert record.text == "Alex Rubin: The invoice is paid.\nJonah: Good.\nNote: he will call again."


@pytest.mark.parametrize(*cases(__file__, "every_form_of_transcript"))
def test_every_form_of_transcript(tmp_path: Path, suffix: str, text: str) -> None:
    put(tmp_path, **{"m4a": m4a(9), suffix: text})
    (record,), failures = calls(tmp_path)
    assert (record.text, record.from_, failures) == ("Dana: Hi Bye", "Dana", [])
    assert record.spoken is not None
    assert record.spoken[0].start_second == 1.0
    assert record.people == [NamedPerson("participant", "Alex Rubin")], "the file names somebody else"


def test_a_recording_without_a_transcript_waits(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(431))
    (record,), failures = calls(tmp_path)
    assert (record.text, record.extra, failures) == ("", {"state": "pending", "seconds": 431.0}, [])
    assert (record.from_, record.participants) == ("Alex Rubin", ["Alex Rubin"])


def test_a_transcript_without_its_recording_is_a_call_without_audio(tmp_path: Path) -> None:
    put(tmp_path, vtt=VTT)
    (record,), failures = calls(tmp_path)
    assert (record.text[:10], record.parent_ref, failures) == ("Alex Rubin", None, [])
    assert (record.extra["state"], record.extra["seconds"]) == ("transcribed", 5.0)
    (tmp_path / f"{NAME}.vtt").write_text(VTT + "\n00:06.000 --> 00:07.000\n<v Jonah>Bye.</v>\n")
    assert calls(tmp_path)[0][0].source_id == record.source_id, "an edit keeps it"


def test_of_two_transcripts_one_is_read_and_the_other_told_where_it_differs(tmp_path: Path) -> None:
    same = '{"segments": [{"start": 1, "end": 5, "text": "INV-1187 is paid. Good."}]}'
    put(tmp_path, m4a=m4a(9), vtt=VTT, json=same)
    assert faults(calls(tmp_path)[1]) == [], "whisper writes all its formats at once"
    put(tmp_path, txt="INV-1187 is not paid.")
    (record,), failures = calls(tmp_path)
    assert record.extra["transcript"] == f"{NAME}.vtt"
    assert faults(failures) == [(f"{NAME}.txt", "two_transcripts")]


def test_a_damaged_transcript_beside_a_good_one_and_alone(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(9), vtt="WEBVTT\n", txt="All is well.")
    (record,), failures = calls(tmp_path)
    assert (record.text, faults(failures)) == ("All is well.", [(f"{NAME}.vtt", "no_cues")])
    (tmp_path / f"{NAME}.txt").unlink()
    (record,), failures = calls(tmp_path)
    assert (record.text, record.extra["state"]) == ("", "error")
    assert [(failure.fault, failure.whole_unit) for failure in failures] == [("no_cues", True)]


@pytest.mark.parametrize(
    ("suffix", "data", "fault", "seconds"),
    [
        ("m4a", m4a(431)[:-5], "damaged_audio", None),
        ("m4a", m4a(431)[:60], "damaged_audio", None),
        ("m4a", b"no audio at all", "damaged_audio", None),
        ("wav", wav(7)[:-100], "damaged_audio", None),
        ("wav", wav(7), None, 7.0),
        ("mp3", b"\0" * 400, "damaged_audio", None),
        ("amr", b"#!AMR\n", None, None),
        ("m4a", b"", "empty", None),
    ],
    ids=["cut at the end", "cut in its header", "no audio", "cut wav", "wav", "zeros", "amr tells no length", "empty"],
)
def test_truncated_audio_is_told_and_its_transcript_kept(
    tmp_path: Path, suffix: str, data: bytes, fault: str | None, seconds: float | None
) -> None:
    put(tmp_path, **{suffix: data, "vtt": VTT})
    (record,), failures = calls(tmp_path)
    assert [failure.fault for failure in failures] == ([fault] if fault else [])
    assert record.text.startswith("Alex Rubin: INV-1187")
    assert record.extra["seconds"] == (seconds or 5.0), "without a length of its own that of the transcript"


def test_truncated_audio_without_a_transcript_is_an_error_not_a_wait(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(431)[:100])
    (record,), failures = calls(tmp_path)
    assert (record.extra, faults(failures)) == ({"state": "error"}, [("audio", "damaged_audio")])


def test_invalid_utf8_in_a_transcript_is_told(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(9), txt=("Žluťoučký kůň úpěl ďábelské ódy. " * 5).encode() + b"\xff")
    (record,), failures = calls(tmp_path)
    assert record.text.startswith("Žluťoučký kůň")
    assert faults(failures) == [("text", "charset")]


def test_approval_is_required_or_not(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(9), vtt=VTT)
    (waiting,), _ = calls(tmp_path, approval_required=True)
    assert (waiting.text, waiting.spoken, waiting.numbers, waiting.extra["state"]) == ("", None, [], "transcribed")
    said = {f"call_recording:{waiting.source_id}": CallApproval(approved=True, swapped=True)}
    (approved,), _ = calls(tmp_path, approval_required=True, approvals=lambda: said)
    assert (approved.text, approved.extra["state"]) == ("Jonah: INV-1187 is paid.\nAlex Rubin: Good.", "approved")
    assert (approved.from_, approved.source_id) == ("Alex Rubin", waiting.source_id)


def test_patterns_of_the_source_and_phones(tmp_path: Path) -> None:
    (tmp_path / "0525550111 am 16-01-2025.m4a").write_bytes(m4a(5))
    (record,), _ = calls(tmp_path, file_names=("{phone} am {dd}-{mm}-{yyyy}",))
    assert (record.from_, record.extra["phone"], record.date_quality) == ("0525550111", "0525550111", "day")
    assert record.subject == "Call with 0525550111"


def test_what_is_recognised(tmp_path: Path) -> None:
    put(tmp_path, m4a=m4a(9), vtt=VTT, pdf=b"%PDF-")
    (tmp_path / "alone.vtt").write_text(VTT)
    (tmp_path / "no.m4a").write_bytes(b"text, not sound")
    for name in ("VID_20240101_120000.mp4", "PTT-20240101-WA0001.m4a", "Callas sings.m4a"):
        (tmp_path / name).write_bytes(m4a(9))
    assert [file.name for file in sorted(tmp_path.iterdir()) if recognise(file)] == [f"{NAME}.m4a", f"{NAME}.vtt"]


def test_a_transcript_alone_is_a_call_by_its_name_and_its_speakers(tmp_path: Path) -> None:
    """Who keeps only the texts of calls has them found: what recorders name so, if several people speak in it."""
    spoken = "Noa: How is James?\nEleanor: He wants a rill.\nNoa: How long?\nEleanor: Six metres.\n"
    alone = "Rills: 18,000 a metre\nRills: with a pump\n"
    texts = {
        "eleanor-whitfield_250606_180240.txt": spoken,
        "שיחה עם דנה.txt": spoken,
        "pump_250606_180240.txt": alone,
        "Eleanor and Noa.txt": spoken,
        "call list.txt": alone,
        "call with Eleanor.md": spoken,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert {file.name for file in tmp_path.iterdir() if recognise(file)} == set(list(texts)[:2])


# --- transcripts made here ------------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has what a model's has, and no process that has loaded one."""
    folder = tmp_path_factory.mktemp("model")
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (folder / name).write_text("{}")
    sandbox.stop()
    return folder


def test_a_model_makes_the_transcript_once(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audio = tmp_path / "calls"
    audio.mkdir()
    put(audio, m4a=m4a(9))
    asked = stand_in(monkeypatch, [(0.0, 1.5, " שלום "), (1.5, 3.25, " a --> b ")])
    options = {"transcription_model": str(model), "transcripts": tmp_path / "kept"}
    (record,), failures = calls(audio, **options)
    assert (record.text, record.language, failures) == ("שלום\na → b", "he", [])
    assert record.extra == {"seconds": 9.0, "state": "transcribed", "transcript": "transcription_model"}
    assert record.spoken == [SpeechSegment(0.0, 1.5, 0, 4), SpeechSegment(1.5, 3.25, 5, 10)]
    kept = tmp_path / "kept" / "calls" / f"{record.source_id}.vtt"
    assert kept.read_text().startswith("WEBVTT\nLanguage: he\n\n00:00:00.000 --> 00:00:01.500\nשלום\n")
    assert kept.parent.stat().st_mode & 0o77 == 0, "for the owner only"
    assert asked() == [str(model), str(audio / f"{NAME}.m4a")]
    assert calls(audio, **options)[0] == [record]
    assert len(asked()) == 2, "an interrupted sync goes on with what is missing"


def test_a_transcript_beside_the_recording_goes_before_the_model(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, m4a=m4a(9), vtt=VTT)
    asked = stand_in(monkeypatch, [])
    (record,), _ = calls(tmp_path, transcription_model=str(model), transcripts=tmp_path / "kept")
    assert (record.extra["transcript"], asked()) == (f"{NAME}.vtt", [])


@pytest.mark.parametrize("missing", ["model.bin", "tokenizer.json"])
def test_a_folder_that_lacks_a_part_is_refused_before_the_library_would_fetch_it(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    (model / missing).unlink()
    put(tmp_path, m4a=m4a(9))
    asked = stand_in(monkeypatch, [])
    (record,), (failure,) = calls(tmp_path, transcription_model=str(model), transcripts=tmp_path / "kept")
    assert (record.extra["state"], failure.fault, asked()) == ("error", "no_model", [])
    assert missing in failure.message


def test_a_missing_library_names_the_extra(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, m4a=m4a(9))
    (model / "faster_whisper.py").write_text("raise ImportError")
    put_library(monkeypatch, model)
    (record,), (failure,) = calls(tmp_path, transcription_model=str(model), transcripts=tmp_path / "kept")
    assert (record.extra["state"], failure.fault) == ("error", "no_model")
    assert "relrag[transcribe]" in failure.message


@pytest.mark.parametrize(
    ("does", "fault", "told"),
    [
        ("os.abort()", sandbox.CRASH, "crashed (SIGABRT)"),
        ("while True: pass", sandbox.TIME, "did not end within 2 s; exclude it, or raise transcription_max_seconds"),
        (
            "bytes(10**10)",
            sandbox.MEMORY,
            "more than 200,000,000 bytes of memory; exclude it, or raise transcr",
        ),
    ],
    ids=["aborts", "spins", "takes memory"],
)
def test_a_recording_that_takes_the_model_down_is_a_failure_and_the_next_one_is_transcribed(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, does: str, fault: str, told: str
) -> None:
    audio = tmp_path / "calls"
    audio.mkdir()
    (audio / "call 1.m4a").write_bytes(m4a(9))
    (audio / "call 2.m4a").write_bytes(m4a(8))
    asked = stand_in(monkeypatch, [(0.0, 1.5, "Shalom")], dies_on="call 1", does=does)
    (first, second), (failure,) = calls(
        audio,
        transcription_model=str(model), transcripts=tmp_path / "kept", parser_max_seconds=1,
        transcription_max_seconds=1, transcription_max_bytes=200_000_000,
    )  # fmt: skip
    assert (failure.location, failure.fault, told in failure.message) == ("audio", fault, True)
    assert (first.text, first.extra["state"]) == ("", "error")
    assert (second.text, second.extra["state"]) == ("Shalom", "transcribed")
    assert asked() == [str(model), str(audio / "call 1.m4a"), str(model), str(audio / "call 2.m4a")]


def test_a_longer_recording_may_take_longer() -> None:
    reading = ReadContext("calls", "UTC", KEYS.id_hash, parser_max_seconds=60, transcription_max_seconds=20)
    assert [reading.transcription_limits(length).seconds for length in (0, 0.2, 3600)] == [60, 64, 72_060]


def test_a_real_library_refuses_a_model_that_is_none(tmp_path: Path, model: Path) -> None:
    pytest.importorskip("faster_whisper", reason="faster-whisper is an extra (transcribe)")
    put(tmp_path, m4a=m4a(9))
    (record,), (failure,) = calls(tmp_path, transcription_model=str(model), transcripts=tmp_path / "kept")
    assert (record.extra["state"], failure.fault) == ("error", "no_model")
    assert "could not be loaded" in failure.message


def test_a_real_model_is_loaded_fed_and_read(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real library, a model of random weights and a hummed voice; silence is told as such."""
    pytest.importorskip("faster_whisper", reason="faster-whisper is an extra (transcribe)")
    from tests import tiny_whisper

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    sandbox.stop()
    folder = tmp_path_factory.mktemp("tiny")
    tiny_whisper.write(folder)
    put(tmp_path, wav=tiny_whisper.voice(4))
    options = {"transcription_model": str(folder), "transcripts": tmp_path_factory.mktemp("kept")}
    (record,), failures = calls(tmp_path, **options)
    assert failures == []
    assert set(record.text) == {tiny_whisper.LETTER}
    assert record.language in ("en", "he")
    assert record.extra["state"] == "transcribed"
    assert record.spoken is not None
    assert 0 <= record.spoken[0].start_second < record.spoken[-1].end_second <= 5
    put(tmp_path, wav=wav(4))
    (record,), (failure,) = calls(tmp_path, **options)
    assert (record.extra["state"], failure.fault) == ("error", "no_speech")
