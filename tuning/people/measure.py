"""Asks the questions about people: `python -m tuning.people.measure [--half held] [--archive NAME] [--embedder none]`.

Half of them (`looked_at`) may be read while rules are written; the other half is held back, and its answers are not
looked at. An answer is right if it names whom it has to name: of several all, of a choice without choosing. It is wrong
if it is sure and names somebody else.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from relrag_query.archive import Archive
from relrag_query.cli.commands.sync import sync
from relrag_query.results import Answer
from tuning import archives

FOLDER = Path(__file__).parent
NOBODY = "nobody"


@dataclass(frozen=True)
class Question:
    """A question about people."""

    archive: str
    half: str
    """looked_at or held"""
    language: str
    kind: str
    question: str
    right: tuple[str, ...]
    """what an answer has to name, each by any of the names between bars; `nobody` where nothing tells"""
    choices: bool = False
    """`right` are those who may be meant"""


@dataclass(frozen=True)
class Judgement:
    """What became of one question."""

    asked: Question
    right: bool
    wrong: bool
    """sure, and not right"""
    told: str


def questions() -> list[Question]:
    """The questions of both halves."""
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [Question(**{**item, "right": tuple(item["right"])}) for item in map(json.loads, lines)]


@contextmanager
def opened(name: str, work: Path, embedder: str = "none") -> Iterator[Archive]:
    """An archive of `tuning/archives` or of this folder, at the time of its questions; by default searched by words."""
    own = FOLDER / "archives" / name
    if not own.exists():
        with archives.opened(name, work, embedder) as archive:
            yield archive
        return
    about = json.loads((own / "about.json").read_text(encoding="utf-8"))
    kinds = {**archives.KINDS, "contacts.vcf": "contacts"}
    lines = [f'archive = "{name}"', 'keys_file = "people.keys"', f'embedder = "{embedder}"']
    lines += [f'owner = "{about["owner"]}"', f'timezone = "{about["timezone"]}"']
    for place in sorted(one.name for one in own.iterdir() if one.name in kinds):
        source = place.removesuffix(".vcf")
        lines += ["[[sources]]", f'name = "{source}"', f'kind = "{kinds[place]}"', f'path = "{own / place}"']
    home = work / name
    home.mkdir(parents=True, exist_ok=True)
    config = home / "relrag.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    before = os.environ.get("RELRAG_NOW")
    os.environ["RELRAG_NOW"] = about["clock"]
    try:
        if sync(config) > 1:
            raise RuntimeError(f"{name} cannot be synced")
        with Archive.open(config) as archive:
            yield archive
    finally:
        if before is None:
            del os.environ["RELRAG_NOW"]
        else:
            os.environ["RELRAG_NOW"] = before


def judge(asked: Question, answer: Answer) -> Judgement:
    """Whether an answer is right, and whether it names a wrong person."""
    sure = answer.confidence == "sure"
    first, told = _told(answer, 1), _told(answer, None)
    if asked.right == (NOBODY,):
        right = not sure
    elif asked.choices:
        right = not sure and all(_names(one, told) for one in asked.right)
    elif len(asked.right) > 1:
        right = all(_names(one, told) for one in asked.right)
    else:
        right = _names(asked.right[0], told if answer.people else first)
    return Judgement(asked, right, sure and not right, f"{answer.confidence} {answer.people}: {told[:200]}")


def _told(answer: Answer, lines: int | None) -> str:
    """The lines of an answer, each with who says it."""
    return "\n".join(f"{one.sender or ''}: {one.text}" for one in answer.quotes[:lines])


def _names(alternatives: str, told: str) -> bool:
    return any(one.casefold() in told.casefold() for one in alternatives.split("|"))


def measure(asked: Sequence[Question], work: Path, embedder: str = "none") -> list[Judgement]:
    """What becomes of each question."""
    by_archive: defaultdict[str, list[Question]] = defaultdict(list)
    for one in asked:
        by_archive[one.archive].append(one)
    found = []
    for name, some in by_archive.items():
        with opened(name, work, embedder) as archive:
            found += [judge(one, archive.ask(one.question)) for one in some]
    return found


def main() -> None:
    """Prints shares, and of the half that may be looked at each question that is not answered rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=["looked_at", "held"])
    parser.add_argument("--archive")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--embedder", default="e5", help="e5, as a new archive has it, or none: by words alone")
    given = parser.parse_args()
    asked = [one for one in questions() if given.half in (None, one.half) and given.archive in (None, one.archive)]
    with tempfile.TemporaryDirectory() as folder:
        found = measure(asked, given.work or Path(folder), given.embedder)
    for half in ("looked_at", "held"):
        some = [one for one in found if one.asked.half == half]
        if some:
            right, wrong = (sum(getattr(one, name) for one in some) for name in ("right", "wrong"))
            print(f"{half}: {len(some)} questions, {right / len(some):.1%} right, {wrong / len(some):.1%} wrong person")
            for kind in sorted({one.asked.kind for one in some}):
                of_kind = [one for one in some if one.asked.kind == kind]
                counts = [sum(getattr(one, name) for one in of_kind) for name in ("right", "wrong")]
                print(f"  {kind}: {len(of_kind)}, {counts[0]} right, {counts[1]} wrong")
    for one in found:
        if one.asked.half == "looked_at" and not one.right:
            print(f"{'WRONG' if one.wrong else 'none '} {one.asked.archive} {one.asked.question} {one.asked.right}")
            print(f"      {one.told}")


if __name__ == "__main__":
    main()
