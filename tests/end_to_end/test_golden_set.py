"""The golden set: asked after each publish, told where fewer of its questions are answered, kept as figures only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from relrag_pipelines.assets import evaluation
from relrag_pipelines.maintenance.repair import repair
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.orchestration import runner
from relrag_pipelines.stores import evaluation_history
from relrag_query.cli.commands import evaluate
from relrag_query.cli.commands import sync as commands
from relrag_query.service.archive_status import collect
from tests import archive

QUESTIONS = [
    {"question": "Who quoted for the boiler?", "gold": ["n1"]},
    {"question": "Remember to thank whom?", "gold": ["n2"]},
]


BOILER = [
    {"question": question, "gold": ["n1"]}
    for question in (
        "Who quoted for the boiler?",
        "Who quoted?",
        "What did they quote for the boiler?",
        "Quoted boiler",
        "The quote for a boiler?",
    )
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An archive whose golden set lies beside it."""
    ask(tmp_path, *QUESTIONS)
    return archive.make(tmp_path, 'golden_set = "questions.jsonl"\n')


def ask(folder: Path, *questions: dict[str, Any]) -> None:
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))


def forget_one(folder: Path) -> None:
    """Takes the note away that answers the first question."""
    (folder / "notes.jsonl").write_text(json.dumps(archive.NOTES[1]) + "\n")


def latest_check(config: Path) -> Any:
    """Severity, description and figures of the newest evaluation of the check."""
    key = dg.AssetCheckKey(dg.AssetKey("published_generation"), "golden_set")
    with runner.instance(archive.home(config.parent)) as shared:
        (record,) = shared.event_log_storage.get_asset_check_execution_history(key, limit=1)
    assert record.event
    assert record.event.dagster_event
    found = record.event.dagster_event.asset_check_evaluation_data
    figures = {name: value.value for name, value in found.metadata.items()}
    return found.passed, found.severity, found.description, figures


def test_its_recall_is_metadata_of_what_is_published_and_kept_by_generation(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    home = archive.home(config.parent)
    with runner.instance(home) as shared:
        event = shared.get_latest_materialization_event(dg.AssetKey("published_generation"))
    assert event
    assert event.asset_materialization
    shown = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert (shown["golden/recall@5"], shown["golden/all_gold@8"], shown["golden/questions"]) == (1.0, 1.0, 2)
    assert shown["golden/latency_ms_p50"] > 0
    assert latest_check(config) == (True, dg.AssetCheckSeverity.ERROR, None, {"recall@5": 1.0})
    (kept,) = evaluation_history.load(home)
    assert (kept.generation, kept.embedder, kept.headline) == (1, "", ("recall@5", 1.0))
    assert collect(archive.workspace(config).settings).evaluations == [{"questions": 2, "recall@5": 1.0}]


def test_a_significant_fall_is_warned_of(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One question of two may fare worse by chance; five of six and none better hardly."""
    archive.first_sync(config, dagster=True)
    forget_one(config.parent)
    assert commands.sync(config) == 0
    assert latest_check(config)[::3] == (True, {"recall@5": 0.5, "recall@5 before": 1.0})

    ask(config.parent, *BOILER, QUESTIONS[1])
    archive.write_notes(config.parent)
    assert commands.sync(config) == 0
    forget_one(config.parent)
    capsys.readouterr()
    assert commands.sync(config) == 1
    said = "recall@5 went from 1.0000 (generation 3) to 0.1667: 5 questions fare worse and 0 better (p = 0.031)"
    assert f"warning: published_generation: check golden_set: {said}\n" in capsys.readouterr().out
    figures = {"recall@5": 0.1667, "recall@5 before": 1.0}
    assert latest_check(config) == (False, dg.AssetCheckSeverity.WARN, said, figures)
    kept = [(one.generation, list(one.outcomes)) for one in evaluation_history.load(archive.home(config.parent))]
    assert kept == [(1, [1, 1]), (2, [0, 1]), (3, [1] * 6), (4, [0] * 5 + [1])]


def test_how_surprising_a_fall_must_be_is_a_setting(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    archive.configure(config.parent, 'golden_set = "questions.jsonl"\ngolden_significance = 0.5\n')
    forget_one(config.parent)
    assert commands.sync(config) == 1
    assert latest_check(config)[0] is False


@pytest.mark.parametrize(
    ("worse", "better", "chance"),
    [(0, 0, 1.0), (0, 3, 1.0), (1, 0, 0.5), (5, 0, 1 / 32), (6, 1, 8 / 128), (8, 1, 10 / 512), (4, 4, 163 / 256)],
)
def test_the_probability_of_a_fall_by_chance_is_exact(worse: int, better: int, chance: float) -> None:
    assert evaluation.probability_by_chance(worse, better) == chance


def test_questions_are_compared_each_with_itself() -> None:
    assert evaluation.changes([1, 0.5, 0, 1], [0.5, 0.5, 1, 0]) == (2, 1)
    assert evaluation.changes((), [1, 0]) == (0, 0), "an earlier version kept no outcomes"


def test_other_questions_are_not_compared(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    ask(config.parent, *QUESTIONS, {"question": "What is nowhere?", "gold": ["n9"]})
    archive.write_notes(config.parent, {"id": "n3", "text": "Rain.", "timestamp": "2024-02-21T08:00:00Z"})
    assert commands.sync(config) == 0
    assert latest_check(config)[3] == {"recall@5": pytest.approx(2 / 3, abs=1e-4)}


def test_a_set_that_cannot_be_read_is_warned_of_and_the_generation_is_published(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (config.parent / "questions.jsonl").write_text("no JSON, but something secret\n")
    assert commands.sync(config) == 1
    said = capsys.readouterr().out
    assert "check golden_set: the golden set could not be asked; `relrag eval` says why" in said
    assert "Generation 1: " in said
    assert "secret" not in said


def test_no_question_is_kept_and_a_damaged_file_is_found_and_removed(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    home = archive.home(config.parent)
    for path in (path for path in home.rglob("*") if path.is_file()):
        assert b"Who quoted" not in path.read_bytes(), path
    assert verify_home(home) == []
    place = home / evaluation_history.NAME
    place.write_text(place.read_text().replace("1.0", "0.9", 1))
    found = verify_home(home)
    assert [(one.path, one.problem) for one in found] == [(evaluation_history.NAME, "is not as it was written")]
    assert evaluation_history.load(home) == []
    assert len(list(repair(archive.workspace(config), found))) == 1
    assert verify_home(home) == []


def test_the_command_asks_the_same_set_and_tells_of_earlier_generations(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.first_sync(config)
    assert evaluate.history(config) == 0
    assert capsys.readouterr().out == "Nothing was measured yet.\n"
    assert evaluate.evaluate([], config=config, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["recall@5"] == 1.0
    assert evaluate.history(config) == 0
    assert ", by words only: recall@5 1.0000 of 2 questions (set " in capsys.readouterr().out
    assert evaluate.history(config, as_json=True) == 0
    (kept,) = json.loads(capsys.readouterr().out)
    assert (kept["generation"], kept["figures"]["recall@2"]) == (1, 1.0)
