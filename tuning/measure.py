"""How well questions are answered, beside the gates: `python -m tuning.measure [NAME ...]`, some minutes.

Each archive is synced with the defaults and asked as anybody's is; no question is shown, so that none is learned from.
Without names, all archives that are held back are asked.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tuning import archives
from tuning.baseline import Row, answer_columns, wilson


@dataclass(frozen=True)
class Measure:
    """The share of questions for which a column is 1."""

    label: str
    column: str
    gate: float | None = None
    """the least share, or where `is_limit` the greatest; None where no share is too low"""
    is_limit: bool = False


MEASURES = (
    Measure("evidence in the first three excerpts, same language", "excerpts_same", 0.80),
    Measure("evidence in the first three excerpts, other language", "excerpts_other", 0.55),
    Measure("evidence in the first three hits of search, same language", "search_same"),
    Measure("evidence in the first three hits of search, other language", "search_other"),
    Measure("right value in the first excerpt", "value_first", 0.65),
    Measure("superseded value in the first excerpt", "superseded_first", 0.03, is_limit=True),
    Measure("file of the evidence among the sources", "source_listed"),
    Measure("strong match, of questions with an answer", "strong", 0.20),
    Measure("first excerpt right, of strong matches", "strong_right", 0.92),
    Measure("nothing close, of questions with an answer", "lost", 0.02, is_limit=True),
    Measure("nothing close, of questions without an answer", "refused"),
)


def main() -> None:
    """Prints the share of each measure with its interval, and whether it reaches its gate."""
    parser = argparse.ArgumentParser(prog="python -m tuning.measure", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these archives")
    parser.add_argument("--work", type=Path, help="keep the synced archives in this folder")
    options = parser.parse_args()
    names = options.names or archives.names(held_back=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name in names for row in ask(name, options.work or Path(folder))]
    for line in table(rows):
        print(line)


def ask(name: str, work: Path) -> Iterator[Row]:
    """The columns of each question about an archive."""
    with archives.opened(name, work) as archive:
        for question in archives.questions(name):
            answer = archive.ask(question.question)
            row = answer_columns(archive, question, answer)
            has_nothing = int(answer.confidence == "none")
            if not question.answerable:
                yield row | {"refused": has_nothing}
                continue
            row |= {"strong": row["sure"], "lost": has_nothing}
            yield row | ({"strong_right": row["value_first"]} if row["sure"] else {})


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each measure that applies to some question."""
    for measure in MEASURES:
        values = [row[measure.column] for row in rows if measure.column in row]
        if values:
            yield line(measure, values)


def line(measure: Measure, values: Sequence[int]) -> str:
    """`label  count of total  share (interval)  gate`."""
    count, total = sum(values), len(values)
    low, high = wilson(count, total)
    share = f"{count:4} of {total:4}  {count / total:6.1%} ({low:.1%} to {high:.1%})"
    return f"{measure.label:60} {share}{gate(measure, count / total)}".rstrip()


def gate(measure: Measure, share: float) -> str:
    """Whether a share reaches its gate; empty where there is none."""
    if measure.gate is None:
        return ""
    is_met = share <= measure.gate if measure.is_limit else share >= measure.gate
    bound = "at most" if measure.is_limit else "at least"
    return f"  {bound} {measure.gate:.0%}: {'met' if is_met else 'NOT MET'}"


if __name__ == "__main__":
    main()
