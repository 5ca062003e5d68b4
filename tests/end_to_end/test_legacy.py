"""`relrag backfill legacy` as a user has it: taken in, written into, asked about; killed, and gone on with."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from qdrant_client import QdrantClient, models

from relrag_pipelines.definitions import build_defs
from relrag_pipelines.legacy.backfill import backfill
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stores import catalog, generations
from relrag_query.archive import Archive
from relrag_query.cli.commands import backfill as commands
from relrag_query.cli.commands import sync as syncing
from tests import archive, interruption
from tests import legacy_collection as older
from tests.stores import qdrant

POINTS = 4_000


def make(folder: Path, payloads: list[dict[str, Any]] = older.POINTS) -> Path:
    older.make(folder / "qdrant", payloads)
    config = folder / "relrag.toml"
    config.write_text(f'{older.CONFIG}path = "qdrant/collection"\n')
    return config


WALNUT = "Dana Levi: The walnut table goes to aunt Rivka\nJonah Pickel: And who gets the piano?"


def ask(config: Path, question: str) -> list[str]:
    with Archive.open(config) as opened:
        return [quote.text for quote in opened.ask(question).quotes]


def test_it_is_taken_in_redacted_and_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = make(tmp_path)
    assert commands.backfill_legacy(None, config, dry_run=True) == 0
    assert (
        capsys.readouterr().out
        == """\
older: 18 points (2 call_recording, 6 gmail, 2 other, 3 paperless, 5 whatsapp). Nothing was written.
  taken in by a sync: 14 records, 3 threads, 2 attachments, 3 records of several points
  written: fields of 18 points
  left as they are: 0 points that have their fields
  person ids: known after the sync that goes first
  dropped: old vectors of relationships at 1 point
  not taken in: 1 point that the older system made for itself
  before that: a copy of the folder, beside it
"""
    )
    assert commands.backfill_legacy(None, config) == 0
    *_, generation, done, dropped, copy = capsys.readouterr().out.splitlines()
    assert generation.startswith("Generation 1: 13 records, 11 passages, 22 relations; ")
    assert done == "older: 18 points got fields, 13 points got person ids."
    assert dropped == "  old vectors of relationships dropped at 1 point"
    assert copy.startswith("  as it was before: qdrant.snapshot-2")
    assert ask(config, "Who gets the walnut table?") == [WALNUT]
    assert ask(config, "When does the beekeeper come?") == [
        "The beekeeper comes on Monday.\nBring the smoker and the veils."
    ]
    home = archive.home(tmp_path)
    public = [file for file in home.rglob("*") if file.is_file() and not file.is_relative_to(home / "private")]
    for secret in (b"4111 1111", b"972521234567", b"521234567", b"601 234 567"):
        assert not [file.name for file in public if secret in file.read_bytes()]
        held = b"".join(file.read_bytes() for file in (home / "private").rglob("*") if file.is_file())
        assert secret not in held or secret in (tmp_path / "qdrant/collection/memory/storage.sqlite").read_bytes()

    assert commands.backfill_legacy(["older"], config) == 0
    assert capsys.readouterr().out == (
        "Nothing to do: generation 1 is up to date.\nolder: nothing to write; 18 points had all fields.\n"
    )
    assert syncing.sync(config) == 0
    assert capsys.readouterr().out == "Nothing to do: generation 1 is up to date.\n"


def test_on_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    client = qdrant.local()
    older.fill(client)
    with qdrant.over_http(client) as url:
        config = tmp_path / "relrag.toml"
        config.write_text(f'{older.CONFIG}path = "older.json"\nurl = "{url}"\ncollection = "memory"\n')
        assert syncing.sync(config) == 1
        assert "older.json is not there; `relrag backfill legacy` writes it" in capsys.readouterr().out
        assert commands.backfill_legacy(None, config) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"older: into the points of memory at {url} go ids of their records, their own fields")
        assert "as it was before: memory-0.snapshot (a snapshot on the server)" in said
        assert commands.backfill_legacy(None, config) == 0
        assert "nothing to write; 18 points had all fields" in capsys.readouterr().out
    assert syncing.sync(config) == 0, "an unchanged collection is not asked for again"
    assert ask(config, "Who gets the walnut table?") == [WALNUT]
    assert older.of(client)[1]["asset_id"] == f"whatsapp:{older.DANA}:1708012800"


def test_the_ui_makes_one_channel_alone(tmp_path: Path) -> None:
    config = make(tmp_path)
    workspace = archive.sync(config)
    job = build_defs(workspace).resolve_job_def("legacy_backfill")
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance, partition_key="whatsapp").success
        key = dg.AssetKey(["older", "backfill"])
        assert instance.get_materialized_partitions(key) == {"whatsapp"}
        event = instance.get_latest_materialization_event(key)
        assert event and event.asset_materialization
        told = {name: value.value for name, value in event.asset_materialization.metadata.items()}
        assert told["dagster/row_count"] == 5  # of the channel
        assert (told["points"], told["points_with_new_fields"], told["points_waiting"]) == (18, 5, 13)
        assert told["snapshots"] == 1
        said = repr([entry.message for entry in instance.all_logs(event.run_id)]) + repr(told)
    assert not [secret for secret in ("Dana", "walnut", older.DANA, "18d0", "qdrant.snapshot") if secret in said]
    written = {one["source"] for one in older.payloads(tmp_path / "qdrant").values() if "asset_id" in one}
    assert written == {"whatsapp"}


@pytest.mark.requirement("S0-104")
def test_the_phases_can_be_deployed_in_the_order_of_the_seed(tmp_path: Path) -> None:
    """Tables and ingestion, backfill, retrieval, redaction: the older system's points and each answer so far hold."""
    config = make(tmp_path)
    deposit, thread = "What pays the deposit?", "Show me the email thread about the larch shingles"

    def deploy(**flags: bool) -> None:
        lines = [line for line in config.read_text().splitlines() if not line.startswith(("pii_red", "asset_neigh"))]
        config.write_text("\n".join([*(f"{name} = {str(on).lower()}" for name, on in flags.items()), *lines]))
        archive.sync(config)

    def neighbours() -> list[str]:
        with Archive.open(config) as opened:
            added = [line for line in opened.ask(thread).trace if ", asset_neighborhood, " in line]
        return [line.removeprefix("  + ").partition(": ")[0] for line in added]

    before = older.payloads(tmp_path / "qdrant")
    deploy(pii_redaction_enabled=False)  # phases 1 and 2: nothing but these two flags changes what is answered
    assert older.payloads(tmp_path / "qdrant") == before
    told = ask(config, deposit)
    assert "Card 4111 1111 1111 1111 pays the deposit." in told[0]
    assert neighbours() == []

    assert commands.backfill_legacy(None, config) == 0  # phase 6
    after = older.payloads(tmp_path / "qdrant")
    assert after[9]["parent_asset_id"] == after[9]["parent_source_id"] == "gmail:18d1", "old and new names side by side"
    assert (ask(config, deposit), neighbours()) == (told, [])

    deploy(pii_redaction_enabled=False, asset_neighborhood_expansion_enabled=True)  # phases 3 and 4
    assert ask(config, deposit) == told
    assert neighbours() == ["gmail:18d1", "gmail:18d2"]

    deploy(pii_redaction_enabled=True, asset_neighborhood_expansion_enabled=True)  # phase 5
    assert "4111" not in ask(config, deposit)[0]
    assert "pays the deposit" in ask(config, deposit)[0]
    assert neighbours() == ["gmail:18d1", "gmail:18d2"]


def test_without_such_a_source_the_command_says_what_one_is(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    with pytest.raises(SettingsError, match='kind = "legacy"'):
        commands.backfill_legacy(None, config)
    with pytest.raises(SettingsError, match=r'"notes" is not a source of an older system; there are: older'):
        commands.backfill_legacy(["notes"], make(tmp_path))


def many() -> Iterator[dict[str, Any]]:
    """What 4,000 points of the older system say: chats, threads of mails with files, scans and calls in parts."""
    people = [f"{first} {last}" for first in ("Dana", "Petr", "Ota", "Noa") for last in ("Levi", "Kolar", "Kral")]
    for number in range(1_600):
        chat = f"9725{number % 40:08d}@c.us"
        yield {
            "source": "whatsapp", "source_id": f"{chat}:{1_700_000_000 + 60 * number}", "chat_id": chat,
            "chat_name": people[number % 12], "sender": people[number % 12], "content_type": "text",
            "timestamp": 1_700_000_000 + 60 * number, "message": f"Message {number} about the cabin",
        }  # fmt: skip
    for number in range(1_200):
        mail = {
            "source": "gmail", "sender": f"{people[number % 12]} <p{number % 12}@example.com>",
            "message": f"Mail {number}", "timestamp": 1_700_000_000 + 600 * number, "thread_id": f"t{number // 4}",
            "chat_name": f"Subject {number}",
        }  # fmt: skip
        if number % 3 == 2:
            part = {"source_id": f"gmail:m{number - 1}:att:a.pdf", "parent_source_id": f"gmail:m{number - 1}"}
            yield mail | part | {"attachment_name": "a.pdf"}
        else:
            yield mail | {"source_id": f"gmail:m{number}"}
    for number in range(1_200):
        source = "paperless" if number < 800 else "call_recording"
        native = f"{number // 4}" if number < 800 else f"{number // 4:08x}"
        yield {
            "source": source, "source_id": f"{source}:{native}", "chunk_index": str(number % 4), "chunk_total": "4",
            "message": f"Part {number % 4} of {native}.", "timestamp": 1_700_000_000 + 3_600 * (number // 4),
            "relation_embedding": [0.1],
        }  # fmt: skip


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of such points, made by qdrant-client, and an archive of it."""
    folder = tmp_path_factory.mktemp("large")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that local mode is not for so many
        client = QdrantClient(path=str(folder / "qdrant"))
        older.fill(client, [])
        storage: sqlite3.Connection = client._client.collections[older.NAME].storage.storage  # type: ignore[attr-defined]
        storage.execute("PRAGMA synchronous = OFF")  # it commits every point by itself
        storage.execute("PRAGMA journal_mode = OFF")
        client.upsert(
            older.NAME,
            [models.PointStruct(id=n, vector={"dense": [0.6, 0.8]}, payload=one) for n, one in enumerate(many(), 1)],
        )
        client.close()
    config = folder / "relrag.toml"
    config.write_text(f'{older.CONFIG}path = "qdrant/collection"\n')
    return config


@pytest.mark.slow
@pytest.mark.requirement("S0-83", "S0-84", "S0-85", "S0-86", "S0-87", "S0-88", "S0-89", "S0-90")
def test_four_thousand_points(large: Path) -> None:
    workspace = archive.sync(large)
    report = backfill(workspace, workspace.settings.source("older"))
    assert (report.new, report.changed, report.vectors) == (POINTS, POINTS, 1_200)
    found = older.payloads(large.parent / "qdrant")
    assert len(found) == POINTS
    assert all(one["asset_id"] and one["chunk_group_id"] == one["asset_id"] for one in found.values())
    assert {one["thread_id"] == one["chat_id"] for one in found.values() if one["source"] == "whatsapp"} == {True}
    assert len({one["chunk_group_id"] for one in found.values() if one["source"] == "paperless"}) == 200
    assert len({one["chunk_group_id"] for one in found.values() if one["source"] == "call_recording"}) == 100
    assert sum(bool(one.get("parent_asset_id")) for one in found.values()) == 400
    assert sum(bool(one.get("person_ids")) for one in found.values()) == 2_800
    assert not [one for one in found.values() if "relation_embedding" in one]
    with (
        generations.open_current(workspace.home) as current,
        catalog.open(current.path / catalog.NAME) as opened,
    ):
        counts = dict(
            opened.sql("SELECT relation_type, count(*) FROM asset_asset_edges GROUP BY relation_type").fetchall()
        )
        records = opened.sql("SELECT count(*) FROM records").fetchall()
    assert records == [(1_600 + 1_200 + 300,)]
    assert counts["attachment_of"] == 400
    assert counts["thread_member"] == 2_800
    again = backfill(workspace, workspace.settings.source("older"))
    assert (again.changed, again.done) == (0, POINTS)


@pytest.mark.slow
def test_after_a_kill_the_same_command_goes_on(tmp_path: Path) -> None:
    make(tmp_path, [{**one, "source_id": f"{one.get('source_id', '')}{n}"} for n in range(90)
                             for one in older.POINTS[:1] + older.POINTS[7:8]] * 4)  # fmt: skip
    ended = interruption.run(tmp_path, "backfill", "legacy", at=interruption.Place("legacy.written"))
    assert ended.code == -9
    first = sum("asset_id" in one for one in older.payloads(tmp_path / "qdrant").values())
    assert first == 500
    ended = interruption.run(tmp_path, "backfill", "legacy")
    assert ended.code == 0, ended.said
    assert "older: 220 points got fields" in ended.said
    assert sum("asset_id" in one for one in older.payloads(tmp_path / "qdrant").values()) == 720
    assert len(list(tmp_path.glob("qdrant.snapshot-*"))) == 1
