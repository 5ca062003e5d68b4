"""What people add to a sync: the same archive of chats synced with and without the stages that make them.

Without, these stages return empty tables, so all else that a sync does for people (their records, ids on passages,
indexes of the catalog) is missing as well. Processor time is compared, to which others on the machine add little.
`python -m bench.people_sync [SCALE]` prints the figures.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import scale
from bench.clock import RELRAG, process
from bench.measurement import HEADER, Figure, aligned
from relrag_pipelines.records import TABLES
from relrag_pipelines.stages import whole_archive
from relrag_pipelines.stages.whole_archive import ArchiveOutput, ArchiveStage
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_pipelines.workspace import Workspace

SIZE = 0.03
"""of a million messages, so that `make bench` stays short"""
_TURNS = 3
_FIRST_TURNS = 3
"""the least of these counts: on a machine that others use as well, one sync takes up to 30 % more than the next"""
_WITHOUT = "--without"
_DONE = (0, 1)
"""1: a value that was replaced was found in some other row, and that was left out"""


def measure(size: float = SIZE) -> list[Figure]:
    """First syncs, and syncs of one more message, by turns."""
    first: dict[bool, list[float]] = {True: [], False: []}
    more: dict[bool, list[float]] = {True: [], False: []}
    with tempfile.TemporaryDirectory(prefix="relrag-bench-") as name:
        for turn in range(_FIRST_TURNS):
            configs = {people: scale.write(Path(name) / f"{turn}-{people}", size) for people in (False, True)}
            for people, config in configs.items():
                first[people].append(_sync(config, people=people))
        for turn in range(_TURNS):
            for people, config in configs.items():
                _add_message(config, turn)
                more[people].append(_sync(config, people=people))
    one = {people: statistics.median(seconds) for people, seconds in more.items()}
    what = f"first sync of {round(size * scale.MESSAGES):,} messages, processor time"
    return [
        Figure(what, min(first[True]), other=min(first[False]), against="without people", at_most=1.1),
        Figure("then one new message, the same", one[True], other=one[False], against="without people", at_most=1.2),
    ]


def _sync(config: Path, *, people: bool) -> float:
    """Seconds of processor time of the whole sync and its helpers."""
    before = _children()
    if people:
        process(RELRAG, "sync", config=config, codes=_DONE)
    else:
        process(sys.executable, "-m", "bench.people_sync", _WITHOUT, config=config, codes=_DONE)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _add_message(config: Path, number: int) -> None:
    chat = min((config.parent / "chats").iterdir())
    when, _, said = chat.read_text(encoding="utf-8").splitlines()[-1].partition(" - ")
    with chat.open("a", encoding="utf-8") as out:
        out.write(f"{when} - {said.partition(': ')[0]}: The heron stands in pond number {number} again\n")


def _without_people() -> None:
    """`relrag sync` with stages that make nobody."""
    whole_archive.STAGES = tuple(replace(stage, make=_nothing(stage)) for stage in whole_archive.STAGES)
    from relrag_query.cli import app

    sys.argv = ["relrag", "sync"]
    app()


def _nothing(stage: ArchiveStage) -> Any:
    def make(workspace: Workspace, inputs: Mapping[str, Any]) -> ArchiveOutput:
        return ArchiveOutput({table: arrow_schema(TABLES[table].row).empty_table() for table in stage.tables})

    return make


if __name__ == "__main__":
    if _WITHOUT in sys.argv:
        _without_people()
    else:
        asked = float(sys.argv[1]) if len(sys.argv) > 1 else SIZE
        print(aligned([HEADER, *(figure.cells() for figure in measure(asked))]))
