"""Texts of GraphRAG indexes by the policies of now: of older ones of ours, and of those from elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.settings import Settings
from relrag_query.graphrag import collections, service
from relrag_query.service import Service
from tests import agile_index, archive

PHONE, QUESTION = "052-123-4567", "I do, call me"
OFF, ON = "pii_redaction_enabled = false", "pii_redaction_enabled = true"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexed when nothing was hidden."""
    made = archive.make(tmp_path_factory.mktemp("plain"), '[graphrag]\nmethod = "fast"')
    made.write_text(made.read_text().replace(ON, OFF))
    archive.first_sync(made)
    return made


@pytest.fixture
def config(plain: Path, tmp_path: Path) -> Path:
    archive.clone(plain.parent, tmp_path / "copy")
    return tmp_path / "copy" / plain.name


def hide(config: Path) -> Settings:
    """From now on no number is to be seen."""
    config.write_text(config.read_text().replace(OFF, ON))
    return archive.workspace(config).settings


def index_text(settings: Settings, name: str = "archive") -> str:
    """All that an index says of itself."""
    _, index = collections.load(settings, name)
    return "".join(table.to_json() for key, table in index.tables.items() if key != "vocabulary")


@pytest.mark.requirement("S0-76")
def test_an_index_of_older_policies_is_redacted_as_it_is_opened(config: Path) -> None:
    assert PHONE in index_text(archive.workspace(config).settings)
    settings = hide(config)
    assert PHONE not in index_text(settings)
    found = service.query(settings, "archive", QUESTION, "basic")
    assert any("call me on <PHONE_NUMBER>" in one.quote for one in found.trace.sources)
    assert PHONE not in str(found)


def test_after_the_next_sync_it_is_read_as_it_stands(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = hide(config)
    archive.sync(config)
    monkeypatch.setattr(collections, "Workspace", lambda settings: archive.workspace(config))
    monkeypatch.setattr("relrag_query.graphrag.redacted_index.redact", lambda *_, **__: pytest.fail("once more"))
    assert PHONE not in index_text(settings)


@pytest.mark.parametrize("redaction", [OFF, ON])
def test_one_from_elsewhere_is_redacted_where_redaction_is_on(config: Path, tmp_path: Path, redaction: str) -> None:
    config.write_text(config.read_text().replace(OFF, redaction))
    settings = archive.workspace(config).settings
    folder = agile_index.write(tmp_path / "agile")
    spoil(folder)
    collections.add(settings, "agile", folder)
    assert (PHONE in index_text(settings, "agile")) == (redaction == OFF)
    with Service.open(config, folder) as opened:
        said = opened.graphs.trace("Call them. [Data: Sources (0)]").model_dump_json()
    assert (PHONE in said) == (redaction == OFF)


def spoil(folder: Path) -> None:
    """Writes a number into the first text unit of an index."""
    import pandas as pd

    table: Any = pd.read_parquet(folder / "text_units.parquet")
    table["text"] = [f"Call them on {PHONE}. {text}" for text in table["text"]]
    table.to_parquet(folder / "text_units.parquet")
