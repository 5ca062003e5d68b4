"""relrag.toml is changed as a person would, with its comments."""

from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError, config_editor, template

TOML = """\
# mine
archive = "test"  # a name

# who may write
# web_writes_enabled = false

[[sources]]
name = "chat"  # family
kind = "whatsapp"
path = "chats"

# any source may also have:
# retain = false

[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "relrag.toml"
    file.write_text(TOML)
    file.chmod(0o640)
    return file


def test_a_value_takes_the_place_of_its_commented_default(config: Path) -> None:
    config_editor.set_values(config, {"web_writes_enabled": True, "owner": 'Dana "D" Levi', "archive": "other"})
    text = config.read_text()
    assert '# who may write\nweb_writes_enabled = true\nowner = "Dana \\"D\\" Levi"\n\n[[sources]]' in text
    assert 'archive = "other"  # a name' in text
    settings = settings_module.load(config, {})
    assert (settings.web_writes_enabled, settings.owner, settings.archive) == (True, 'Dana "D" Levi', "other")
    assert config.stat().st_mode & 0o777 == 0o640
    config_editor.set_values(config, {"web_writes_enabled": False})
    assert config.read_text() == text.replace("web_writes_enabled = true", "web_writes_enabled = false")


def test_sources_are_added_changed_and_removed_and_all_else_stays(config: Path) -> None:
    config_editor.add_source(config, {"name": "mail", "kind": "gmail", "path": "pošta", "exclude": ["a", "b*"]})
    added = '\n\n[[sources]]\nname = "mail"\nkind = "gmail"\npath = "pošta"\nexclude = ["a", "b*"]\n'
    assert config.read_text() == TOML.rstrip() + added
    config_editor.set_source_option(config, "chat", "paused", True)
    assert [source.paused for source in settings_module.load(config, {}).sources] == [True, False, False]
    assert 'name = "chat"  # family' in config.read_text()
    for name in ("chat", "mail", "notes"):
        config_editor.remove_source(config, name)
    assert settings_module.load(config, {}).sources == []
    assert '# mine\narchive = "test"  # a name' in config.read_text()
    config_editor.add_source(config, {"name": "notes", "kind": "jsonl", "path": "n"})
    assert [source.name for source in settings_module.load(config, {}).sources] == ["notes"]


def test_what_init_writes_can_be_changed(tmp_path: Path) -> None:
    config = tmp_path / "relrag.toml"
    config.write_text(template("test", [], {"timezone": "Europe/Prague"}))
    before = config.read_text()
    config_editor.set_values(config, {"web_writes_enabled": True})
    assert config.read_text() == before.replace("# web_writes_enabled = false", "web_writes_enabled = true")
    config_editor.add_source(config, {"name": "notes", "kind": "jsonl", "path": "n"})
    assert settings_module.load(config, {}).web_writes_enabled


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"sources": []}, "no simple setting"),
        ({"colour": "red"}, "no simple setting"),
        ({"upload_max_bytes": 0}, "upload_max_bytes"),
    ],
)
def test_a_wrong_value_leaves_the_file_as_it_is(config: Path, values: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        config_editor.set_values(config, values)
    assert config.read_text() == TOML
    assert [path.name for path in config.parent.iterdir()] == ["relrag.toml"]


@pytest.mark.parametrize("change", ["add", "option", "remove"])
def test_a_wrong_source_leaves_the_file_as_it_is(config: Path, change: str) -> None:
    with pytest.raises(SettingsError):
        if change == "add":
            config_editor.add_source(config, {"name": "notes", "kind": "jsonl", "path": "x"})
        elif change == "option":
            config_editor.set_source_option(config, "nobody", "paused", True)
        else:
            config_editor.remove_source(config, "nobody")
    assert config.read_text() == TOML
