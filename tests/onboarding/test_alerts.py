"""What is sent elsewhere when something is wrong, and what is said where it cannot be sent."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest

from relrag_pipelines.definitions import build_defs
from relrag_pipelines.onboarding import alerts
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores import dagster_runs
from relrag_query.cli.commands import ui
from tests import archive

URLS = 'alert_urls = ["ntfy://example.org/a", "json://example.org/b"]'


class Apprise:
    """A stand-in for Apprise, which takes some addresses and keeps what is sent."""

    sent: list[dict[str, str]] = []  # noqa: RUF012  shared, as the tests look at it

    def add(self, url: str) -> bool:
        return url.split(":")[0] in ("ntfy", "json")

    def notify(self, **message: str) -> bool:
        self.sent.append(message)
        return True


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    module: Any = ModuleType("apprise")
    module.Apprise, module.__spec__ = Apprise, importlib.util.spec_from_loader("apprise", None)
    monkeypatch.setitem(sys.modules, "apprise", module)
    monkeypatch.setattr(Apprise, "sent", [])
    return archive.workspace(archive.make(tmp_path, URLS)).settings


def test_an_alert_names_the_archive(settings: Settings) -> None:
    assert alerts.send(settings, "sync failed", "2 steps failed, of chat.")
    assert Apprise.sent == [{"title": "relrag, archive test: sync failed", "body": "2 steps failed, of chat."}]


def test_without_addresses_nothing_is_sent(settings: Settings) -> None:
    assert alerts.send(settings.model_copy(update={"alert_urls": []}), "sync failed", "")
    assert Apprise.sent == []


def test_an_address_of_no_kind_is_named_by_its_position_alone(settings: Settings) -> None:
    """It holds a password."""
    wrong = settings.model_copy(update={"alert_urls": ["ntfy://a", "nothing://user:secret@b"]})
    with pytest.raises(SettingsError) as refused:
        alerts.check(wrong)
    assert str(refused.value) == "alert_urls: number 2 is no address that Apprise knows"


def test_the_extra_is_named_where_it_is_missing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "apprise")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"install relrag\[alerts\]"):
        alerts.check(settings)


def test_a_failed_run_is_told_without_its_message(settings: Settings) -> None:
    @dg.op
    def broken() -> None:
        raise ValueError("call Dana on 052-123-4567")

    @dg.job(tags={"relrag/source": "chat"})
    def sync() -> None:
        broken()

    defs = build_defs(archive.workspace(settings.folder / "relrag.toml"))
    sensor = defs.get_repository_def().get_sensor_def("failed_runs")
    with dg.DagsterInstance.ephemeral() as shared:
        result = sync.execute_in_process(instance=shared, raise_on_error=False)
        context = dg.build_run_status_sensor_context(
            sensor_name="failed_runs",
            dagster_event=next(event for event in result.all_events if event.event_type_value == "PIPELINE_FAILURE"),
            dagster_instance=shared,
            dagster_run=result.dagster_run,
        ).for_run_failure()
        sensor(context)
    assert Apprise.sent == [
        {
            "title": "relrag, archive test: sync failed",
            "body": "1 steps failed, of chat; `relrag ui` shows why.",
        }
    ]


@pytest.mark.parametrize(
    ("running", "age", "alerts_sent"),
    [([True], 5.0, 0), ([True], None, 0), ([True, True], 700.0, 1), ([False], 5.0, 1)],
)
def test_a_daemon_that_is_dead_or_stuck_is_told_once(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    running: list[bool],
    age: float | None,
    alerts_sent: int,
) -> None:
    monkeypatch.setattr(ui, "_WATCH_SECONDS", 0)
    monkeypatch.setattr(dagster_runs, "heartbeat_age", lambda home: age)
    watch = ui._daemon_watch(settings)
    for state in running:
        watch(state)
    assert len(Apprise.sent) == alerts_sent
