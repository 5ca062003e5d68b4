"""Labelled questions: what is shown, how sure, and the shares of it with their intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_query.archive import Archive, ArchiveError
from relrag_query.cli.commands.evaluate import evaluate
from relrag_query.evaluation import answer_sets, question_sets
from relrag_query.evaluation.answer_sets import LabelledQuestion, Outcome
from tests.query_hits import publish, record

BOAT = {"source": "notes", "file": "boats.txt", "text": "The boathouse costs 4,200 crowns"}
FLAT = {"source": "notes", "file": "flat.txt", "text": "The flat costs 9,000 crowns"}
QUESTIONS = [
    {"question": "What does the boathouse cost?", "answerable": True, "evidence": [BOAT], "decoys": [FLAT],
     "answer_has": ["4,200"], "language": "en", "kind": "price"},
    {"question": "What does the boathouse cost?", "answerable": True, "evidence": [BOAT], "decoys": [],
     "answer_has": ["4,300"], "language": "en", "kind": "price"},
    {"question": "Who painted the zeppelin?", "answerable": False, "evidence": [], "decoys": [FLAT], "language": "en"},
]  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Path:
    records = [
        record("document:boats", "The boathouse costs 4,200 crowns a year.", source="notes", source_uri="boats.txt"),
        record("document:flat", "The flat costs 9,000 crowns a month.", source="notes", source_uri="flat.txt"),
    ]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)) + "\n", encoding="utf-8")
    return publish(tmp_path, records)


def test_what_is_shown_of_what_must_be(config: Path) -> None:
    with Archive.open(config) as archive:
        measured = question_sets.measure(archive, config.parent / "set.jsonl")
    told = {name: value["share"] for name, value in measured.items() if isinstance(value, dict) and "share" in value}
    assert told == {
        "shown": 0.5,
        "first": 0.5,
        "source_shown": 1.0,
        "sure": 0.0,
        "wrongly_none": 0.0,
        "unanswerable_not_sure": 1.0,
    }
    assert measured["questions"] == 3
    assert measured["by_kind"]["price"]["shown"]["of"] == 2
    assert question_sets.figures(measured)["shown"] == 0.5


def test_the_interval_is_wilsons() -> None:
    """Eight of ten: 49.0 % to 94.3 %, as in the tables of R's binom.confint(8, 10, method = "wilson")."""
    asked = LabelledQuestion("", True, (), ())
    found = [Outcome(asked, "sure", place < 8, False, False, False) for place in range(10)]
    assert answer_sets.shares(found)["shown"] == {"share": 0.8, "from": 0.4902, "to": 0.9433, "of": 10}


def test_it_is_printed(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate([config.parent / "set.jsonl"], config=config) == 0
    said = capsys.readouterr().out
    assert "questions: 3\nshown: 50.0% of 2 (9% to 91%)\n" in said
    assert "\n  en: shown 50%, first 50%, source shown 100%, sure 0%, " in said


def test_a_line_that_is_no_question_is_named(config: Path) -> None:
    path = config.parent / "set.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + '{"question": "?", "answerable": true, "evidence": [{}]}\n')
    with pytest.raises(ArchiveError, match=r"set\.jsonl, line 4: expected question, answerable, evidence and decoys"):
        answer_sets.labelled_questions(path)
