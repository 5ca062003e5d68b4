"""Links that log in: who can make them, and where they are shown."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stores import inventory
from relrag_pipelines.ui import login
from relrag_pipelines.ui.login import Login
from relrag_query.cli.commands import ui
from tests import archive


def token(link: str | None) -> str:
    assert link
    address, _, token = link.partition("/login?token=")
    assert address == "http://127.0.0.1:3000"
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


def test_a_new_start_ends_links_and_sessions(tmp_path: Path) -> None:
    with login.open_session(tmp_path, 3000, "http://127.0.0.1:3000") as server:
        link, session = token(login.link(tmp_path, 3000)), server.enter(token(login.link(tmp_path, 3000)))
    with login.open_session(tmp_path, 3000, "http://127.0.0.1:3000") as server:
        assert server.enter(link) is None
        assert not server.knows(session or "")


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
    now += 7 * 24 * 3600 - 2
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
    tell = ui._teller(tmp_path, 3000, False)
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
