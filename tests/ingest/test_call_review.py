"""From recordings on disk to the lake, and what the owner says of them; without Dagster."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines.ingest import call_review, ingest
from relrag_pipelines.ingest.call_review import CallsError
from relrag_pipelines.journal import call_approvals, journal
from relrag_pipelines.records import Chunk
from relrag_pipelines.stages import month_stages
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workers import pool as workers
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import calls as commands
from relrag_query.service.archive_status import collect
from tests import archive
from tests.recordings import m4a, stand_in

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
timezone = "Asia/Jerusalem"
owner = "Jonah"
first_month = "2024-01"
pii_redaction_enabled = true
chunk_tokens = 32

[[sources]]
name = "calls"
kind = "call_recording"
path = "calls"
approval_required = {required}
"""
ALEX, DORON, EITAN = (
    "Call_recording_Alex_Rubin_250116_183005", "Call_recording_052-555-0163_241216_083102",
    "Call_recording_Eitan_Pickel_241223_201145",
)  # fmt: skip
LINES = [f"{who}: Sentence number {number} of a call that is long enough to be cut." for number, who in
         enumerate(["Alex", "Jonah"] * 6)]  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Three calls: one of a minute with captions, one with a phone number said and as its name, one to transcribe."""
    folder = tmp_path / "calls"
    folder.mkdir()
    cues = [f"00:{5 * n:02}.000 --> 00:{5 * n + 4:02}.000\n{line}\n" for n, line in enumerate(LINES)]
    (folder / f"{ALEX}.vtt").write_text("\n".join(["WEBVTT\n", *cues]))
    (folder / f"{DORON}.txt").write_text("[0:01] Doron: Call me on 052-555-0163.\n[0:05] Doron: Bye.\n")
    for number, name in enumerate((ALEX, DORON, EITAN)):
        (folder / f"{name}.m4a").write_bytes(m4a(60 + number))
    return configure(tmp_path, required=False)


def configure(folder: Path, *, required: bool) -> Path:
    path = folder / "relrag.toml"
    path.write_text(CONFIG.format(required=str(required).lower()))
    return path


def synced(config: Path) -> tuple[Workspace, ingest.IngestReport]:
    """Exports and makes all stale months, as a sync does."""
    workspace = archive.workspace(config)
    (source,) = workspace.settings.sources
    report = ingest.ingest(workspace, source)
    for stage in STAGES:
        month_stages.run(workspace, source, stage, sorted(report.months))
    return workspace, report


def table(workspace: Workspace, name: str) -> pa.Table:
    months = sorted(lake.manifest(workspace.home, name, "calls"))
    return pa.concat_tables([lake.read(workspace.home, name, "calls", month) for month in months])


def states(workspace: Workspace) -> dict[str, str]:
    return {call.location: call.state for call in call_review.calls(workspace.settings)}


@pytest.mark.requirement("S0-47", "S0-48", "S0-49", "S0-50")
def test_chunks_share_the_call_and_cite_a_time(config: Path) -> None:
    workspace, _ = synced(config)
    chunks = [chunk for chunk in archive.chunks(config, "calls") if chunk.file_name == f"{ALEX}.m4a"]
    chunks.sort(key=lambda chunk: chunk.chunk_index)
    call = chunks[0].asset_id
    assert call.startswith("call_recording:")
    assert len(chunks) > 3
    assert {(chunk.asset_id, chunk.chunk_group_id) for chunk in chunks} == {(call, call)}
    assert (chunks[0].start_second, chunks[-1].end_second) == (0.0, 59.0)
    for chunk in chunks:
        assert times_said(chunk) == (chunk.start_second, chunk.end_second)
    edges = {(row["src_asset_ref"], row["dst_asset_ref"], row["relation_type"]) for row in
             table(workspace, "asset_asset_edges").to_pylist()}  # fmt: skip
    assert {(f"chunk:{chunk.chunk_id}", call, "chunk_of") for chunk in chunks} <= edges
    assert (call, f"audio:{call.removeprefix('call_recording:')}", "transcript_of") in edges
    assert sum(relation == "transcript_of" for _, _, relation in edges) == 2, "one call has no transcript"


def times_said(chunk: Chunk) -> tuple[float, float]:
    """First and last second of the numbered sentences in a passage, as the captions were written."""
    numbers = [number for number in range(len(LINES)) if f"number {number} of" in chunk.text]
    return 5.0 * numbers[0], 5.0 * numbers[-1] + 4


def test_offsets_move_with_redaction_and_the_phone_goes(config: Path) -> None:
    workspace, _ = synced(config)
    records = {row["locations"][0]: row for row in table(workspace, "records").to_pylist()}
    (row,) = (row for place, row in records.items() if place.endswith("_241216_083102.m4a"))
    assert row["text"] == "Doron: Call me on <PHONE_NUMBER>. Bye."
    assert [row["text"][one["start"] : one["end"]] for one in row["spoken"]] == [
        "Doron: Call me on <PHONE_NUMBER>.", " Bye.",
    ]  # fmt: skip
    assert "052" not in json.dumps(row, ensure_ascii=False)


def test_a_new_transcript_is_noticed_and_so_is_its_loss(config: Path) -> None:
    workspace, _ = synced(config)
    assert states(workspace)[f"{EITAN}.m4a"] == "pending"
    transcript = config.parent / "calls" / f"{EITAN}.txt"
    transcript.write_text("Eitan: Mazal tov.\nEitan: Bye.\n")
    workspace, report = synced(config)
    assert (report.units_read, states(workspace)[f"{EITAN}.m4a"]) == (1, "transcribed")
    transcript.rename(transcript.with_suffix(".srt"))
    _, report = synced(config)
    assert [failure.fault for failure in report.failures] == ["no_cues"], "another suffix is read differently"
    transcript.with_suffix(".srt").unlink()
    workspace, report = synced(config)
    assert (report.units_read, states(workspace)[f"{EITAN}.m4a"]) == (1, "pending")
    assert synced(config)[1].units_read == 0


def test_approval_brings_the_text_with_the_next_sync_and_reads_nothing_else(config: Path) -> None:
    configure(config.parent, required=True)
    workspace, _ = synced(config)
    assert {row["text"] for row in table(workspace, "records").to_pylist()} == {""}
    assert call_review.waiting_calls(workspace.settings) == {"transcript": 1, "approval": 2}
    alex = next(call for call in call_review.calls(workspace.settings) if call.with_whom == "Alex")
    short = alex.asset_id.removeprefix("call_recording:")[:6]
    assert [call.asset_id for call in call_review.approve(workspace, [short])] == [alex.asset_id]
    assert call_review.approve(workspace, [alex.asset_id])[0:1] != [], "not yet synced, so it may be said again"
    workspace, report = synced(config)
    assert (report.units_read, states(workspace)[f"{ALEX}.m4a"]) == (1, "approved")
    assert call_review.approve(workspace, [short]) == []
    texts = {row["asset_id"]: row["text"] for row in table(workspace, "records").to_pylist()}
    assert texts.pop(alex.asset_id).startswith("Alex: Sentence number 0")
    assert set(texts.values()) == {""}
    assert collect(workspace.settings).waiting == {"transcript": 1, "approval": 1}


def test_swapped_speakers_stand_for_each_other_until_swapped_back(config: Path) -> None:
    workspace, _ = synced(config)
    alex = next(call for call in call_review.calls(workspace.settings) if call.with_whom == "Alex")
    for first in ("Jonah: Sentence number 0", "Alex: Sentence number 0"):
        call_review.swap_speakers(workspace, [alex.asset_id])
        workspace, _ = synced(config)
        texts = [row["text"] for row in table(workspace, "records").to_pylist()]
        assert any(text.startswith(first) for text in texts)


def test_what_cannot_be_said_is_refused_and_nothing_is_written(config: Path) -> None:
    workspace, _ = synced(config)
    pending = next(call for call in call_review.calls(workspace.settings) if call.state == "pending")
    before = unit_state.load(workspace.home, "calls")
    with pytest.raises(CallsError, match="is pending; it has no transcript"):
        call_review.approve(workspace, [pending.asset_id])
    with pytest.raises(CallsError, match="has 0 speakers"):
        call_review.swap_speakers(workspace, [pending.asset_id])
    with pytest.raises(CallsError, match="no call whose id begins with"):
        call_review.approve(workspace, ["zzz"])
    with pytest.raises(CallsError, match="3 calls whose id begins with") as ambiguous:
        call_review.approve(workspace, ["call_recording:"])
    assert (ambiguous.value.code, ambiguous.value.values) == ("call_ambiguous", {"name": "call_recording:"})
    assert not journal.path(workspace.home).exists()
    assert unit_state.load(workspace.home, "calls") == before


def test_approvals_survive_a_rebuilt_archive_and_a_torn_line(config: Path) -> None:
    configure(config.parent, required=True)
    workspace, _ = synced(config)
    assert len(call_review.approve(workspace, [], everything=True)) == 2
    file = journal.path(workspace.home)
    assert file.stat().st_mode & 0o77 == 0
    with file.open("ab") as opened:
        opened.write(b'{"entry": 3, "at": "2025-01-')
    call_approvals.append(workspace.home, ["call_recording:x"], "swap-speakers")
    assert [line.count("approve") for line in file.read_text().splitlines()] == [1, 1, 0]
    assert call_approvals.load(workspace.home)["call_recording:x"].swapped
    kept = file.read_bytes()
    for folder in ("lake", "private"):
        shutil.rmtree(workspace.home / folder)
    (workspace.home / "private").mkdir()
    file.write_bytes(kept)
    workspace, _ = synced(config)
    assert sorted(states(workspace).values()) == ["approved", "approved", "pending"]


def test_a_transcript_made_here_goes_with_its_recording(config: Path) -> None:
    workspace, _ = synced(config)
    made = workspace.home / "private" / "transcripts" / "calls"
    made.mkdir(parents=True)
    pending = next(call for call in call_review.calls(workspace.settings) if call.state == "pending")
    for name in (pending.asset_id.removeprefix("call_recording:"), "of-a-recording-that-is-gone"):
        (made / f"{name}.vtt").write_text("WEBVTT\n")
    (config.parent / "calls" / f"{DORON}.txt").write_text("Nothing.")
    synced(config)
    assert [f"call_recording:{file.stem}" for file in made.iterdir()] == [pending.asset_id]
    (config.parent / "calls" / f"{EITAN}.m4a").unlink()
    synced(config)
    assert list(made.iterdir()) == []


def with_model(config: Path, monkeypatch: pytest.MonkeyPatch, **does: str) -> Callable[[], list[str]]:
    """Has a stand-in for a model transcribe; what it was asked for."""
    model = config.parent / "model"
    model.mkdir()
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (model / name).write_text("{}")
    config.write_text(f'transcription_model = "model"\n{config.read_text()}')
    return stand_in(monkeypatch, [(0.0, 1.5, "שלום")], **does)


def test_one_process_makes_all_transcripts_so_that_the_model_is_loaded_once(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = with_model(config, monkeypatch)
    for number in range(6):
        (config.parent / "calls" / f"Call_{number}_250101_100000.m4a").write_bytes(m4a(70 + number))
    pool = workers.start_pool(1)
    assert pool
    workspace = replace(archive.workspace(config), pool=pool)
    report = ingest.ingest(workspace, workspace.settings.sources[0])
    workers.stop_pool(pool)
    assert (report.units_read, report.failures) == (9, [])
    assert asked().count(str(config.parent / "model")) == 1
    assert len(asked()) == 1 + 7
    assert not sandbox._running, "the model takes no memory from what follows"


def test_a_recording_that_cannot_be_transcribed_is_not_tried_again(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = with_model(config, monkeypatch, dies_on=EITAN, does="os.abort()")
    workspace, report = synced(config)
    assert [(one.unit, one.fault) for one in report.failures] == [(f"{EITAN}.m4a", "crash")]
    assert states(workspace)[f"{EITAN}.m4a"] == "error"
    tried = len(asked())
    workspace, report = synced(config)
    assert (report.units_read, len(asked())) == (0, tried)
    recording = config.parent / "calls" / f"{EITAN}.m4a"
    recording.write_bytes(m4a(99))
    assert (synced(config)[1].units_read, len(asked())) == (1, 2 * tried)


def test_the_command_prints_calls_and_says_what_to_do_next(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synced(config)
    assert commands.listing(None, config) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["transcribed", "2025-01-16", "18:30", "1:00", "Alex"]
    assert lines[2] == f"    calls: {ALEX}.m4a"
    assert lines[-1] == "3 calls: 1 pending, 2 transcribed."
    assert "0163" not in "".join(lines), "a phone number in a name is redacted"
    assert commands.approve([], config, everything=True) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "The next `relrag sync` applies it."
    assert commands.listing("pending", config, as_json=True) == 0
    assert [call["state"] for call in json.loads(capsys.readouterr().out)] == ["pending"]
