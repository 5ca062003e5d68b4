"""Recorded calls are played with their transcript, and approved or left out by their owner alone."""

import json
import re
import wave
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from starlette.testclient import TestClient

from relrag_pipelines.ingest import call_review
from relrag_pipelines.ingest.read_context import read_context
from relrag_pipelines.journal import call_approvals, journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.sources.call_recording import transcribe
from relrag_query.owner import calls
from relrag_query.service import Service
from tests import archive
from tests.web_app import BEARER, COOKIE, client

SOURCE = """
[[sources]]
name = "calls"
kind = "call_recording"
path = "calls"
approval_required = {required}
"""
ALEX, PHONE = "Call_recording_Alex_Rubin_250116_183005", "Call_recording_052-555-0163_241216_083102"
CAPTIONS = """WEBVTT

00:00.000 --> 00:02.500
<v Alex>The <b>boiler</b> is paid.

00:02.500 --> 00:04.000
<v Alex>Call 052-555-0163.

00:05.000 --> 00:07.250
<v Jonah>I will.
"""


def record_sound(file: Path, seconds: int) -> None:
    """Writes silence."""
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(b"\x80" * 8_000 * seconds)


def make(folder: Path, *, required: bool) -> Path:
    config = archive.make(folder, f"web_writes_enabled = true{SOURCE.format(required=str(required).lower())}")
    (folder / "calls").mkdir()
    for number, name in enumerate((ALEX, PHONE), 8):
        record_sound(folder / "calls" / f"{name}.wav", number)
        (folder / "calls" / f"{name}.vtt").write_text(CAPTIONS)
    archive.sync(config)
    return config


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return make(tmp_path, required=True)


@pytest.fixture
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def _ids(config: Path) -> dict[str, str]:
    settings = archive.workspace(config).settings
    return {call.source + str(int(call.seconds or 0)): call.asset_id for call in call_review.calls(settings)}


def _notes(config: Path) -> list[str]:
    path = archive.home(config.parent) / "private" / "reveals.jsonl"
    return [json.loads(line)["why"] for line in path.read_text().splitlines()] if path.exists() else []


def _stretches(html: str) -> list[tuple[str, str]]:
    """Second and text of each stretch of a transcript."""
    pattern = (
        r'<a data-start="([\d.]+)" href="[^"]*#t=\1">'
        r'<span class="time">[\d:]+</span> <span dir="auto">(.*?)</span></a>'
    )
    return [(start, unescape(text)) for start, text in re.findall(pattern, html)]


def test_a_call_that_waits_is_heard_and_read_which_is_noted(browser: TestClient, config: Path) -> None:
    assert 'href="/calls"' in browser.get("/archive").text
    page = browser.get("/calls").text
    assert page.count('data-operation="approve_calls"') == 2
    assert "boiler" not in page
    ids = _ids(config)
    assert _notes(config) == []
    opened = browser.get("/calls", params={"ref": ids["calls9"]}).text
    assert _stretches(opened) == [
        ("0.0", "Alex: The boiler is paid."),
        ("2.5", "Call 052-555-0163."),
        ("5.0", "Jonah: I will."),
    ]
    assert len(_notes(config)) == 1
    # the file's name holds a phone number, which is redacted in the index
    sound = browser.get("/original/file", params={"ref": ids["calls9"]}, headers={"range": "bytes=4-7"})
    assert (sound.status_code, sound.headers["content-type"], len(sound.content)) == (206, "audio/wav", 4)
    assert sound.headers["content-range"].endswith(f"/{8_000 * 9 + 44}")


def test_what_is_approved_is_indexed_and_what_is_left_out_is_not_asked_again(browser: TestClient, config: Path) -> None:
    ids = _ids(config)
    kept, left = ids["calls8"], ids["calls9"]
    assert browser.post("/owner/approve_calls", json={"calls": [kept]}).json() == {"calls": [kept]}
    assert browser.post("/owner/leave_out_calls", json={"calls": [left]}).json() == {"calls": [left]}
    actions = [(action.action, action.about) for action in journal.statements(archive.home(config.parent), PageAction)]
    assert actions == [("approve_calls", "1 call"), ("leave_out_calls", "1 call")]
    page = browser.get("/calls").text
    assert "Approved; the next sync indexes it." in page
    assert "Left out, from the next sync on." in page
    archive.sync(config)
    with Service.open(config) as service:
        assert [hit.asset_id for hit in service.search("boiler paid").hits if hit.source == "calls"] == [kept]
        assert calls.reviewed_calls(service).calls == []
        states = {call.asset_id: call.state for call in call_review.calls(service.settings)}
        assert states == {kept: "approved", left: "left_out"}
        # the later decision counts
        calls.approve(service, [left])
    approval = call_approvals.load(archive.home(config.parent))[left]
    assert (approval.approved, approval.left_out) == (True, False)


def test_only_a_call_that_waits_is_opened_and_only_by_its_owner(browser: TestClient, config: Path) -> None:
    for ref in ("call_recording:none", "jsonl:notes:n1"):
        assert browser.get("/calls", params={"ref": ref}).status_code == 400
    assert browser.post("/owner/approve_calls", json={"calls": ["call_recording:none"]}).status_code == 400
    assert browser.get("/calls", headers={**BEARER, "cookie": ""}).status_code == 401
    assert browser.post("/owner/approve_calls", json={"calls": []}).status_code == 422
    assert _notes(config) == []


def test_the_original_of_a_call_is_played_with_its_redacted_transcript(tmp_path: Path) -> None:
    config = make(tmp_path, required=False)
    ref = _ids(config)["calls8"]
    with client(config) as browser:
        page = browser.get("/original", params={"ref": ref}, headers=COOKIE).text
        assert '<audio controls preload="none" data-player src="/original/file?ref=' in page
        assert "player.js" in page
        stretches = _stretches(re.sub(r"<abbr[^>]*>(.*?)</abbr>", r"\1", page))
        assert [start for start, _ in stretches] == ["0.0", "2.5", "5.0"]
        assert stretches[0][1] == "Alex: The boiler is paid."
        assert "052" not in stretches[1][1]
        assert "PHONE_NUMBER" in stretches[1][1]
        document = browser.get("/search", params={"source": "papers"}, headers=COOKIE).text
        assert "data-player" not in document


LONE = "Vera Mala: The lamp is out.\nJonah: Bring a ladder.\n"


def test_a_transcript_without_times_or_sound_is_read_as_lines(browser: TestClient, config: Path) -> None:
    record_sound(config.parent / "calls" / "Call_recording_Vera_Mala_250110_090000.wav", 3)
    (config.parent / "calls" / "Call_recording_Vera_Mala_250110_090000.txt").write_text(LONE)
    (config.parent / "calls" / "Call_recording_Vera_Mala_250111_090000.txt").write_text(LONE)
    archive.sync(config)
    made = {call.location: call.asset_id for call in call_review.calls(archive.workspace(config).settings)}
    heard = made["Call_recording_Vera_Mala_250110_090000.wav"]
    lone = made["Call_recording_Vera_Mala_250111_090000.txt"]
    for ref, players in ((heard, 1), (lone, 0)):
        page = browser.get("/calls", params={"ref": ref}).text
        assert re.findall(r'<span class="line" dir="ltr">(.*?)</span>', page) == LONE.splitlines()
        assert (page.count("<audio"), page.count("player.js")) == (players, 0)


def test_another_recording_at_the_same_path_is_not_shown_as_the_call(browser: TestClient, config: Path) -> None:
    ref = _ids(config)["calls8"]
    record_sound(config.parent / "calls" / f"{ALEX}.wav", 5)
    (config.parent / "calls" / f"{ALEX}.vtt").write_text(CAPTIONS.replace("boiler", "burglar"))
    answer = browser.get("/calls", params={"ref": ref})
    assert answer.status_code == 400
    assert "he recording has changed; a sync reads it again" in answer.text
    assert "burglar" not in answer.text
    assert _notes(config) == []


def test_a_page_reads_what_a_model_wrote_and_never_transcribes(
    browser: TestClient, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = _ids(config)["calls8"]
    (config.parent / "calls" / f"{ALEX}.vtt").unlink()
    with Service.open(config) as service:
        reading = read_context(archive.workspace(config), service.settings.source("calls"))
        reading = replace(reading, transcription_model="model")
        monkeypatch.setattr(calls, "read_context", lambda workspace, source: reading)
        monkeypatch.setattr(transcribe, "call", lambda *_: pytest.fail("a page transcribes"))
        assert calls.open_transcript(service, ref).text == ""
        cached = transcribe.cache_file(reading, ref.partition(":")[2])
        cached.parent.mkdir(parents=True)
        cached.write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nThe gutter leaks.\n")
        read = calls.open_transcript(service, ref)
    assert (read.text, [segment.start for segment in read.segments]) == ("The gutter leaks.", [1.0])


def test_calls_are_listed_in_pages(browser: TestClient, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "PAGE_SIZE", 1)
    ids = _ids(config)
    for number, ref in (
        ("", "calls8"),
        ("1", "calls8"),
        ("0", "calls8"),
        ("x", "calls8"),
        ("2", "calls9"),
        ("9", "calls9"),
    ):
        page = browser.get("/calls", params={"page": number}).text
        assert re.findall(r'href="/calls\?ref=(.*?)#open"', page) == [quote_plus(ids[ref])], number
        assert ('rel="next" href="/calls?page=2"' in page) == (ref == "calls8")
        assert ('rel="prev" href="/calls?page=1"' in page) == (ref == "calls9")
    opened = browser.get("/calls", params={"ref": ids["calls9"]}).text
    assert len(_stretches(opened)) == 3
    assert opened.count('data-then="/calls?page=2"') == 2
