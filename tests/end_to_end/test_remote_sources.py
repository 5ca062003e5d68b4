"""Sources on servers: mirrored, read, followed through deletions, interruptions and erasure."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.sources.paperless import server as paperless_server
from relrag_pipelines.sources.remote import FetchError, Mirror, Server, secrets
from relrag_pipelines.sources.remote.http_client import HttpClient, Limits
from relrag_pipelines.sources.remote.secrets import SecretError
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lake, unit_state
from relrag_query.archive import Archive
from relrag_query.cli.commands import doctor
from relrag_query.cli.commands.forget import forget, undo
from relrag_query.cli.commands.plan import plan
from relrag_query.cli.commands.sync import sync
from relrag_query.cli.exit_codes import COULD_NOT
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.cases import cases
from tests.remote_servers import TOKEN, Answer, HttpServer, Paperless, Request, serve

CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_redaction_enabled = true
embedder = "none"

[[sources]]
name = "papers"
kind = "paperless"
url = "{url}"
"""


@pytest.fixture
def paperless() -> Paperless:
    held = Paperless()
    held.add(1, "The boiler was serviced by Ota Novak.", "2024-02-06T10:00:00Z")
    held.add(2, "The orangery must not be heated.", "2024-02-07T10:00:00Z", tags=[3, 4])
    held.add(3, "The sledge is in the cellar of Dana Levi.", "2024-02-08T10:00:00Z")
    return held


@pytest.fixture
def server(paperless: Paperless) -> Iterator[HttpServer]:
    with serve(paperless.respond) as running:
        yield running


@pytest.fixture
def config(tmp_path: Path, server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(HttpClient, "_pause", lambda *_: 0.0)
    path = tmp_path / "relrag.toml"
    path.write_text(CONFIG.format(url=server.url))
    secret = secrets.file_of(tmp_path / "test.keys", "test", "papers")
    secrets.write_secret(secret, TOKEN)
    return path


def export(config: Path, *, full: bool = False) -> None:
    made = archive.workspace(config)
    ingest(made, made.settings.source("papers"), full=full, accept_deletions=True)


def texts(config: Path) -> dict[str, str]:
    """The private records by id."""
    home = archive.workspace(config).home
    rows: dict[str, str] = {}
    for month in lake.manifest(home, "private_records", "papers"):
        table = lake.read(home, "private_records", "papers", month, ["asset_id", "text"])
        rows |= dict(zip(table["asset_id"].to_pylist(), table["text"].to_pylist(), strict=True))
    return rows


def files(config: Path) -> list[str]:
    """The names of the mirrored files."""
    return sorted(path.name for path in (archive.home(config.parent) / "private/mirror/papers/items").iterdir())


def test_a_server_is_mirrored_and_read(config: Path, server: HttpServer) -> None:
    export(config)
    assert {name: text.split("\n")[0] for name, text in texts(config).items()} == {
        "paperless:1": "The boiler was serviced by Ota Novak.",
        "paperless:2": "The orangery must not be heated.",
        "paperless:3": "The sledge is in the cellar of Dana Levi.",
    }
    assert "Document type: Invoice\nTags: home, 2024" in texts(config)["paperless:2"]
    mirrored = archive.home(config.parent) / "private" / "mirror"
    assert all(path.stat().st_mode & 0o077 == 0 for path in mirrored.rglob("*"))


def test_a_second_fetch_downloads_nothing(config: Path, server: HttpServer) -> None:
    export(config)
    server.requests.clear()
    export(config)
    assert not [path for path in server.paths() if path.endswith(("/metadata/", "/download/"))]
    assert plans.build_plan(archive.workspace(config)).exports == []


@pytest.mark.requirement("S0-112")
def test_changes_and_deletions_are_followed(config: Path, server: HttpServer, paperless: Paperless) -> None:
    export(config)
    paperless.add(2, "The orangery may be heated now.", "2024-03-01T08:00:00Z")
    paperless.delete(3)
    paperless.add(4, "A new lamp.", "2024-03-01T08:00:00Z")
    export(config)
    assert {name: text.split("\n")[0] for name, text in texts(config).items()} == {
        "paperless:1": "The boiler was serviced by Ota Novak.",
        "paperless:2": "The orangery may be heated now.",
        "paperless:4": "A new lamp.",
    }
    assert len(files(config)) == 6


def test_an_id_that_is_given_again_is_another_document(config: Path, paperless: Paperless) -> None:
    export(config)
    before = files(config)
    paperless.add(3, "Something else altogether.", "2024-02-08T10:00:00Z")  # with the same time
    paperless.documents[3]["modified"] = "2024-02-08T10:00:01Z"
    export(config)
    assert texts(config)["paperless:3"].startswith("Something else")
    assert len(set(before) - set(files(config))) == 2


def test_a_renamed_correspondent_is_read_again(config: Path, paperless: Paperless) -> None:
    export(config)
    paperless.names["tags"][3]["name"] = "household"
    export(config)
    assert "Tags: household" in texts(config)["paperless:1"]


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ([Answer(status=500)] * 9, "answered 500"),
        ([Answer({"detail": "no"}, status=401)] * 9, "does not accept the secret (401)"),
        ([Answer(status=429, headers={"Retry-After": "9000"})], "asks to wait 9,000 s"),
        ([Answer(status=302, headers={"Location": "http://evil.invalid/"})], "to another address, http://evil.invalid"),
        ([Answer(b'{"results": [', cut=5)] * 9, "broke off its answer"),
        ([Answer(b"<html>")] * 9, "not JSON"),
        ([Answer({"hello": 1})] * 9, "does not answer like Paperless-ngx"),
        ([Answer(status=406)] * 2, "speaks neither version 10 nor 9"),
    ],
)
def test_a_failed_fetch_deletes_nothing(
    config: Path, server: HttpServer, faults: list[Answer], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    export(config)
    before = texts(config)
    server.faults = list(faults)
    with pytest.raises(FetchError) as raised:
        export(config)
    assert says in str(raised.value)
    assert texts(config) == before
    home = archive.workspace(config).home
    (failure,) = unit_state.load_failures(home, "papers")
    assert (failure.fault, failure.message) == ("server", str(raised.value))
    assert TOKEN not in str(raised.value) + caplog.text
    server.faults = []
    export(config)
    assert unit_state.load_failures(home, "papers") == []


@pytest.mark.parametrize(*cases(__file__, "an_odd_answer_removes_nothing"))
def test_an_odd_answer_removes_nothing(config: Path, paperless: Paperless, path: str, body: object, says: str) -> None:
    export(config)
    before = texts(config)
    real, paperless_page = paperless.respond, Answer(body)

    def respond(request: Request) -> Answer:
        is_document = path == "/documents/" and request.path.startswith("/api/documents/1/")
        if request.path.endswith(f"/api{path}") and request.query["page_size"] != "1":
            return paperless_page
        return Answer(None) if is_document else real(request)

    with serve(respond) as odd:
        config.write_text(CONFIG.format(url=odd.url))
        with pytest.raises(FetchError) as raised:
            export(config)
    assert says in str(raised.value)
    assert texts(config) == before
    assert len(files(config)) == 6


@pytest.mark.parametrize("modified", [None, "", "yesterday", 5, "2024-13-01"])
def test_a_document_without_a_time_is_read(config: Path, paperless: Paperless, modified: object) -> None:
    real = paperless.respond

    def respond(request: Request) -> Answer:
        answer = real(request)
        rows = json.loads(answer.bytes()) if isinstance(answer.body, dict) else {}
        for row in rows.get("results", [rows]):
            row |= {"modified": modified} if row.get("id") == 2 and "modified" in row else {}
        return Answer(rows or answer.body, answer.status)

    with serve(respond) as odd:
        config.write_text(CONFIG.format(url=odd.url))
        export(config)
        export(config)
    assert len(texts(config)) == 3


@pytest.mark.parametrize("announced", [True, False])
def test_a_file_that_is_too_large_is_a_failure(
    config: Path, paperless: Paperless, server: HttpServer, announced: bool
) -> None:
    paperless.add(4, "A long roll of paper.", "2024-02-09T10:00:00Z", original=b"x" * 3000)
    if not announced:
        real = paperless._metadata
        paperless._metadata = lambda *told: {**real(*told), "original_size": None}  # type: ignore[method-assign]
    config.write_text(
        CONFIG.format(url=server.url).replace('embedder = "none"', 'embedder = "none"\nunit_max_bytes = 2000')
    )
    export(config)
    assert texts(config)["paperless:4"].startswith("A long roll of paper.")
    (failure,) = unit_state.load_failures(archive.workspace(config).home, "papers")
    assert failure.unit.startswith("4-")
    assert "the original file has more than 2,000 bytes: raise unit_max_bytes" in failure.message
    server.requests.clear()
    export(config)
    assert not [path for path in server.paths() if path.endswith("/download/")]
    assert len(unit_state.load_failures(archive.workspace(config).home, "papers")) == 1
    config.write_text(CONFIG.format(url=server.url))
    export(config)
    assert unit_state.load_failures(archive.workspace(config).home, "papers") == []


def test_a_file_that_is_missing_from_the_mirror_is_fetched_again(config: Path) -> None:
    export(config)
    before = files(config)
    for path in (archive.home(config.parent) / "private/mirror/papers/items").glob("*.original.*"):
        path.unlink()
    export(config)
    assert files(config) == before


def test_a_file_that_the_server_lacks_is_a_failure(config: Path, paperless: Paperless) -> None:
    real = paperless._document

    def lacks(number: int, rest: list[str], request: Request) -> Answer:
        return Answer(status=404) if (number, rest) == (2, ["download"]) else real(number, rest, request)

    paperless._document = lacks  # type: ignore[method-assign]
    export(config)
    assert len(texts(config)) == 3
    (failure,) = unit_state.load_failures(archive.workspace(config).home, "papers")
    assert "is not on the server" in failure.message


def test_a_stall_is_bounded(server: HttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpClient, "_pause", lambda *_: 0.0)
    server.faults = [Answer({}, stall=0.4)] * 9
    mirror = Mirror(tmp_path / "mirror", str, ".json")
    with pytest.raises(FetchError, match=r"did not answer within 0\.1 s"):
        paperless_server.fetch(
            Server(server.url, "", lambda: TOKEN, "the secret"), mirror, Limits(silence=0.1, tries=2)
        )


def test_an_interrupted_fetch_continues(config: Path, server: HttpServer, paperless: Paperless) -> None:
    real, downloads = paperless.respond, 0

    def break_down(request: object) -> Answer:
        nonlocal downloads
        downloads += request.path.endswith("/download/")  # type: ignore[attr-defined]
        return Answer(status=500) if downloads > 1 else real(request)  # type: ignore[arg-type]

    paperless.respond = break_down  # type: ignore[method-assign]
    with serve(lambda request: paperless.respond(request)) as broken:
        config.write_text(CONFIG.format(url=broken.url))
        with pytest.raises(FetchError, match="answered 500"):
            export(config)
        assert sorted(texts(config)) == ["paperless:1"], "what was fetched is read"
        paperless.respond = real  # type: ignore[method-assign]
        broken.requests.clear()
        export(config)
        assert sum(path.endswith("/download/") for path in broken.paths()) == 2
    assert sorted(texts(config)) == ["paperless:1", "paperless:2", "paperless:3"]


def test_a_file_that_came_damaged_is_not_stored(config: Path, paperless: Paperless) -> None:
    real = paperless._metadata
    paperless._metadata = lambda *told: {**real(*told), "original_checksum": "0" * 32}  # type: ignore[method-assign]
    with pytest.raises(FetchError, match="does not have the checksum"):
        export(config)
    assert not [name for name in files(config) if "original" in name]


def test_a_mirror_that_is_gone_deletes_nothing(config: Path, server: HttpServer) -> None:
    export(config)
    made = archive.workspace(config)
    shutil.rmtree(made.home / "private" / "mirror")
    assert "is gone" in plans.build_plan(archive.workspace(config)).problems[0]
    export(config)
    assert len(texts(config)) == 3


@pytest.mark.parametrize(("mode", "says"), [(0o644, "can be read by others"), (0o640, "chmod 600")])
def test_an_open_secret_is_refused(config: Path, mode: int, says: str) -> None:
    secrets.file_of(config.parent / "test.keys", "test", "papers").chmod(mode)
    with pytest.raises(SecretError, match=says):
        export(config)


def test_the_plan_names_the_server(config: Path, server: HttpServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(config) == 0
    assert f"papers: ask {server.url.removeprefix('http://')} for changes" in capsys.readouterr().out
    assert server.requests == [], "only a sync asks it"


def test_sync_goes_on_after_a_failed_fetch(
    config: Path, server: HttpServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sync(config) == 0
    assert sync(config) == 0
    server.faults = [Answer({"detail": "no"}, status=401)] * 9
    assert sync(config) == COULD_NOT
    said = capsys.readouterr()
    assert "does not accept the secret (401); check RELRAG_SECRET_PAPERS in the environment" in said.out
    assert TOKEN not in said.out + said.err
    home = archive.home(config.parent)
    assert byte_search.search(home, [TOKEN]).holding == {}
    assert secrets.file_of(config.parent / "test.keys", "test", "papers").stat().st_mode & 0o777 == 0o600
    assert Archive.open(config).search("who serviced the boiler").hits[0].chunk.asset_id == "paperless:1"


def test_what_is_forgotten_is_not_fetched_again(config: Path, paperless: Paperless) -> None:
    archive.sync(config)
    home = archive.home(config.parent)
    assert forget(ForgetRequest(refs=["paperless:3"]), config, yes=True) == 0
    paperless.documents[3]["modified"] = "2024-05-01T00:00:00Z"
    for full in (False, True):
        export(config, full=full)
        assert byte_search.search(home, ["The sledge is in the cellar"]).holding == {}
        assert sorted(texts(config)) == ["paperless:1", "paperless:2"]
    assert undo(1, config) == 0
    export(config)
    assert sorted(texts(config)) == ["paperless:1", "paperless:2", "paperless:3"]


def test_a_new_document_that_tells_of_somebody_forgotten_leaves_no_raw_copy(config: Path, paperless: Paperless) -> None:
    archive.sync(config)
    home = archive.home(config.parent)
    assert forget(ForgetRequest(person="Dana Levi"), config, yes=True) in (0, 2)
    assert byte_search.search(home, ["of Dana Levi"]).holding == {}
    paperless.add(7, "Dana Levi pays for the boat.", "2024-06-01T00:00:00Z")
    for _ in range(2):
        export(config)
        assert byte_search.search(home, ["Dana Levi"], ["Dana Levi"]).holding == {}


def test_the_doctor_checks_the_secret_and_asks_nobody(config: Path, server: HttpServer) -> None:
    found = {one.what: one for one in doctor._sources(archive.workspace(config).settings)}["source papers"]
    assert (found.level, server.requests) == ("ok", [])
    secrets.file_of(config.parent / "test.keys", "test", "papers").chmod(0o604)
    found = {one.what: one for one in doctor._sources(archive.workspace(config).settings)}["source papers"]
    assert "can be read by others; run: chmod 600" in str(found)
