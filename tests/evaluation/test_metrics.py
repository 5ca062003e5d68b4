"""Measuring an archive against questions whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_query.archive import Archive, ArchiveError
from relrag_query.cli.commands.evaluate import evaluate
from relrag_query.evaluation import metrics
from relrag_query.evaluation.metrics import source_questions
from tests import query_hits

RECORDS = [
    query_hits.record("jsonl:notes:n1", "The boiler was repaired by the plumber", source="notes"),
    query_hits.record("jsonl:notes:n2", "The boiler is new", source="notes"),
    query_hits.record("jsonl:notes:n3", "Nothing is said about heating", source="notes"),
    query_hits.record("jsonl:notes:h0a1b2c3d4e5f6071", "A plumber was called", source="notes"),
]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return query_hits.publish(tmp_path_factory.mktemp("eval"), RECORDS)


def write(path: Path, *questions: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in questions))
    return path


def test_recall_is_the_share_of_the_gold_among_the_first_records(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = write(
        tmp_path / "q.jsonl",
        {"question": "Who repaired the boiler?", "gold": ["n1", "n2"]},
        {"question": "Who repaired the boiler?", "gold": ["notes:n2"]},
        {"question": "plumber", "gold": ["jsonl:notes:n1", "n9"]},
    )
    assert evaluate([questions], "1,2", config, as_json=True) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["recall@1"] == pytest.approx((1 / 2 + 0 + 0) / 3, abs=1e-4)
    assert measured["recall@2"] == pytest.approx((1 + 1 + 1 / 2) / 3, abs=1e-4)
    assert measured["all_gold@8"] == pytest.approx(2 / 3, abs=1e-4)
    assert (measured["questions"], measured["gold_not_in_archive"]) == (3, 1)
    times = measured["latency_ms"]
    assert 0 < times["p50"] <= times["p90"] <= times["p95"] <= times["p99"]


def test_a_record_counts_once_and_a_shown_message_as_itself(tmp_path: Path) -> None:
    long = query_hits.record("jsonl:notes:long", "about the pump", source="notes")
    said = [
        query_hits.record(
            f"whatsapp:c:{number}", text, f"2024-01-01T10:0{number}:00Z", from_="Ota", thread_id="whatsapp:c"
        )
        for number, text in enumerate(["the pump is broken", "hello there", "a pump again"])
    ]
    parts = query_hits.passages(long, ["The pump is in the cellar", "A pump needs oil, the pump"])
    path = query_hits.publish(tmp_path, [long, *said], [*parts, query_hits.window(said)])
    with Archive.open(path) as archive:
        found = metrics.records(archive.search("pump").hits)
    assert sorted(min(names, key=len) for names in found) == ["0", "2", "long"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([0.001], {"p50": 1, "p90": 1, "p95": 1, "p99": 1}),
        ([number / 1000 for number in range(100, 0, -1)], {"p50": 50, "p90": 90, "p95": 95, "p99": 99}),
    ],
)
def test_percentiles(seconds: list[float], expected: dict[str, float]) -> None:
    assert metrics.percentiles(seconds) == expected


def test_sources_that_must_and_must_not_be_shown(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.json"
    one = {
        "name": "boiler",
        "question": "Who repaired the boiler?",
        "sources": [{"source": "notes", "id": "n1"}, {"source": "notes", "id": "n3"}],
        "not_shown": [{"source": "notes", "id": "n3"}, {"source": "mail", "id": "n1"}],
        "answer_has": ["plumber", "electrician"],
    }
    path.write_text(json.dumps({"questions": [one]}))
    assert evaluate([path], config=config, as_json=True) == 0
    measured = json.loads(capsys.readouterr().out)
    assert (measured["source_recall"], measured["source_precision"]) == (0.5, 1.0)
    assert (measured["wrong_sources_shown"], measured["answer_has"]) == (0, 0.5)
    assert evaluate([path], config=config) == 0
    assert "boiler: sources 50%, of those shown 100% right, 0 that must not be; answer 50%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]\n", "q.jsonl, line 1: expected an object with question and gold"),
        ('{"question": "a", "gold": ["b"]}\n{"question": "a"}\n', "q.jsonl, line 2: expected"),
        ("\n", "q.jsonl holds no questions"),
    ],
)
def test_a_file_that_is_no_set_is_named(content: str, said: str, config: Path, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(content)
    with pytest.raises(ArchiveError) as caught:
        evaluate([tmp_path / "q.jsonl"], config=config)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "questions", ["[]", '[{"question": "a", "sources": ["x"]}]', '[{"question": "a", "sources": [{}]}]']
)
def test_a_set_of_sources_that_is_none_is_refused_before_it_is_asked(questions: str, tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text(f'{{"questions": {questions}}}')
    with pytest.raises(ArchiveError, match=r"golden\.json: expected questions"):
        source_questions(tmp_path / "golden.json")


@pytest.mark.parametrize("k", ["", "0", "2;5", "99"])
def test_depths_that_make_no_sense_are_named(k: str, config: Path, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="--k is"):
        evaluate([tmp_path / "q.jsonl"], k, config)


def test_one_set_has_to_be_given(config: Path) -> None:
    with pytest.raises(ArchiveError, match="--corpus-questions"):
        evaluate([], config=config)
