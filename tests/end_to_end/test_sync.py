"""Plan and change, on a real archive through Dagster: what is redone, and that nothing else is."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from relrag_pipelines.ingest import units
from relrag_pipelines.publishing import publish
from relrag_pipelines.records import Record
from relrag_pipelines.stores import generations, lake, unit_state
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands.status import status
from relrag_query.cli.commands.verify import verify
from relrag_query.service.archive_status import collect
from tests import archive

RECORD = arrow_schema(Record).names


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RELRAG_CONFIG", raising=False)
    return archive.make(tmp_path)


def sync(config: Path) -> int:
    return commands.sync(config)


def lake_changes(before: dict[str, tuple[int, bytes]], home: Path) -> list[str]:
    return [path for path in archive.changed(before, archive.contents(home)) if path.endswith(".parquet")]


def test_a_first_sync_publishes_everything_and_a_second_writes_nothing(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sync(config) == 0
    said = capsys.readouterr().out
    assert "chat: read files (1 new)" in said
    assert "Generation 1: 8 records" in said
    home = archive.workspace(config).home
    before = archive.contents(home)
    assert sync(config) == 0
    assert capsys.readouterr().out == "Nothing to do: generation 1 is up to date.\n"
    assert archive.changed(before, archive.contents(home)) == []


@pytest.mark.usefixtures("without_dagster")
def test_one_new_message_rewrites_one_month_of_one_source(config: Path) -> None:
    archive.first_sync(config)
    home = archive.workspace(config).home
    before = archive.contents(home / "lake") | {
        f"private/{path}": found for path, found in archive.contents(home / "private").items()
    }
    with (config.parent / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
        file.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
    assert sync(config) == 0
    after = archive.contents(home / "lake") | {
        f"private/{path}": found for path, found in archive.contents(home / "private").items()
    }
    changed = [path for path in archive.changed(before, after) if path.endswith(".parquet")]
    # tables of the whole archive are made again of whatever changes
    assert [path for path in changed if not path.endswith("/archive.parquet")] == [
        "asset_asset_edges/chat/2024-02.parquet",
        "chunks/chat/2024-02.parquet",
        "identifiers/chat/2024-02.parquet",
        "private/failures/chat.parquet",
        "private/records/chat/2024-02.parquet",
        "private/units/chat.parquet",
        "records/chat/2024-02.parquet",
    ]
    assert generations.current_number(home) == 2


def test_an_edited_and_a_shrunk_document_leave_no_stale_chunk(config: Path) -> None:
    paper = config.parent / "papers" / "lease 2024-01-05.md"
    paper.write_text(archive.LEASE + "\n\n".join(f"Clause {n}. The {n}th room is painted green." for n in range(400)))
    archive.first_sync(config)
    long = archive.chunks(config, "papers")
    assert len(long) > 5
    paper.write_text(archive.LEASE.replace("orangery", "conservatory"))
    archive.sync(config)
    (short,) = archive.chunks(config, "papers")
    assert "conservatory" in short.text
    assert short.asset_id == long[0].asset_id
    home = archive.workspace(config).home
    with generations.open_current(home) as generation:
        found = (generation.path / "catalog.duckdb").read_bytes()
        assert generation.manifest["counts"]["deleted"] == 1
    assert b"orangery" not in found
    # what was deleted is in no older generation either
    assert sorted(generations.numbers(home)) == [2]


def test_a_sync_looks_at_the_files_of_each_source_once(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan, export, and every plan that follows go by one listing; a change in between waits for the next sync."""
    walked: list[str] = []
    walk = units.walk

    def counted(root: Path, *args: Any, **more: Any) -> Any:
        walked.append(root.name)
        return walk(root, *args, **more)

    monkeypatch.setattr(units, "walk", counted)
    assert sync(config) == 0
    assert sorted(walked) == ["chats", "papers"], "the third source is one file"
    walked.clear()
    (config.parent / "papers" / "lease 2024-01-05.md").write_text(archive.LEASE.replace("orangery", "conservatory"))
    assert sync(config) == 0
    assert sorted(walked) == ["chats", "papers"]
    assert "conservatory" in archive.chunks(config, "papers")[0].text


def test_a_setting_redoes_exactly_what_depends_on_it(config: Path) -> None:
    archive.first_sync(config)
    home = archive.workspace(config).home
    before = archive.contents(home / "lake")
    archive.configure(config.parent, "chunk_tokens = 32")
    todo = archive.workspace(config)
    from relrag_pipelines.stages import plan as plans

    plan = plans.build_plan(todo)
    assert plan.exports == []
    assert {entry.stage for entry in plan.stale} == {"chunks", "embeddings", "edges"}
    assert {entry.reason for entry in plan.stale if entry.stage == "chunks"} == {"setting chunk_tokens changed"}
    archive.sync(config)
    changed = archive.changed(before, archive.contents(home / "lake"))
    assert {path.split("/")[0] for path in changed} <= {"chunks", "embeddings", "asset_asset_edges"}


@pytest.mark.usefixtures("without_dagster")
def test_what_was_refused_for_a_limit_is_read_when_it_is_raised(config: Path) -> None:
    archive.configure(config.parent, "unit_max_bytes = 60")
    assert sync(config) == 1
    assert archive.chunks(config, "papers") == []
    archive.configure(config.parent)
    from relrag_pipelines.stages import plan as plans

    (papers,) = (export for export in plans.build_plan(archive.workspace(config)).exports if export.source == "papers")
    assert "setting unit_max_bytes changed" in str(papers)
    assert sync(config) == 0
    assert archive.chunks(config, "papers")


def test_a_policy_redoes_redaction_and_what_follows_but_reads_no_file(config: Path) -> None:
    archive.first_sync(config)
    assert any("<PHONE_NUMBER:k1:" in chunk.text for chunk in archive.chunks(config, "chat"))
    before = archive.workspace(config)
    archive.configure(config.parent, '[pii_policies.whatsapp]\nentities = ["PHONE_NUMBER"]\naction = "replace"\n')
    from relrag_pipelines.stages import plan as plans
    from relrag_pipelines.stages import redaction_policy

    after = archive.workspace(config)
    concerned = [
        one.name
        for one in after.settings.sources
        if redaction_policy.policy(before, one) != redaction_policy.policy(after, one)
    ]
    assert concerned == ["chat", "notes"]  # rows of JSONL may be messages too; documents are not
    assert plans.build_plan(archive.workspace(config)).exports == []
    archive.sync(config)
    texts = [chunk.text for chunk in archive.chunks(config, "chat")]
    assert any("<PHONE_NUMBER>" in text for text in texts)
    assert not any("<PHONE_NUMBER:" in text for text in texts)


def test_what_is_found_otherwise_is_redacted_again(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from relrag_pipelines import pii
    from relrag_pipelines.stages import plan as plans

    archive.first_sync(config)
    assert plans.build_plan(archive.workspace(config)).empty
    monkeypatch.setattr(pii, "VERSION", pii.VERSION + 1)
    plan = plans.build_plan(archive.workspace(config))
    assert plan.exports == []
    assert {"redacted", "identifiers"} <= {entry.stage for entry in plan.stale}
    assert "what is found as personal data changed" in {entry.reason for entry in plan.stale}
    archive.sync(config)
    assert plans.build_plan(archive.workspace(config)).empty
    home = archive.workspace(config).home
    assert [path.name for path in (home / "published").iterdir() if path.name.isdigit()] == ["2"]  # nothing older stays


@pytest.mark.usefixtures("without_dagster")
def test_a_bad_file_is_a_failure_and_the_rest_is_indexed(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (config.parent / "chats" / "WhatsApp Chat with Nobody.txt").write_bytes(b"")
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write("[1, 2]\n")
    assert sync(config) == 1
    said = capsys.readouterr().out
    assert "8 records" in said
    assert "chat: 1 could not be read (empty)" in said
    assert "notes: 1 could not be read (not_object)" in said
    home = archive.workspace(config).home
    (failure,) = unit_state.load_failures(home, "notes")
    assert (failure.unit, failure.location) == ("notes.jsonl", "line 3")


@pytest.mark.usefixtures("without_dagster")
def test_failures_that_were_told_end_no_further_sync_with_1(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody = config.parent / "chats" / "WhatsApp Chat with Nobody.txt"
    nobody.write_bytes(b"")
    assert sync(config) == 1
    known = "1 known failure; `relrag status --failures` lists them\n"
    listed = "chat: 1 could not be read (empty); `relrag status --failures` lists them\n"
    before = archive.contents(archive.home(config.parent))
    capsys.readouterr()
    assert sync(config) == 0
    assert capsys.readouterr().out == f"Nothing to do: generation 1 is up to date.\n{known}"
    assert archive.changed(before, archive.contents(archive.home(config.parent))) == []
    assert commands.sync(config, strict=True) == 1
    assert capsys.readouterr().out == f"Nothing to do: generation 1 is up to date.\n{listed}"
    assert commands.backfill("chat", "2024-01", "2024-01", config) == 0
    assert capsys.readouterr().out.endswith(known)
    # another one is new, and the first is not
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write("[1, 2]\n")
    assert sync(config) == 1
    said = capsys.readouterr().out
    assert said.endswith(f"notes: 1 could not be read (not_object); `relrag status --failures` lists them\n{known}")
    assert sync(config) == 0
    assert capsys.readouterr().out.endswith("2 known failures; `relrag status --failures` lists them\n")
    # one that was made good and comes back is new
    nobody.write_text(archive.CHAT)
    assert sync(config) == 0
    assert capsys.readouterr().out.endswith(known)
    nobody.write_bytes(b"")
    assert sync(config) == 1
    stored = (archive.home(config.parent) / "private" / "known_failures.json").read_text()
    assert "Nobody" not in stored
    assert "notes" not in stored


@pytest.mark.usefixtures("without_dagster")
def test_a_chat_whose_order_of_dates_is_assumed_is_told_and_is_no_failure(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = config.parent / "chats" / "WhatsApp Chat with Ema.txt"
    short.write_text("03/06/2024, 13:55 - Ema: The sleds are in the attic\n")
    assert sync(config) == 0, "the other chat tells that the day stands first"
    listed = "`relrag status --failures` lists them\n"
    told = f"chat: 1 read with an assumed order of day and month (date_order); {listed}"
    assert capsys.readouterr().out.endswith(told)
    assert (sync(config), capsys.readouterr().out.endswith(told)) == (0, True)
    assert commands.sync(config, strict=True) == 0
    assert collect(archive.workspace(config).settings).sources[0].failures == {"date_order": 1}
    capsys.readouterr()
    status(config, failures=True)
    assert capsys.readouterr().out.startswith("chat: WhatsApp Chat with Ema.txt: date_order: ")
    # where nothing tells, it is not read, and that is a failure
    (config.parent / "chats" / "WhatsApp Chat with Hiking.txt").write_text("03/06/2024, 13:55 - Dana Levi: hello\n")
    assert commands.sync(config, accept_deletions=True) == 1
    assert f"chat: 2 could not be read (date_order); {listed}" in capsys.readouterr().out


def test_failures_of_a_sync_that_did_not_end_or_of_another_run_are_told_by_the_next(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (config.parent / "chats" / "WhatsApp Chat with Nobody.txt").write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setattr(publish, "build", Mock(side_effect=RuntimeError))
        assert sync(config) == 2  # the export is done, and its failures are kept
    archive.sync(config)  # as the schedule does
    capsys.readouterr()
    assert sync(config) == 1
    assert capsys.readouterr().out == (
        "Nothing to do: generation 1 is up to date.\n"
        "chat: 1 could not be read (empty); `relrag status --failures` lists them\n"
    )
    assert sync(config) == 0


def test_a_missing_source_folder_deletes_nothing(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive.first_sync(config)
    (config.parent / "papers").rename(config.parent / "elsewhere")
    assert sync(config) == 1
    assert "papers is not there" in capsys.readouterr().out
    assert len(archive.chunks(config, "papers")) == 1


def test_a_removed_file_takes_its_records_along_unless_they_are_retained(config: Path) -> None:
    archive.first_sync(config)
    (config.parent / "papers" / "lease 2024-01-05.md").unlink()
    text = config.read_text()
    config.write_text(text.replace('path = "papers"', 'path = "papers"\nretain = true'))
    archive.sync(config)
    assert len(archive.chunks(config, "papers")) == 1
    config.write_text(text)
    archive.sync(config)
    assert archive.chunks(config, "papers") == []


def test_equal_documents_are_one_record_with_two_locations(config: Path) -> None:
    copy = config.parent / "papers" / "a copy.md"
    archive.first_sync(config)
    home = archive.workspace(config).home
    copy.write_text(archive.LEASE)
    os.utime(copy, (1704400000, 1704400000))
    archive.sync(config)

    def records() -> list[dict[str, object]]:
        months = lake.manifest(home, "records", "papers")
        return [row for month in months for row in lake.read(home, "records", "papers", month).to_pylist()]

    (record,) = records()
    assert record["locations"] == ["a copy.md", "lease 2024-01-05.md"]
    copy.write_text(archive.LEASE + "\nAnd a sentence more.\n")
    archive.sync(config)
    assert sorted(len(record["locations"]) for record in records()) == [1, 1]  # type: ignore[arg-type]
    copy.unlink()
    archive.sync(config)
    (record,) = records()
    assert record["locations"] == ["lease 2024-01-05.md"]


@pytest.mark.usefixtures("without_dagster")
def test_what_was_not_read_to_its_end_is_not_deleted(config: Path) -> None:
    archive.first_sync(config)
    chat = config.parent / "chats" / "WhatsApp Chat with Hiking.txt"
    chat.write_text("")
    assert sync(config) == 1
    assert len(archive.chunks(config, "chat")) > 0


def test_a_backfill_makes_the_months_again_with_the_same_result(config: Path) -> None:
    archive.first_sync(config)
    home = archive.workspace(config).home
    before = {path: content for path, (_, content) in archive.contents(home / "lake").items()}
    assert commands.backfill("chat", "2024-01", "2024-02", config) == 0
    after = {path: content for path, (_, content) in archive.contents(home / "lake").items()}
    assert before == after
    assert generations.current_number(home) == 1


def test_the_same_content_gives_the_same_lake_whatever_came_first(config: Path, tmp_path: Path) -> None:
    archive.first_sync(config)
    other = tmp_path / "other"
    other.mkdir()
    late = archive.make(other)
    chat = other / "chats" / "WhatsApp Chat with Hiking.txt"
    (other / "test.keys").write_bytes((tmp_path / "test.keys").read_bytes())
    (other / "test.keys").chmod(0o600)
    chat.write_text("".join(archive.CHAT.splitlines(keepends=True)[:3]))
    archive.sync(late)
    chat.write_text(archive.CHAT)
    archive.sync(late)
    hashes = [
        {month: entry.output for month, entry in lake.manifest(archive.workspace(path).home, "records", "chat").items()}
        for path in (config, late)
    ]
    assert hashes[0] == hashes[1]


def test_no_planted_value_leaves_private(config: Path) -> None:
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write(
            json.dumps({"id": "052-765-4321", "text": "Card 4111 1111 1111 1111", "from": "x@example.org"}) + "\n"
        )
    sync(config)
    home = archive.workspace(config).home
    for path, (_, content) in archive.contents(home).items():
        if not path.startswith("private/"):
            for planted in (b"052-123-4567", b"0521234567", b"4111 1111", b"052-765-4321", b"x@example.org"):
                assert planted not in content, path


def test_many_deletions_are_refused_until_they_are_accepted(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = config.parent / "notes.jsonl"
    lines = [json.dumps({"id": f"m{n}", "text": f"note {n}", "timestamp": "2024-03-01T00:00:00Z"}) for n in range(100)]
    notes.write_text("\n".join(lines) + "\n")
    archive.first_sync(config)
    notes.write_text("\n".join(lines[:79]) + "\n")
    assert sync(config) == 2
    assert "21 of 100 records would be deleted" in capsys.readouterr().out
    assert len(archive.chunks(config, "notes")) == 100
    assert commands.sync(config, accept_deletions=True) == 0
    assert len(archive.chunks(config, "notes")) == 79
    # a fifth or less goes without asking, and so do a few
    notes.write_text("\n".join(lines[:64]) + "\n")
    archive.sync(config)


def test_a_full_sync_makes_damaged_and_missing_months_again(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive.first_sync(config)
    home = archive.workspace(config).home
    before = {path: content for path, (_, content) in archive.contents(home / "lake").items()}
    lake.month_path(home, "private_records", "chat", "2024-01").unlink()
    lake.month_path(home, "records", "chat", "2024-02").unlink()
    damaged = lake.month_path(home, "chunks", "papers", "2024-01")
    damaged.write_bytes(damaged.read_bytes()[:-9] + b"\0" * 9)
    assert verify(config) == 1
    assert "lake/records/chat/2024-02.parquet is missing" in capsys.readouterr().out
    assert commands.sync(config, full=True) == 0
    assert verify(config) == 0
    assert {path: content for path, (_, content) in archive.contents(home / "lake").items()} == before


def test_a_later_first_month_moves_what_lies_before_it(config: Path) -> None:
    archive.first_sync(config)
    archive.configure(config.parent, 'first_month = "2024-02"')
    archive.sync(config)
    home = archive.workspace(config).home
    assert sorted(lake.manifest(home, "records", "chat")) == ["2024-02"]
    assert verify(config) == 0
    with generations.open_current(home) as generation:
        assert generation.manifest["counts"]["records"] == 8


@pytest.mark.usefixtures("without_dagster")
def test_a_source_that_is_no_longer_configured_is_named_and_removed_when_that_is_accepted(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.first_sync(config)
    home = archive.workspace(config).home
    text = config.read_text()
    config.write_text(
        text[: text.index('[[sources]]\nname = "papers"')] + text[text.index('[[sources]]\nname = "notes"') :]
    )
    assert sync(config) == 0
    assert "papers: no longer in relrag.toml" in capsys.readouterr().out
    with generations.open_current(home) as generation:
        assert generation.manifest["counts"]["records"] == 7
    assert "papers" in lake.sources(home)
    assert commands.sync(config, accept_deletions=True) == 0
    assert lake.sources(home) == {"chat", "notes"}
    assert not [path for path in home.rglob("*papers*") if "dagster" not in path.parts]


def test_a_refused_export_publishes_nothing(config: Path) -> None:
    notes = config.parent / "notes.jsonl"
    lines = [json.dumps({"id": f"m{n}", "text": f"note {n}", "timestamp": "2024-03-01T00:00:00Z"}) for n in range(50)]
    notes.write_text("\n".join(lines) + "\n")
    archive.first_sync(config)
    notes.write_text(lines[0] + "\n")
    home = archive.workspace(config).home
    assert [sync(config), sync(config)] == [2, 2]
    assert generations.numbers(home) == [1]


@pytest.mark.usefixtures("without_dagster")
def test_a_copy_under_another_suffix_takes_nothing_away(config: Path) -> None:
    archive.first_sync(config)
    (config.parent / "papers" / "a.pdf").write_text(archive.LEASE)
    assert sync(config) == 1
    assert len(archive.chunks(config, "papers")) == 1


def test_a_redaction_whose_check_was_cut_short_is_checked_before_it_is_published(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = archive.workspace(config).home
    with monkeypatch.context() as broken:
        broken.setattr("relrag_pipelines.pii.redact_tables.redact_records", lambda rows, *_: (rows.select(RECORD), []))
        with broken.context() as cut:
            cut.setattr("relrag_pipelines.stages.redaction_check.find_unredacted", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                sync(config)
        capsys.readouterr()
        assert sync(config) == 2
        assert "chat: 1 of what was redacted still held personal data, in 2024-01; " in capsys.readouterr().out
    assert generations.current_number(home) is None
    assert sync(config) == 0
    assert generations.current_number(home) == 1
    assert not list(home.rglob("UNCHECKED"))


def test_what_was_not_redacted_is_made_again_before_anything_of_it_is_published(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = archive.workspace(config).home
    archive.first_sync(config)
    with (config.parent / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
        file.write("15/02/2024, 08:00 - Petr Kolar: My new number is 052-765-4321\n")
    with monkeypatch.context() as broken:
        broken.setattr("relrag_pipelines.pii.redact_tables.redact_records", lambda rows, *_: (rows.select(RECORD), []))
        for _ in range(2):  # the second finds what the first left
            sync(config)
            said = capsys.readouterr().out
            assert "chat/redacted: check no_unredacted_value: " in said
            assert "still held personal data, in 2024-02; " in said
            assert generations.current_number(home) == 1
            assert "2024-02" not in lake.manifest(home, "records", "chat")
    assert sync(config) == 0
    assert generations.current_number(home) == 2
    (row,) = [
        row
        for row in lake.read(home, "records", "chat", "2024-02").to_pylist()
        if row["text"].startswith("My new number is ")
    ]
    assert "052-765-4321" not in row["text"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_sync_that_is_told_to_end_publishes_nothing(
    config: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(5)

    with monkeypatch.context() as patch:
        patch.setattr("relrag_pipelines.ingest.merge.write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            sync(config)
    assert generations.current_number(archive.workspace(config).home) is None
    assert sync(config) == 0
