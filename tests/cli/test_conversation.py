"""The last questions, kept for the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.stores import generations
from relrag_query.cli import conversation
from relrag_query.results import Answer


def test_nothing_is_kept_of_a_generation_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "private").mkdir()
    numbers = [3]
    monkeypatch.setattr(generations, "current_number", lambda home: numbers.pop(0) if len(numbers) > 1 else numbers[0])
    answer = Answer("who?", "none", [], [], [], "", [], [], None, [])
    conversation.keep(tmp_path, answer, [], 3)
    assert conversation.load(tmp_path).questions == ["who?"]
    conversation.drop(tmp_path)
    conversation.keep(tmp_path, answer, [], 2)
    assert conversation.load(tmp_path).questions == []
    numbers[:] = [3, 4]  # published between the look and the writing
    conversation.keep(tmp_path, answer, [], 3)
    assert conversation.load(tmp_path).questions == []
