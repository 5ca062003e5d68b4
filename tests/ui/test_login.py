"""Links that log in: who can make them, and where they are shown."""

from __future__ import annotations

import io
import stat
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stores import inventory
from relrag_pipelines.ui import login
from relrag_pipelines.ui.login import Login
from relrag_query.cli.commands import serve as commands
from relrag_query.cli.commands import ui
from tests import archive

OURS = "http://127.0.0.1:3000"


def token(link: str | None) -> str:
    assert link
    address, _, token = link.partition("/login?token=")
    assert address == OURS
    return token


def test_whoever_can_read_the_key_makes_links_while_the_server_runs(tmp_path: Path) -> None:
    with login.open_session(tmp_path, 3000, "http://127.0.0.1:3000") as server:
        first, second = (token(login.link(tmp_path, 3000)) for _ in range(2))
        assert first != second
        session = server.enter(second)
        assert session
        assert server.knows(session)
        assert server.enter(second) is None
        assert not server.knows(first)
        assert server.enter(first)
        assert stat.S_IMODE(login.key_file(tmp_path, 3000).stat().st_mode) == 0o600
        assert login.link(tmp_path, 3001) is None
    assert login.link(tmp_path, 3000) is None
    assert list(tmp_path.iterdir()) == []


def test_without_a_key_of_the_archive_a_new_start_ends_links_and_sessions(tmp_path: Path) -> None:
    with login.open_session(tmp_path, 3000, "http://127.0.0.1:3000") as server:
        link, session = token(login.link(tmp_path, 3000)), server.enter(token(login.link(tmp_path, 3000)))
    with login.open_session(tmp_path, 3000, "http://127.0.0.1:3000") as server:
        assert server.enter(link) is None
        assert not server.knows(session or "")


def test_a_session_outlasts_the_server_and_its_links_do_not(tmp_path: Path) -> None:
    settings = settings_module.load(archive.make(tmp_path), {})

    def serve(server: str = "serve") -> AbstractContextManager[Login]:
        return login.open_session(tmp_path, 3000, OURS, server, login.stored_sessions(settings, server))

    with serve() as first:
        link = token(login.link(tmp_path, 3000, "serve"))
        session = first.enter(token(login.link(tmp_path, 3000, "serve"))) or ""
        assert first.knows(session)
    with serve() as second:
        assert second.knows(session)
        assert second.enter(link) is None
        other = login.open_login(tmp_path, 3000, "serve", login.stored_sessions(settings, "serve"))
        assert other.knows(session)  # in another process of the same server
    with serve("ui") as ui_server:
        assert not ui_server.knows(session)
    path = login.sessions_path(settings)
    assert path == tmp_path / "test.logins"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("revoke", ["log out", "new token", "remove the file"])
def test_all_sessions_can_be_ended_while_the_server_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], revoke: str
) -> None:
    config = archive.make(tmp_path)
    settings = settings_module.load(config, {})
    sessions = [login.stored_sessions(settings, server) for server in ("serve", "ui")]
    former = [one.begin() for one in sessions]
    assert [one.knows(session) for one, session in zip(sessions, former, strict=True)] == [True, True]
    if revoke == "log out":
        assert commands.serve(config, log_out=True) == 0
        assert "All logins have ended" in capsys.readouterr().out
    elif revoke == "new token":
        assert commands.serve(config, new_token=True) == 0
    else:
        login.sessions_path(settings).unlink()
    assert [one.knows(session) for one, session in zip(sessions, former, strict=True)] == [False, False]
    assert not sessions[0].knows(login.ticket(b"", "session serve", 60))
    if revoke != "remove the file":
        assert sessions[0].knows(sessions[0].begin())


@pytest.mark.parametrize(("days", "seconds"), [(30, 30 * 86_400), (1, 86_400), (365, 365 * 86_400)])
def test_the_setting_says_how_long_a_session_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, seconds: int
) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    settings = settings_module.load(archive.make(tmp_path, f"login_days = {days}" if days != 30 else ""), {})
    sessions = login.stored_sessions(settings, "serve")
    session = sessions.begin()
    now += seconds - 1
    assert sessions.knows(session)
    now += 1
    assert not sessions.knows(session)


def test_they_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    server = Login(b"k")
    link, later = (login.ticket(b"k", "link", 3600) for _ in range(2))
    now += 3599
    session = server.enter(link)
    assert session
    now += 1
    assert server.enter(later) is None
    now += 30 * 24 * 3600 - 2
    assert server.knows(session)
    now += 1
    assert not server.knows(session)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("out", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_a_link_is_printed_to_terminals_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: io.StringIO, shown: bool
) -> None:
    """What a container prints is kept."""
    login.key_file(tmp_path, 3000).write_text('{"address": "http://old", "key": "00"}')  # of one that was killed
    tell = ui._address_printer(tmp_path, 3000, False)
    monkeypatch.setattr("sys.stdout", out)
    assert not tell()
    with login.open_session(tmp_path, 3000, "http://127.0.0.1:3000"):
        assert tell()
    assert ("http://127.0.0.1:3000/login?token=" in out.getvalue()) == shown
    assert "relrag ui --login" in out.getvalue()


def test_no_link_without_a_server(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no UI of this archive runs on port 3001; start it with: relrag ui --port"):
        ui.ui(archive.make(tmp_path), port=3001, login=True)


def test_backups_hold_no_key() -> None:
    part = inventory.part("dagster/ui-3000.json")
    assert part
    assert part.origin == "running"
