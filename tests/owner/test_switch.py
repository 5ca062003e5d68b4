"""The pages change nothing until relrag.toml says that they may; what they change is noted first."""

import os
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_query.owner import switch
from relrag_query.owner.switch import OnlyReads
from relrag_query.service import Service
from tests import archive


def test_the_owner_is_asked_once_and_a_no_is_taken_back_in_the_file_alone(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    with Service.open(config) as service:
        assert switch.is_unanswered(service)
        assert not service.writes
        switch.answer(service, allowed=True)
        assert service.writes
        assert not switch.is_unanswered(service)
        switch.answer(service, allowed=False)
        assert not service.writes
        with pytest.raises(OnlyReads, match="web_writes_enabled = true"):
            switch.answer(service, allowed=True)
        assert not settings_module.load(config, {}).web_writes_enabled
        noted = journal.statements(service.settings.home_path, PageAction)
    assert noted == [PageAction("web_writes", "allowed"), PageAction("web_writes", "refused")]


def test_a_change_is_noted_before_it_is_made_and_a_refused_one_is_not(tmp_path: Path) -> None:
    with Service.open(archive.make(tmp_path)) as service:
        with pytest.raises(OnlyReads), switch.changing(service, "pause_source", "chat"):
            pass
        assert not service.settings.home_path.exists()
        switch.answer(service, allowed=True)
        home = service.settings.home_path
        with switch.changing(service, "pause_source", "chat"):
            assert journal.statements(home, PageAction)[-1] == PageAction("pause_source", "chat")


def test_an_archive_of_some_clients_is_never_asked_or_changed(tmp_path: Path) -> None:
    config = archive.make(tmp_path, "web_writes_enabled = true")
    with Service(settings_module.load(config, {}), None, config, ("acme",)) as service:
        assert not switch.is_unanswered(service)
        with pytest.raises(OnlyReads):
            switch.require_writes(service)


def test_the_first_change_makes_the_keys_of_a_new_archive(tmp_path: Path) -> None:
    """Else the file of the journal would be data whose keys are gone."""
    config = archive.make(tmp_path)
    with Service.open(config) as service:
        switch.answer(service, allowed=True)
    archive.sync(config)
    assert os.access(tmp_path / "test.keys", os.R_OK)
