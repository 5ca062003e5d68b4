"""The groups of rival passages, and the measure over them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tuning.rivals import measure

ASKED = list(measure.questions())


def test_there_are_enough_in_three_languages_and_over_a_third_are_near_misses() -> None:
    assert len(ASKED) == 1381
    assert {one.language for one in ASKED} == {"cs", "en", "he"}
    assert sum(not any(one.answers) for one in ASKED) == 552


def test_every_answer_is_a_passage_of_its_group_and_no_group_stands_twice() -> None:
    groups = [
        json.loads(line)
        for file in sorted(Path(measure.__file__).parent.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert len({group["passages"][0]["text"] for group in groups}) == len(groups) == 242
    for group in groups:
        assert 2 <= len(group["passages"]) <= 5
        assert all(0 <= place < len(group["passages"]) for one in group["questions"] for place in one["answers"])


def test_a_question_has_all_passages_of_its_group(tmp_path: Path) -> None:
    passages = [{"subject": "Dana", "text": "Dana: on Tuesday"}, {"subject": "", "text": "Ota: on Friday"}]
    asked = [{"q": "when does Ota come", "lang": "en", "answers": [1]}, {"q": "why", "lang": "en", "answers": []}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"passages": passages, "questions": asked}), encoding="utf-8")
    first, second = measure.questions(tmp_path)
    assert first.passages == ("Dana\nDana: on Tuesday", "\nOta: on Friday")
    assert (first.answers, second.answers) == ((False, True), (False, False))


def test_the_share_of_pairs_is_the_area_under_the_curve() -> None:
    assert measure._above([2.0, 1.0], [0.0, 1.5]) == pytest.approx(0.75)
