"""How well questions about the held-back archives are answered: `python -m tuning.measure [NAME ...]`, some minutes.

Each archive is synced with the defaults and asked as anybody's is; no question is shown, so that none is learned from.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from relrag_query.evaluation.answer_sets import Outcome, outcome, shares
from tuning import archives

_SHARES = {
    "shown": "shown",
    "first": "first",
    "sure": "sure",
    "sure_and_right": "right of sure",
    "wrongly_none": "wrongly none",
    "decoy_when_sure": "near miss in sure",
    "unanswerable_not_sure": "unanswerable not sure",
}


def main() -> None:
    """Prints the shares of each archive, of all, and of each kind of question."""
    parser = argparse.ArgumentParser(prog="python -m tuning.measure", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these archives")
    parser.add_argument("--work", type=Path, help="keep the synced archives in this folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = {one: ask(one, given.work or Path(folder)) for one in given.names or archives.names(held_back=True)}
    every = [one for outcomes in made.values() for one in outcomes]
    kinds = sorted({one.question.kind for one in every})
    print(f"{'%':15} questions  {'  '.join(_SHARES.values())}")
    for name, outcomes in made.items():
        print(row(name, outcomes))
    print(row("all", every))
    for kind in kinds:
        print(row(kind, [one for one in every if one.question.kind == kind]))


def ask(name: str, work: Path) -> list[Outcome]:
    """What became of the questions of an archive."""
    with archives.opened(name, work) as archive:
        return [outcome(one, archive.ask(one.question)) for one in archives.questions(name)]


def row(name: str, outcomes: Sequence[Outcome]) -> str:
    """A line of the table: how many questions, and the shares in %; a dash where a share is of nothing."""
    told = shares(outcomes)
    cells = [
        (f"{100 * told[share]['share']:.1f}" if share in told else "-").rjust(len(heading))
        for share, heading in _SHARES.items()
    ]
    return f"{name:15} {len(outcomes):9}  {'  '.join(cells)}"


if __name__ == "__main__":
    main()
