"""The file of a record is opened for its owner alone, and each access is noted first."""

import errno
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from relrag_pipelines.files import regular_files
from relrag_pipelines.settings import SettingsError
from relrag_query.cli.commands.original import original
from relrag_query.owner import originals
from relrag_query.service import Service, UnknownRef
from relrag_query.service.original_file import NoOriginal
from relrag_query.web import owner_pages
from tests import archive
from tests.web_app import BEARER, COOKIE, client

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("originals")
    config = archive.make(folder)
    (folder / "papers" / "page.html").write_text(f"<html><body>The herons of the quay. {SCRIPT}</body></html>")
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def refs(config: Path) -> dict[str, str]:
    with Service.open(config) as service:
        return {what: service.search(what).hits[0].asset_id for what in ("herons", "orangery")}


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def noted(config: Path) -> list[dict[str, str]]:
    path = archive.home(config.parent) / "private" / "reveals.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_file_is_downloaded_and_never_run_and_each_access_is_noted(
    browser: TestClient, config: Path, refs: dict[str, str]
) -> None:
    before = len(noted(config))
    assert (
        f'href="/original?ref={refs["herons"]}"'.replace(":", "%3A")
        in browser.get("/record", params={"ref": refs["herons"]}).text
    )
    assert browser.get("/original", params={"ref": refs["herons"]}).status_code == 200
    assert len(noted(config)) == before, "the page itself shows nothing of it"
    answer = browser.get("/original/file", params={"ref": refs["herons"]})
    assert SCRIPT in answer.text
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "no-store" in answer.headers["cache-control"]
    (entry,) = noted(config)[before:]
    assert (entry["who"], entry["why"]) == ("the owner (page)", originals.WHY)
    browser.get("/original/file", params={"ref": refs["herons"]}, headers={"range": "bytes=10-"})
    assert len(noted(config)) == before + 1, "the parts that a player asks for are one access"


def test_an_access_that_begins_within_the_file_is_noted_once_an_hour(
    config: Path, refs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(noted(config))
    for seconds, expected in ((3_600, 1), (0, 3)):
        monkeypatch.setattr(owner_pages, "_PLAYED_SECONDS", seconds)
        with client(config) as opened:
            headers = {**COOKIE, "range": "bytes=1-"}
            for _ in range(2):
                assert opened.get("/original/file", params={"ref": refs["herons"]}, headers=headers).text
        assert len(noted(config)) == before + expected


def test_nobody_else_has_it(browser: TestClient, config: Path, refs: dict[str, str]) -> None:
    before = len(noted(config))
    path = f"/original/file?ref={refs['herons']}"
    statuses = [
        browser.get(path, headers={**BEARER, "cookie": ""}).status_code,
        browser.get(path, headers={"sec-fetch-site": "same-site"}).status_code,
        browser.get(path, headers={"host": "evil.example"}).status_code,
    ]
    assert statuses == [401, 403, 403]
    assert len(noted(config)) == before


def test_the_command_copies_it_once(
    config: Path, refs: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(noted(config))
    assert original(refs["orangery"], tmp_path, config) == 0
    assert (tmp_path / "lease 2024-01-05.md").read_text() == archive.LEASE
    assert "not redacted" in capsys.readouterr().out
    with pytest.raises(SettingsError, match="is there already"):
        original(refs["orangery"], tmp_path, config)
    assert original(refs["orangery"], tmp_path / "lease.md", config) == 0
    assert len(noted(config)) == before + 2


def test_what_is_gone_changed_or_unknown_is_told(config: Path, refs: dict[str, str], tmp_path: Path) -> None:
    folder = archive.clone(config.parent, tmp_path / "copy")
    lease = folder / "papers" / "lease 2024-01-05.md"
    with Service.open(folder / "relrag.toml") as service:
        with pytest.raises(UnknownRef):
            originals.find(service, "document:none")
        lease.write_text("Another lease.")
        with pytest.raises(NoOriginal, match="has changed"):
            originals.find(service, refs["orangery"])
        lease.unlink()
        lease.symlink_to("/etc/passwd")
        with pytest.raises(NoOriginal, match="no longer where"):
            originals.find(service, refs["orangery"])
    assert noted(folder / "relrag.toml") == noted(config)


def test_an_original_that_cannot_be_read_is_named_and_nothing_is_written(
    config: Path, refs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(regular_files, "open_plain", lambda path: Broken())
    advice = "check its permissions and the disk that it lies on, or export it again"
    with pytest.raises(NoOriginal, match=rf"2024-01-05\.md, cannot be read to its end: Input/output error; {advice}"):
        original(refs["orangery"], tmp_path / "copy.md", config)
    assert list(tmp_path.iterdir()) == []
