"""`relrag eval`: measures answers against labelled questions."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from relrag_pipelines.stores.lock import LockedByOther
from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json

app = typer.Typer()


@app.command("eval", epilog="Example: relrag eval --corpus-questions questions.jsonl --k 5,10")
def evaluate_command(
    corpus_questions: Annotated[
        Path | None,
        typer.Option("--corpus-questions", metavar="FILE", help="JSON Lines of question and gold, the ids of records."),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option("--sources", metavar="FILE", help="JSON of questions and the sources that an answer must show."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="FILE", help="JSON Lines of questions with right and wrong answers."),
    ] = None,
    k: Annotated[str, typer.Option("--k", metavar="DEPTHS", help="Depths at which recall is measured.")] = "2,5,10",
    earlier: Annotated[bool, typer.Option("--history", help="Show earlier measurements.")] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Measure the answers to questions whose answers are known."""
    if earlier:
        dispatch.run(history, config, as_json=as_json)
    files = [path for path in (corpus_questions, sources, answers) if path]
    dispatch.run(evaluate, files, k, config, as_json=as_json)


_MAX_DEPTH = 33


def evaluate(questions: Sequence[Path], k: str = "2,5,10", config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints how well a set of questions is answered, and stores the figures; returns the exit code.

    Without a file, the configured golden set is used.
    """
    from relrag_query.archive import Archive, ArchiveError
    from relrag_query.evaluation import question_sets

    if len(questions) > 1:
        raise ArchiveError("give one of --corpus-questions FILE, --sources FILE and --answers FILE")
    depths = _depths(k)
    with Archive.open(config) as archive:
        question_file = questions[0] if questions else archive.settings.golden_set_path
        if question_file is None:
            raise ArchiveError(
                "give --corpus-questions FILE, --sources FILE or --answers FILE, or set golden_set in relrag.toml"
            )
        figures = question_sets.measure(archive, question_file, depths)
        context = {"generation": archive.generation.number, "embedder": archive.settings.embedder}
        try:
            question_sets.keep(archive, question_file, figures)
        except (LockedByOther, OSError) as busy:
            print(f"The figures are not kept: {busy}", file=sys.stderr)
    if as_json:
        print(json.dumps({**figures, **context}, indent=1, ensure_ascii=False))
    else:
        _print({**figures, **context})
    return 0


def history(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the figures of each generation, oldest first; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.stores import evaluation_history

    measurements = evaluation_history.load(settings_module.load(config).home_path)
    if as_json:
        print(json.dumps([asdict(measurement) for measurement in measurements], indent=1))
        return 0
    for measurement in measurements:
        name, share = measurement.headline
        count = measurement.figures.get("questions", 0)
        score = f"{name} {share:.4f} of {count:g} questions (set {measurement.questions[:6]})"
        embedder = measurement.embedder or "by words only"
        print(f"generation {measurement.generation}, {measurement.at[:16]}, {embedder}: {score}")
    if not measurements:
        print("Nothing was measured yet.")
    return 0


def _depths(k: str) -> list[int]:
    from relrag_query.archive import ArchiveError

    if not re.fullmatch(r"\d+(,\d+)*", k) or not all(1 <= int(part) <= _MAX_DEPTH for part in k.split(",")):
        raise ArchiveError(f'--k is "{k}"; write depths from 1 to {_MAX_DEPTH} with commas, such as 2,5,10')
    return sorted(set(map(int, k.split(","))))


def _print(figures: dict[str, Any]) -> None:
    rows = figures.pop("each", [])
    figures.pop("outcomes")  # one number per question: only for --json
    for row in rows:
        print(
            f"{row['name']}: sources {row['source_recall']:.0%}, of those shown {row['source_precision']:.0%} right, "
            f"{row['wrong_sources_shown']} that must not be; answer {row['answer_has']:.0%}"
        )
    for name, value in figures.items():
        print(f"{name.replace('_', ' ')}: {_format_value(value)}")


def _format_value(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    if "share" in value:
        return f"{value['share']:.1%} of {value['of']} ({value['from']:.0%} to {value['to']:.0%})"
    if any(isinstance(part, dict) for part in value.values()):
        return "".join(f"\n  {name}: {_format_shares(shares)}" for name, shares in value.items())
    return ", ".join(f"{part} {number:g}" for part, number in value.items())


def _format_shares(value: dict[str, dict[str, float]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {share['share']:.0%}" for name, share in value.items())
