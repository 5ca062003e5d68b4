"""Settings are changed by a form, all or none, and the file keeps its comments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.settings import SettingsError
from relrag_query.owner import settings_form
from relrag_query.service import Service
from tests import archive
from tests.cases import cases


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service.open(archive.make(tmp_path, 'web_writes_enabled = true  # yes\n# whose\n# owner = ""')) as opened:
        yield opened


def test_what_differs_is_written_and_counts_at_once(service: Service) -> None:
    before = (service.settings.folder / "relrag.toml").read_text()
    values = {field.name: field.value for field in settings_form.fields(service)}
    assert settings_form.change(service, values).changed == []
    changed = settings_form.change(service, {**values, "owner": " Dana Levi ", "pii_preset": "strict"})
    assert changed.changed == ["owner", "pii_preset"]
    assert (service.settings.owner, service.settings.pii_preset) == ("Dana Levi", "strict")
    text = (service.settings.folder / "relrag.toml").read_text()
    assert '# whose\nowner = "Dana Levi"\n' in text
    new = [line for line in text.splitlines() if line not in before.splitlines()]
    assert new == ['owner = "Dana Levi"', 'pii_preset = "strict"']
    noted = journal.statements(service.settings.home_path, PageAction)
    assert noted == [PageAction("settings", "owner, pii_preset")]


def test_choices_are_those_that_are_declared(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELRAG_TIMEZONE", "Asia/Jerusalem")
    fields = {field.name: field for field in settings_form.fields(service)}
    assert fields["answerer"].choices == ["extractive", "local", "openai", "cohere"]
    assert (fields["timezone"].fixed_by, fields["owner"].fixed_by) == ("RELRAG_TIMEZONE", "")


@pytest.mark.parametrize(*cases(__file__, "a_wrong_value_changes_nothing"))
def test_a_wrong_value_changes_nothing(service: Service, values: dict[str, str], said: str) -> None:
    before = (service.settings.folder / "relrag.toml").read_text()
    with pytest.raises(SettingsError, match=said):
        settings_form.change(service, values)
    assert (service.settings.folder / "relrag.toml").read_text() == before


def test_only_a_wrong_value_of_the_form_has_a_code(service: Service) -> None:
    with pytest.raises(SettingsError) as of_form:
        settings_form.change(service, {"timezone": "Europe/Nowhere"})
    assert (of_form.value.code, of_form.value.values) == ("setting_wrong", {"settings": "timezone"})
    file = service.settings.folder / "relrag.toml"
    file.write_text(f"queries_per_minute_of_nobody = 1\n{file.read_text()}")
    with pytest.raises(SettingsError, match="queries_per_minute_of_nobody is not known") as elsewhere:
        settings_form.change(service, {"owner": "Dana"})
    assert elsewhere.value.code == ""
