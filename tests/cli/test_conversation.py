"""The last questions, kept for the next one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.stores import generations, question_files
from relrag_query.archive import Archive, ArchiveError
from relrag_query.cli import conversation
from relrag_query.cli.commands.ask import SearchOptions, ask
from relrag_query.cli.commands.show import show
from relrag_query.results import Answer, CitedSource
from tests.query_hits import publish, record


def test_nothing_is_kept_of_a_generation_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "private").mkdir()
    numbers = [3]
    monkeypatch.setattr(generations, "current_number", lambda home: numbers.pop(0) if len(numbers) > 1 else numbers[0])
    answer = Answer("who?", "none", [], [], [], "", [], [], None, [])
    conversation.keep(tmp_path, answer, [], 3)
    assert conversation.load(tmp_path).questions == ["who?"]
    question_files.drop(tmp_path)
    conversation.keep(tmp_path, answer, [], 2)
    assert conversation.load(tmp_path).questions == []
    numbers[:] = [3, 4]  # published between the look and the writing
    conversation.keep(tmp_path, answer, [], 3)
    assert conversation.load(tmp_path).questions == []


@pytest.mark.requirement("S4-16")
def test_sources_are_kept_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["gmail:b", "gmail:c", "gmail:a"]
    config = publish(tmp_path, [record(name, "The boiler.") for name in names])
    (tmp_path / ".relrag" / "private").mkdir(exist_ok=True)
    with Archive.open(config) as archive:
        hits = {hit.chunk.asset_id: hit for hit in archive.search("boiler").hits}
    sources = [CitedSource(number, hits[name]) for number, name in enumerate(names, 1)]
    answer = Answer("who?", "sure", [], sources, [], "", [], [], None, [])
    conversation.keep(tmp_path / ".relrag", answer, [], 1)
    assert conversation.load(tmp_path / ".relrag").sources == names


@pytest.mark.requirement("S4-16")
def test_what_is_kept_and_sent_are_the_sources_that_were_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bulk = {"subject": "Boiler weekly", "extra": {"bulk": "unsubscribe"}}
    records = [
        record("gmail:1", "The boiler was repaired.", from_="Eva", rag_source_type="email"),
        record("gmail:2", "A boiler, a boiler, a boiler for all.", rag_source_type="email", **bulk),
    ]
    config = publish(tmp_path, records)
    (tmp_path / ".relrag" / "private").mkdir(exist_ok=True)
    with Archive.open(config) as archive:
        assert len(archive.search("Was the boiler repaired?").hits) == 2, "the filter has something to leave out"
    assert ask("Was the boiler repaired?", SearchOptions(), config, as_json=True) == 0
    assert [one["asset_id"] for one in json.loads(capsys.readouterr().out)["sources"]] == ["gmail:1"]
    assert conversation.load(tmp_path / ".relrag").sources == ["gmail:1"]
    assert show("1", config) == 0
    assert "The boiler was repaired." in capsys.readouterr().out
    with pytest.raises(ArchiveError, match="2"):
        show("2", config)
