"""An archive whose lake is kept in a bucket of a real server: sync, a second machine, forget, a bucket out of reach."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

pytest.importorskip("moto", reason="moto is not installed: make setup")

from relrag_pipelines.definitions import build_defs
from relrag_pipelines.erasure import byte_search, rule_file
from relrag_pipelines.files import failpoints, sealed_json
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.privacy import keys
from relrag_pipelines.publishing import lake_bucket, publish
from relrag_pipelines.stages import month_stages, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import generations, lake
from relrag_pipelines.stores.object_store import ObjectStore, ObjectStoreError
from relrag_query.archive import Archive
from relrag_query.cli.commands import doctor as doctoring
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands import plan as planning
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands import verify as verifying
from relrag_query.forgetting import ForgetRequest
from tests import archive, s3_server
from tests.s3_server import Bucket, S3Server

QUOTED = "The plumber quoted 7,980 for the boiler."
FORGET = ForgetRequest(refs=["jsonl:notes:n1"])


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server.serving() as running:
        yield running


@pytest.fixture
def bucket(server: S3Server) -> Bucket:
    return server.bucket()


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    archive.do_without_dagster(monkeypatch)
    archive.do_without_indexes(monkeypatch)


def make(folder: Path, bucket: Bucket) -> Path:
    folder.mkdir()
    return archive.make(folder, f'home_lake = "{bucket.url}"\n')


def hashes(home: Path) -> dict[str, str]:
    """The hash of every file of the lake, but of what says which bucket it is in."""
    return {
        path.relative_to(home).as_posix(): sealed_json.file_hash(path)
        for path in sorted((home / "lake").rglob("*"))
        if path.is_file() and path.name != "BUCKET.json"
    }


def stored(bucket: Bucket) -> set[str]:
    """The hashes in the names of the bucket's objects."""
    return {key.rsplit("-", 2)[1] for key in bucket.object_keys() if not key.endswith("lake/MANIFEST.json")}


def test_a_sync_with_a_bucket_makes_the_same_lake(
    tmp_path: Path, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path / "with", bucket)
    assert planning.plan(config) == 0
    assert f"keep the redacted lake in {bucket.url} too" in capsys.readouterr().out
    assert commands.sync(config) == 0
    (tmp_path / "without").mkdir()
    other = archive.make(tmp_path / "without")
    shutil.copy(config.parent / "test.keys", other.parent / "test.keys")
    assert commands.sync(other) == 0
    home = archive.home(config.parent)
    assert hashes(home) == hashes(archive.home(other.parent))
    assert len(hashes(home)) > 10
    assert {path.name for path in (archive.home(other.parent) / "lake").rglob("*.json")} == {"MANIFEST.json"}
    assert stored(bucket) == set(hashes(home).values())
    before = bucket.versions(), archive.contents(home / "lake")
    assert commands.sync(config) == 0
    assert (bucket.versions(), archive.contents(home / "lake")) == before
    assert verifying.verify(config) == 0


def test_a_second_machine_with_the_same_private_folder_fetches_the_lake_and_answers(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path / "first", bucket)
    assert commands.sync(config) == 0
    second = archive.clone(config.parent, tmp_path / "second")
    for name in ("lake", "published", "dagster"):
        shutil.rmtree(archive.home(second) / name, ignore_errors=True)

    def refuse(*_: object) -> None:
        raise AssertionError("nothing of the lake is made again")

    monkeypatch.setattr(month_stages, "run", refuse)
    monkeypatch.setattr(whole_archive, "run", refuse)
    capsys.readouterr()
    assert commands.sync(second / "relrag.toml") == 0
    fetched = len(hashes(archive.home(second)))
    assert f"{fetched} files of the lake were fetched from {bucket.url}." in capsys.readouterr().out
    assert hashes(archive.home(second)) == hashes(archive.home(config.parent))
    with Archive.open(second / "relrag.toml") as opened:
        assert QUOTED in {hit.text for hit in opened.search("what did the plumber quote").hits}


def test_forgotten_text_leaves_the_bucket(tmp_path: Path, server: S3Server, capsys: pytest.CaptureFixture[str]) -> None:
    versioned = server.bucket(versioned=True)
    config = make(tmp_path / "archive", versioned)
    assert commands.sync(config) == 0
    before = versioned.download(tmp_path / "before")
    assert byte_search.search(before, [QUOTED]).holding
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 0
    assert f"{versioned.url} holds the files of lake/ alone, and no older versions of them." in capsys.readouterr().out
    after = byte_search.search(versioned.download(tmp_path / "after"), [QUOTED, "Remember to thank the plumber."])
    assert after.hits == {"Remember to thank the plumber."}
    assert after.unreadable == []
    assert len(versioned.versions()) == len(versioned.object_keys())


def holds(folder: Path) -> bool:
    """Whether any file of a folder holds what the tests forget."""
    return bool(byte_search.search(folder, [QUOTED]).holding)


def answers(config: Path) -> bool:
    """Whether a question is shown what the tests forget."""
    with Archive.open(config) as opened:
        return QUOTED in {hit.text for hit in opened.search("what did the plumber quote").hits}


def test_what_one_machine_forgets_another_one_forgets_at_its_next_sync(
    tmp_path: Path, server: S3Server, capsys: pytest.CaptureFixture[str]
) -> None:
    versioned = server.bucket(versioned=True)
    first = make(tmp_path / "first", versioned)
    assert commands.sync(first) == 0
    second = archive.clone(first.parent, tmp_path / "second") / "relrag.toml"
    assert forgetting.forget(FORGET, first, yes=True) == 0
    assert answers(second)
    archive.write_notes(second.parent, {"id": "n3", "text": "The sauna is hot.", "timestamp": "2024-03-01"})
    capsys.readouterr()
    assert commands.sync(second) == 0
    assert "Forgotten on another machine, and now here too: 1 rule (`relrag forget --list`)." in capsys.readouterr().out
    assert not answers(second)
    assert not holds(archive.home(second.parent))
    assert commands.sync(first) == 0
    assert not holds(archive.home(first.parent))
    assert not holds(versioned.download(tmp_path / "bucket"))
    assert "Forgotten on another machine" not in capsys.readouterr().out
    assert rule_file.load(archive.home(second.parent)) == rule_file.load(archive.home(first.parent))


def test_a_rule_in_the_bucket_tells_nothing_without_the_keys(tmp_path: Path, bucket: Bucket) -> None:
    config = make(tmp_path / "archive", bucket)
    archive.sync(config)
    assert forgetting.forget(ForgetRequest(person="Ota"), config, yes=True) == 0
    (rule,) = rule_file.load(archive.home(config.parent)).rules
    values = [*rule.names[0], *rule.ids, rule.at, "person"]
    assert byte_search.search(archive.home(config.parent) / "private", values).hits == set(values)
    (key,) = [key for key in bucket.object_keys() if "/forgetting/" in key]
    assert not [value for value in values if value in key or value.encode() in bucket.get(key)]
    assert verifying.verify(config) == 0


def test_a_rule_of_other_keys_stops_a_sync_before_it_changes_anything(tmp_path: Path, bucket: Bucket) -> None:
    first = make(tmp_path / "first", bucket)
    archive.sync(first)
    second = archive.clone(first.parent, tmp_path / "second") / "relrag.toml"
    file = first.parent / "test.keys"
    file.write_text(keys.to_text(keys.next_keys(keys.parse(file.read_text(), ""))))
    assert commands.sync(first) == 0
    assert forgetting.forget(FORGET, first, yes=True) == 0
    before = bucket.versions()
    for _ in range(2):
        with pytest.raises(lake.LakeError, match="whose keys are not those of keys_file; copy its keys to here"):
            commands.sync(second)
    with pytest.raises(lake.LakeError, match="records were forgotten on another machine; `relrag sync` forgets them"):
        lake_bucket.commit(archive.workspace(second))
    assert bucket.versions() == before


def test_a_withdrawn_rule_leaves_the_bucket(tmp_path: Path, bucket: Bucket) -> None:
    config = make(tmp_path / "archive", bucket)
    archive.sync(config)
    assert forgetting.forget(FORGET, config, yes=True) == 0
    assert forgetting.undo(1, config) == 0
    assert commands.sync(config) == 0
    assert answers(config)
    assert not [key for key in bucket.object_keys() if "/forgetting/" in key]
    assert rule_file.load(archive.home(config.parent)).rules == []


def test_a_sync_that_publishes_nothing_commits_the_lake(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make(tmp_path / "archive", bucket)
    workspace = archive.sync(config)
    before = stored(bucket)
    archive.write_notes(config.parent, {"id": "n3", "text": "The sauna is hot.", "timestamp": "2024-03-01"})

    def fail(name: str, _: Path) -> None:
        if name == "publish.seal":
            raise OSError

    with monkeypatch.context() as failing, pytest.raises(OSError):
        failing.setattr(failpoints, "watch", fail)
        archive.sync(config)
    assert stored(bucket) != before
    archive.write_notes(config.parent)
    assert commands.sync(config, accept_deletions=True) == 0
    assert generations.current_number(workspace.home) == 1, "the lake is as when that was published"
    assert stored(bucket) == set(hashes(workspace.home).values())
    assert not byte_search.search(bucket.download(tmp_path / "bucket"), ["The sauna is hot."]).holding


def test_a_bucket_that_refuses_uploads_does_not_keep_forgotten_text_published(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path / "archive", bucket)
    workspace = archive.sync(config)

    def refuse(*_: object) -> None:
        raise ObjectStoreError("these credentials may not do that (AccessDenied)")

    with monkeypatch.context() as refusing:
        refusing.setattr(ObjectStore, "put", refuse)
        refusing.setattr(ObjectStore, "swap", refuse)
        assert forgetting.forget(FORGET, config, yes=True) == 2
    assert "error: these credentials may not do that (AccessDenied)" in capsys.readouterr().out
    assert generations.numbers(workspace.home) == [2]
    assert not answers(config)
    assert not holds(workspace.home)
    assert holds(bucket.download(tmp_path / "before"))
    assert commands.sync(config) == 0
    assert not holds(bucket.download(tmp_path / "after"))


def test_a_lake_that_was_not_made_to_its_end_is_not_uploaded(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path / "archive", bucket)
    archive.sync(config)
    before = bucket.versions()

    def fail(*_: object) -> None:
        raise lake.LakeError("the months cannot be made")

    with monkeypatch.context() as failing:
        failing.setattr(publish, "build_searched", fail)
        assert forgetting.forget(FORGET, config, yes=True) == 2
    printed = capsys.readouterr().out
    assert "error: catalog_and_points: the months cannot be made" in printed
    assert f"error: {bucket.url} may still hold what was forgotten, because the lake was not made again" in printed
    assert "holds the files of lake/ alone" not in printed
    assert bucket.versions() == before
    assert commands.sync(config) == 0
    assert not holds(bucket.download(tmp_path / "after"))


def test_a_bucket_that_keeps_a_forgotten_object_is_named(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path / "archive", bucket)
    assert commands.sync(config) == 0
    monkeypatch.setattr("relrag_pipelines.stores.object_store.ObjectStore.delete", lambda *_: None)
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 2
    printed = capsys.readouterr().out
    assert "error: the bucket of the lake: lake/" in printed
    assert "is named by no manifest; run `relrag sync`" in printed
    assert "holds the files of lake/ alone" not in printed
    assert verifying.verify(config) == 1
    monkeypatch.undo()
    archive.do_without_dagster(monkeypatch)


def test_who_lost_the_race_publishes_nothing_and_the_next_sync_goes_on(tmp_path: Path, bucket: Bucket) -> None:
    config = make(tmp_path / "first", bucket)
    workspace = archive.sync(config)
    second = archive.clone(config.parent, tmp_path / "second") / "relrag.toml"
    archive.write_notes(second.parent, {"id": "n3", "text": "The sauna is hot.", "timestamp": "2024-03-01"})
    archive.sync(second)
    archive.write_notes(config.parent, {"id": "n4", "text": "The well is dry.", "timestamp": "2024-04-01"})
    with pytest.raises(lake.LakeError, match="another machine writes the lake"):
        archive.sync(config)
    assert generations.current_number(workspace.home) == 1
    assert commands.sync(config) == 0
    assert generations.current_number(workspace.home) == 2
    with Archive.open(config) as opened:
        assert "The well is dry." in {hit.text for hit in opened.search("is the well dry").hits}
    assert commands.sync(second) == 0
    with Archive.open(second) as opened:
        assert "The sauna is hot." in {hit.text for hit in opened.search("is the sauna hot").hits}
    assert plans.build_plan(archive.workspace(second)).empty


def export_notes(config: Path, *notes: dict[str, str]) -> None:
    """Writes notes beside those of the archive, and exports them as the sensor of folders has the daemon do."""
    archive.write_notes(config.parent, *notes)
    workspace = archive.workspace(config)
    ingest(workspace, workspace.settings.source("notes"))


def launched(config: Path) -> list[tuple[str, bool]]:
    """Does what the daemon launches until the follow-up sensor asks for nothing: (job, whether it succeeded) each."""
    jobs: list[tuple[str, bool]] = []
    with dg.DagsterInstance.ephemeral() as shared:
        while True:
            repository = build_defs(archive.workspace(config)).get_repository_def()
            with dg.build_sensor_context(instance=shared, repository_def=repository) as context:
                requests = repository.get_sensor_def("follow_up").evaluate_tick(context).run_requests
            for request in requests or []:
                run = repository.get_job(str(request.job_name)).execute_in_process(
                    asset_selection=request.asset_selection, tags=request.tags, instance=shared, raise_on_error=False
                )
                jobs.append((run.job_def.name, run.success))
            if not requests or not jobs[-1][1]:
                return jobs


def test_the_daemon_fetches_what_another_machine_wrote_before_it_publishes(tmp_path: Path, bucket: Bucket) -> None:
    first = make(tmp_path / "first", bucket)
    workspace = archive.sync(first)
    second = archive.clone(first.parent, tmp_path / "second") / "relrag.toml"
    archive.write_notes(second.parent, {"id": "n3", "text": "The sauna is hot.", "timestamp": "2024-03-01"})
    archive.sync(second)
    assert launched(first) == [], "what others wrote waits for the night, or for a change here"
    well = {"id": "n4", "text": "The well is dry.", "timestamp": "2024-04-01"}
    export_notes(first, well)
    jobs = launched(first)
    assert [jobs[0], jobs[-1]] == [("fetch", True), ("publish", True)]
    assert [job for job, _ in jobs[1:-1]] == ["sync"] * len(jobs[1:-1])
    assert generations.current_number(workspace.home) == 2
    assert stored(bucket) == set(hashes(workspace.home).values())
    with Archive.open(first) as opened:
        assert "The well is dry." in {hit.text for hit in opened.search("is the well dry").hits}
    export_notes(first, well, {"id": "n5", "text": "The roof leaks.", "timestamp": "2024-05-01"})
    assert "fetch" not in dict(launched(first))


def test_the_daemon_forgets_what_another_machine_forgot(tmp_path: Path, bucket: Bucket) -> None:
    first = make(tmp_path / "first", bucket)
    assert commands.sync(first) == 0
    second = archive.clone(first.parent, tmp_path / "second") / "relrag.toml"
    assert forgetting.forget(FORGET, first, yes=True) == 0
    assert answers(second)
    export_notes(second, {"id": "n3", "text": "The sauna is hot.", "timestamp": "2024-03-01"})
    jobs = launched(second)
    assert [jobs[0], jobs[-1]] == [("fetch", True), ("publish", True)]
    assert not answers(second)
    assert not holds(archive.home(second.parent))


def test_the_schedule_fetches_every_night(tmp_path: Path, bucket: Bucket) -> None:
    repository = build_defs(archive.workspace(make(tmp_path / "archive", bucket))).get_repository_def()
    with dg.build_schedule_context(repository_def=repository) as context:
        (request,) = repository.get_schedule_def("nightly").evaluate_tick(context).run_requests or []
    assert dg.AssetKey("fetched_lake") in (request.asset_selection or [])


def test_a_bucket_out_of_reach_stops_a_sync_and_a_forget_before_they_change_anything(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make(tmp_path / "archive", bucket)
    workspace = archive.sync(config)
    before = archive.contents(workspace.home / "private" / "records")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    for call in (
        commands.sync,
        lambda config: forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True),
    ):
        with pytest.raises(ObjectStoreError, match="the server cannot be reached"):
            call(config)
    assert archive.contents(workspace.home / "private" / "records") == before
    problems = [finding for finding in doctoring.examine(config) if finding.what == "lake"]
    assert [problem.level for problem in problems] == ["problem"]
    assert verifying.verify(config) == 1


def test_what_the_bucket_lacks_is_named_and_uploaded_again(
    tmp_path: Path, bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path / "archive", bucket)
    archive.sync(config)
    (key,) = [key for key in bucket.object_keys() if "/records/notes/2024-02-" in key]
    bucket.client.delete_object(Bucket=bucket.name, Key=key)
    assert verifying.verify(config) == 1
    assert f"s3://{bucket.name}/{key} is missing" in capsys.readouterr().out
    assert verifying.verify(config, repair=True) == 0
    assert key in bucket.object_keys()


def test_doctor_names_the_bucket_and_its_older_versions(tmp_path: Path, server: S3Server) -> None:
    versioned = server.bucket(versioned=True)
    config = make(tmp_path / "archive", versioned)
    archive.sync(config)
    count = len(versioned.object_keys())
    (fine,) = [finding for finding in doctoring.examine(config) if finding.what == "lake"]
    assert (fine.level, fine.finding) == ("ok", f"{count} objects in {versioned.url}")
    versioned.put(versioned.object_keys()[0], b"again")
    _, old = [finding for finding in doctoring.examine(config) if finding.what == "lake"]
    assert old.level == "warning"
    assert old.finding.startswith("the bucket keeps 1 older version; `relrag sync` deletes them")
