"""`relrag eval`: measures the answers to questions whose answers are known."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import evaluation_history
from relrag_pipelines.stores.lock import LockedByOther
from relrag_query.archive import Archive, ArchiveError
from relrag_query.evaluation import question_sets

_DEEPEST = 33


def evaluate(questions: Sequence[Path], k: str = "2,5,10", config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints how well a set of questions is answered, and stores the figures; returns the exit code.

    Without a file, the configured golden set is used.
    """
    if len(questions) > 1:
        raise ArchiveError("give one of --corpus-questions FILE, --sources FILE and --answers FILE")
    depths = _depths(k)
    with Archive.open(config) as archive:
        asked = questions[0] if questions else archive.settings.golden_set_path
        if asked is None:
            raise ArchiveError(
                "give --corpus-questions FILE, --sources FILE or --answers FILE, or set golden_set in relrag.toml"
            )
        measured = question_sets.measure(archive, asked, depths)
        about = {"generation": archive.generation.number, "embedder": archive.settings.embedder}
        try:
            question_sets.keep(archive, asked, measured)
        except (LockedByOther, OSError) as busy:
            print(f"The figures are not kept: {busy}", file=sys.stderr)
    if as_json:
        print(json.dumps({**measured, **about}, indent=1, ensure_ascii=False))
    else:
        _print({**measured, **about})
    return 0


def history(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the figures of each generation, oldest first; returns the exit code."""
    kept = evaluation_history.load(settings_module.load(config).home_path)
    if as_json:
        print(json.dumps([asdict(one) for one in kept], indent=1))
        return 0
    for one in kept:
        name, share = one.headline
        said = f"{name} {share:.4f} of {one.figures.get('questions', 0):g} questions (set {one.questions[:6]})"
        print(f"generation {one.generation}, {one.at[:16]}, {one.embedder or 'by words only'}: {said}")
    if not kept:
        print("Nothing was measured yet.")
    return 0


def _depths(k: str) -> list[int]:
    if not re.fullmatch(r"\d+(,\d+)*", k) or not all(1 <= int(part) <= _DEEPEST for part in k.split(",")):
        raise ArchiveError(f'--k is "{k}"; write depths from 1 to {_DEEPEST} with commas, such as 2,5,10')
    return sorted(set(map(int, k.split(","))))


def _print(measured: dict[str, Any]) -> None:
    each = measured.pop("each", [])
    measured.pop("outcomes")  # one number a question: for --json
    for row in each:
        print(
            f"{row['name']}: sources {row['source_recall']:.0%}, of those shown {row['source_precision']:.0%} right, "
            f"{row['wrong_sources_shown']} that must not be; answer {row['answer_has']:.0%}"
        )
    for name, value in measured.items():
        print(f"{name.replace('_', ' ')}: {_said(value)}")


def _said(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    if "share" in value:
        return f"{value['share']:.1%} of {value['of']} ({value['from']:.0%} to {value['to']:.0%})"
    if any(isinstance(part, dict) for part in value.values()):
        return "".join(f"\n  {name}: {_shares(shares)}" for name, shares in value.items())
    return ", ".join(f"{part} {number:g}" for part, number in value.items())


def _shares(value: dict[str, dict[str, float]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {share['share']:.0%}" for name, share in value.items())
