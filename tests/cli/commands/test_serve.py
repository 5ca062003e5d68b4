"""`relrag open` makes an empty archive where there is none, serves it, and opens a browser that is logged in."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.ui import login
from relrag_query.cli.commands import serve
from relrag_query.web import server
from tests import archive


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The links that a browser was sent to; the server ends as soon as it is ready."""
    links: list[str] = []

    def serve_once(site: server.Address, ready: Callable[[], object]) -> None:
        url = f"http://{site.host}:{site.port}"
        with login.open_session(site.settings.home_path, site.port, url, "serve"):
            ready()

    monkeypatch.setattr(server, "serve", serve_once)
    monkeypatch.setattr("webbrowser.open", lambda link: bool(links.append(link)) or True)
    monkeypatch.chdir(tmp_path)
    return links


def test_a_new_archive_is_empty_and_redacts(opened: list[str], tmp_path: Path) -> None:
    assert serve.open_pages(tmp_path / "memory") == 0
    settings = settings_module.load(tmp_path / "memory" / "relrag.toml", {})
    assert (settings.sources, settings.pii_redaction_enabled) == ([], True)
    assert "web_writes_enabled" not in settings.model_fields_set, "the pages ask"
    assert opened[0].startswith("http://127.0.0.1:3100/login?token=")
    before = (tmp_path / "memory" / "relrag.toml").read_bytes()
    assert serve.open_pages(tmp_path / "memory") == 0
    assert (tmp_path / "memory" / "relrag.toml").read_bytes() == before
    assert opened[0] != opened[1], "a link logs in once"


def test_the_nearest_archive_is_opened_and_none_is_made(opened: list[str], tmp_path: Path) -> None:
    archive.make(tmp_path)
    assert serve.open_pages(tmp_path / "memory") == 0
    assert not (tmp_path / "memory").exists()
    assert len(opened) == 1


def test_what_is_served_already_is_opened_only(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = archive.make(tmp_path)
    home = archive.home(tmp_path)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        with login.open_session(home, port, f"http://127.0.0.1:{port}", "serve"):
            monkeypatch.setattr(server, "serve", lambda *_: pytest.fail("a second server"))
            assert serve.open_pages(tmp_path, config, port=port) == 0
    assert opened[0].startswith(f"http://127.0.0.1:{port}/login?token=")


def test_without_a_browser_a_stored_output_holds_no_link(
    opened: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.make(tmp_path)
    assert serve.open_pages(tmp_path, port=3107, browser=False) == 0
    said = capsys.readouterr().out
    assert "relrag serve --login --port 3107" in said
    assert "token=" not in said
    assert opened == []


def test_a_variable_that_names_no_file_is_an_error(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELRAG_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(SettingsError, match="RELRAG_CONFIG"):
        serve.open_pages(tmp_path / "memory")
    assert not (tmp_path / "memory").exists()
