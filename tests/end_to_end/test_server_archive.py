"""An archive whose vectors are on a Qdrant server: published, changed, forgotten, verified, backed up."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from relrag_pipelines.files import failpoints
from relrag_pipelines.maintenance import backup, repair, verify
from relrag_pipelines.publishing import publish
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import generation_damage, generations, retired_generations, vector_store
from relrag_pipelines.stores.vectors import server_connection
from relrag_pipelines.stores.vectors.protocol import StoreError
from relrag_query.archive import Archive
from relrag_query.cli.commands import doctor, forget, status
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands import verify as verifying
from relrag_query.forgetting import ForgetRequest
from relrag_query.service import archive_status
from tests import archive
from tests.stores import qdrant

URL = "http://vectors.example:6333"
NOTES = 16


@pytest.fixture(scope="module")
def first_generation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, QdrantClient]:
    """An archive of a few notes over two years, published once, and the server that has its vectors."""
    folder, client = tmp_path_factory.mktemp("published"), qdrant.local()
    made = archive.many_notes(folder, NOTES)
    made.write_text(f'qdrant_url = "{URL}"\n{made.read_text()}')
    with pytest.MonkeyPatch.context() as patch, qdrant.served_locally(patch, client):
        archive.sync(made)
    return folder, client


@pytest.fixture
def server(first_generation: tuple[Path, QdrantClient], monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantClient]:
    """The local mode of the client in place of every server, with what is published."""
    client = copy.deepcopy(first_generation[1])
    with qdrant.served_locally(monkeypatch, client):
        yield client


@pytest.fixture
def empty_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantClient]:
    client = qdrant.local()
    with qdrant.served_locally(monkeypatch, client):
        yield client


@pytest.fixture
def config(first_generation: tuple[Path, QdrantClient], server: QdrantClient, tmp_path: Path) -> Path:
    """A copy of the archive whose vectors are on the server."""
    return archive.clone(first_generation[0], tmp_path) / "relrag.toml"


def collections(client: QdrantClient) -> list[str]:
    return sorted(one.name for one in client.get_collections().collections)


def search(config: Path, question: str) -> list[str]:
    with Archive.open(config) as opened:
        return [hit.chunk.asset_id for hit in opened.search(question, limit=5).hits]


def notes(config: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (config.parent / "notes.jsonl").read_text().splitlines()]


def write(config: Path, notes: list[dict[str, Any]]) -> None:
    (config.parent / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))


def add_note(config: Path) -> None:
    write(config, [*notes(config), {"id": "late", "text": "The heron is back at the pond.", "ts": 1690000000}])


def test_what_is_published_names_its_collection(config: Path, server: QdrantClient) -> None:
    """The folder holds no vectors; MANIFEST names the collection; nothing of the text is on the server."""
    home = archive.home(config.parent)
    (name,) = collections(server)
    assert name.startswith("relrag-test-1-")
    assert generations.current_manifest(home)["collection"] == name
    assert [path.name for path in (home / "published" / "1" / "vectors").iterdir()] == ["collection.json"]
    assert server.count(name).count == generations.current_manifest(home)["counts"]["chunks"]
    assert search(config, "greenhouse pane 35")[0] == "jsonl:notes:n5"
    stored = json.dumps(list(vector_store.payloads(home / "published" / "1" / "vectors")))
    assert "greenhouse" not in stored
    assert archive.workspace(config).settings.qdrant_url == URL
    assert plans.build_plan(archive.workspace(config)).empty


def test_a_new_note_goes_into_the_same_collection(config: Path, server: QdrantClient) -> None:
    """The generation before it reads what it did."""
    add_note(config)
    home = archive.home(config.parent)
    with Archive.open(config) as before:
        archive.sync(config)
        assert (home / "published" / "2" / "base.duckdb").exists()
        assert before.search("heron at the pond").hits == []
        assert before.search("greenhouse pane 35", limit=1).hits[0].chunk.asset_id == "jsonl:notes:n5"
    assert len(collections(server)) == 1
    assert search(config, "heron at the pond")[0] == "jsonl:notes:late"
    assert verify.verify_home(home) == []


def test_what_is_deleted_is_gone_from_the_server(config: Path, server: QdrantClient) -> None:
    """Whoever deletes gets a new collection, and the old one goes with its generation."""
    (before,) = collections(server)
    write(config, [note for note in notes(config) if note["id"] != "n5"])
    archive.sync(config)
    (after,) = collections(server)
    assert after != before
    asset_ids = {point.payload["asset_id"] for point in server.scroll(after, limit=100)[0] if point.payload}
    assert len(asset_ids) == NOTES - 1
    assert "jsonl:notes:n5" not in asset_ids


def test_a_collection_goes_only_after_its_readers(config: Path, server: QdrantClient) -> None:
    home = archive.home(config.parent)
    with Archive.open(config) as reading:
        write(config, notes(config)[1:])
        archive.sync(config)
        assert len(collections(server)) == 2
        assert reading.search("greenhouse pane 35", limit=1).hits[0].chunk.asset_id == "jsonl:notes:n5"
    generations.sweep(home, 2)
    assert len(collections(server)) == 1


def test_another_model_fills_a_new_collection_while_the_old_one_serves(config: Path, server: QdrantClient) -> None:
    (before,) = collections(server)
    config.write_text(config.read_text().replace(archive.WORDS_ONLY, ""))
    with Archive.open(config) as reading:
        archive.sync(config)
        assert len(collections(server)) == 2
        assert reading.search("greenhouse pane 35", limit=1).hits[0].chunk.asset_id == "jsonl:notes:n5"
    home = archive.home(config.parent)
    after = generations.current_manifest(home)["collection"]
    assert after != before
    assert generations.current_manifest(home)["embedder"] == "multilingual-e5-small-int8:1571fc98"
    (point,) = server.scroll(after, limit=1, with_vectors=True)[0]
    assert sorted(len(one) for one in point.vector.values() if isinstance(one, list)) == [384]  # type: ignore[union-attr]


def test_a_missing_or_short_collection_is_named_and_made_again(config: Path, server: QdrantClient) -> None:
    home, (name,) = archive.home(config.parent), collections(server)
    some = [point.id for point in server.scroll(name, limit=3)[0]]
    server.delete(name, some)
    (short,) = verify.verify_home(home)
    assert short.path == "published/1/vectors/collection.json"
    assert short.problem == f"is no longer true: collection {name} on Qdrant at {URL[7:]} holds 13 points of it, not 16"
    server.delete_collection(name)
    (gone,) = verify.verify_home(home)
    assert gone.problem == f"is no longer true: collection {name} on Qdrant at {URL[7:]} is not there"
    assert "published/1: removed, to be made again from the lake" in list(
        repair.repair(archive.workspace(config), [gone])
    )
    archive.sync(config)
    assert verify.verify_home(home) == []
    assert search(config, "greenhouse pane 35")[0] == "jsonl:notes:n5"


def test_a_short_collection_is_not_built_upon(config: Path, server: QdrantClient) -> None:
    (name,) = collections(server)
    server.delete(name, [point.id for point in server.scroll(name, limit=1)[0]])
    add_note(config)
    archive.sync(config)
    assert [finding.path for finding in verify.verify_home(archive.home(config.parent))] == [
        "published/1/vectors/collection.json"
    ]
    assert len(collections(server)) == 2


class _Down(server_connection.Connection):
    """A server that is no longer there."""

    def ask(self, call: Any, pauses: Any = ()) -> Any:
        raise StoreError(f"Qdrant at {self.url} could not be reached")

    def close(self) -> None:
        pass


def go_down(monkeypatch: pytest.MonkeyPatch) -> None:
    from relrag_pipelines.stores.vectors import server_index

    monkeypatch.setattr(server_index, "connect", lambda url: _Down(url, qdrant.local()))


def test_a_server_that_is_down_leaves_what_is_published(config: Path, server: QdrantClient) -> None:
    """The generation that was begun is not current, verify damages nothing, and the next sync makes it."""
    add_note(config)
    home = archive.home(config.parent)
    with pytest.MonkeyPatch.context() as patched:
        go_down(patched)
        with pytest.raises(StoreError, match="could not be reached"):
            archive.sync(config)
        (unasked,) = verify.verify_home(home)
        assert unasked.problem.startswith("cannot be checked now: Qdrant at")
        assert list(repair.repair(archive.workspace(config), [unasked])) == []
        with Archive.open(config) as opened, pytest.raises(StoreError, match="could not be reached"):
            opened.search("greenhouse")
    assert generations.current_number(home) == 1
    archive.sync(config)
    assert search(config, "heron at the pond")[0] == "jsonl:notes:late"


def test_what_a_kill_left_on_the_server_is_removed(
    config: Path, server: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that never became current, and a collection whose server was down when its generation went."""
    home = archive.home(config.parent)
    (first,) = collections(server)
    write(config, notes(config)[1:])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publish, "publish", lambda workspace: None)
        with pytest.raises(AssertionError):
            archive.sync(config)
    assert len(collections(server)) == 2
    with pytest.MonkeyPatch.context() as patched:
        go_down(patched)
        generations.sweep(home, 2)
        (left,) = retired_generations.describe_remote_leftovers(home)
        assert left.startswith("collection relrag-test-2-")
        assert archive_status.collect(archive.workspace(config).settings).problems == [
            f"{left} is still to be removed; a sync does it"
        ]
    generations.sweep(home, 2)
    assert collections(server) == [first]
    assert retired_generations.describe_remote_leftovers(home) == []


def test_a_backup_leaves_out_what_would_lack_its_vectors(
    config: Path, server: QdrantClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """And what a restored home replaces leaves nothing behind on the server."""
    place = tmp_path_factory.mktemp("kept") / "backup"
    settings = archive.workspace(config).settings
    manifest = backup.backup(settings, place, everything=True)
    assert not [name for name in manifest["files"] if name.startswith("home/published/")]
    (first,) = collections(server)
    backup.restore(place, config.parent, force=True)
    archive.sync(config)
    generations.sweep(archive.home(config.parent), 2)
    (second,) = collections(server)
    assert second != first
    assert verify.verify_home(archive.home(config.parent)) == []


def test_from_this_process_to_a_server_and_back(tmp_path: Path, empty_server: QdrantClient) -> None:
    """The setting alone switches, and what is left behind is removed with its generation."""
    config = archive.many_notes(tmp_path, NOTES)
    local = config.read_text()
    archive.sync(config)
    hits = search(config, "pane 35")[:1]
    config.write_text(f'qdrant_url = "{URL}"\n{local}')
    archive.sync(config)
    assert search(config, "pane 35")[:1] == hits == ["jsonl:notes:n5"]
    assert len(collections(empty_server)) == 1
    config.write_text(local)
    archive.sync(config)
    generations.sweep(archive.home(tmp_path), 1)
    assert search(config, "pane 35")[:1] == hits == ["jsonl:notes:n5"]
    assert collections(empty_server) == []


def test_status_names_the_server(config: Path, server: QdrantClient, capsys: pytest.CaptureFixture[str]) -> None:
    status.status(config)
    (name,) = collections(server)
    assert f"Its vectors are on Qdrant at {URL}, collection {name}." in capsys.readouterr().out
    assert verifying.verify(config) == 0
    assert "For vectors on a server, the number of points was checked" in capsys.readouterr().out


def test_sync_says_what_goes_where(
    tmp_path: Path, empty_server: QdrantClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through Dagster, as a user types it."""
    config = archive.many_notes(tmp_path, NOTES)
    config.write_text(f'qdrant_url = "{URL}"\n{config.read_text()}')
    assert commands.sync(config) == 0
    said = capsys.readouterr().out
    assert f"send vectors, ids, times and numbers of people, no text, to Qdrant at {URL}" in said
    assert "Generation 1: 16 records, 16 passages" in said
    assert len(collections(empty_server)) == 1


def test_a_sync_without_its_server_begins_nothing(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_note(config)
    monkeypatch.setattr(server_connection, "connect", lambda url, timeout=0: _Down(url, qdrant.local()))
    with pytest.raises(StoreError, match="could not be reached"):
        commands.sync(config)
    assert generations.current_number(archive.home(config.parent)) == 1


@pytest.mark.usefixtures("without_dagster")
def test_what_is_forgotten_is_gone_from_the_server(
    config: Path, server: QdrantClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """At once, with its collection; the search that proves it reads what the server has."""
    (before,) = collections(server)
    assert forget.forget(ForgetRequest(refs=["jsonl:notes:n5"]), config, yes=True) == 0
    assert "0 hold any" in capsys.readouterr().out
    (after,) = collections(server)
    assert after != before
    held = [point.payload["asset_id"] for point in server.scroll(after, limit=100)[0] if point.payload]
    assert "jsonl:notes:n5" not in held
    assert len(held) == NOTES - 1


def test_forgetting_says_what_a_server_that_is_down_still_has(
    config: Path, server: QdrantClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not done, and the next sync does it."""
    with pytest.MonkeyPatch.context() as patched:
        go_down(patched)
        assert forget.forget(ForgetRequest(refs=["jsonl:notes:n5"]), config, yes=True) == 2
    said = capsys.readouterr().out
    assert "could not be reached" in said
    assert "Something is left; `relrag sync` continues removing it." in said
    assert commands.sync(config) == 0
    (name,) = collections(server)
    held = [point.payload["asset_id"] for point in server.scroll(name, limit=100)[0] if point.payload]
    assert "jsonl:notes:n5" not in held


def test_the_doctor_asks_the_server(config: Path, server: QdrantClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version, collections that nobody here knows, a key in the clear; and what to do where it is down."""
    monkeypatch.setenv("QDRANT_API_KEY", "a-secret")
    server.create_collection("relrag-test-7-deadbeef", {})
    found = [(one.level, one.finding) for one in doctor.examine(config, {}) if one.what == "vectors"]
    assert found[0][0] == "ok"
    assert found[0][1].endswith(f"at {URL}")
    assert found[1] == ("warning", "key and vectors are sent unencrypted; use an https:// address")
    assert found[2][1].startswith("1 collection of an archive of this name but of no generation here, the first is")
    monkeypatch.setattr(server_connection, "connect", lambda url, timeout=0: _Down(url, qdrant.local()))
    (down,) = [one for one in doctor.examine(config, {}) if one.what == "vectors"]
    assert (down.level, down.finding) == ("problem", f"Qdrant at {URL} could not be reached")


class _Killed(BaseException):
    """What a test stops a sync with; nothing catches it."""


KILLED_AT = [
    ("vectors.upsert", "less"),
    ("vectors.delete", "writer"),
    ("vectors.flush", "more"),
    ("generation.rename", "less"),
    ("generation.remove", "less"),
]
"""where a sync is killed that has a note more, one less, or one by somebody whom another names"""


@pytest.mark.slow
def test_a_kill_anywhere_is_made_good_by_the_next_sync(config: Path, server: QdrantClient) -> None:
    """Then the collections on the server are those of the generations here, and hold what the archive does."""
    home = archive.home(config.parent)
    write(config, [*notes(config), {"id": "key", "text": "Vilma Heron has the key.", "ts": 1690000000}])
    archive.sync(config)
    for turn, (place, change) in enumerate(KILLED_AT):
        before = notes(config)
        if change == "less":
            write(config, before[1:])
        elif change == "more":
            write(
                config, [*before, {"id": f"late{turn}", "text": f"The heron came back {turn} times.", "ts": 1690000000}]
            )
        else:  # the passage that names her is another, though its record is not
            write(config, [*before, {"id": "vilma", "text": "I have it.", "from": "Vilma Heron", "ts": 1690000100}])

        def kill(name: str, path: Path, place: str = place) -> None:
            if name == place:
                raise _Killed

        with pytest.MonkeyPatch.context() as patched, pytest.raises(_Killed):
            patched.setattr(failpoints, "watch", kill)
            archive.sync(config)
        with Archive.open(config) as opened:
            assert opened.search("greenhouse pane", limit=1).hits
        generations.sweep(home, 2)
        if not plans.build_plan(archive.workspace(config)).empty:
            archive.sync(config)
        ours = {one.name for number in generations.numbers(home) if (one := generation_damage.on_server(home, number))}
        assert set(collections(server)) == ours, place
        assert verify.verify_home(home) == [], place
        with Archive.open(config) as opened:
            assert opened.generation.manifest["counts"]["records"] == len(notes(config))
