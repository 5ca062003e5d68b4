"""Sources are added, paused and removed in relrag.toml, and syncs do as it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stages import plan as plans
from relrag_query.owner import sources
from relrag_query.service import Service
from tests import archive


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service.open(archive.make(tmp_path, "web_writes_enabled = true  # yes")) as opened:
        yield opened


def test_a_folder_is_added_once_under_a_name_that_is_free(tmp_path: Path) -> None:
    home = tmp_path / "archive"
    home.mkdir()
    exports = tmp_path / "exports"
    (exports / "papers").mkdir(parents=True)
    (exports / "papers" / "will.md").write_text("# Will\n\nThe orangery goes to Dana.\n")
    config = archive.make(home, f'web_writes_enabled = true  # yes\nbrowse_roots = ["{exports}"]')
    with Service.open(config) as service:
        added = sources.add(service, str(exports), ["papers"], "Petr Kolar")
        assert (added.added, added.sources[-1]) == (["papers_2"], "papers_2")
        assert sources.add(service, str(exports), ["papers"], "Somebody").added == [], "it is there already"
        with pytest.raises(SettingsError, match="look into it again"):
            sources.add(service, str(exports), ["mail"])
    settings = settings_module.load(config, {})
    assert settings.owner == "Petr Kolar"
    assert settings.source_path(settings.source("papers_2")) == exports / "papers"
    assert "web_writes_enabled = true  # yes" in config.read_text()


def test_a_paused_source_keeps_its_records_and_is_not_read(service: Service, tmp_path: Path) -> None:
    config = service.config
    assert config
    archive.first_sync(config)
    sources.pause(service, "notes", paused=True)
    archive.write_notes(tmp_path, {"id": "n3", "text": "The plumber came.", "timestamp": "2024-06-20T08:00:00Z"})
    assert plans.build_plan(archive.workspace(config)).empty
    (tmp_path / "notes.jsonl").unlink()
    assert plans.build_plan(archive.workspace(config)).empty, "a missing file is no deletion, and no problem"
    with service.reading() as opened:
        assert opened.record("jsonl:notes:n1")
    archive.write_notes(tmp_path, {"id": "n3", "text": "The plumber came.", "timestamp": "2024-06-20T08:00:00Z"})
    sources.pause(service, "notes", paused=False)
    assert [export.source for export in plans.build_plan(archive.workspace(config)).exports] == ["notes"]


def test_an_unknown_source_is_named_and_nothing_changes(service: Service) -> None:
    config = service.config
    assert config
    before = config.read_text()
    for change in (lambda: sources.pause(service, "nobody", paused=True), lambda: sources.remove(service, "nobody")):
        with pytest.raises(SettingsError, match="chat, papers, notes"):
            change()
    assert config.read_text() == before
    assert not (service.settings.home_path / "private" / "journal.jsonl").exists()
