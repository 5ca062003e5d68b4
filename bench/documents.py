"""The sync of many short documents, against the floor and against other libraries.

Start-up and redaction are timed apart: the sync that is held against the others has redaction switched off, and what
redaction costs is what its stages take longer in a sync with it. Everything else that a sync does is counted: private
records, lake, hashes, catalog with its indexes, publishing, checks, and Dagster's events.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import corpus, document_sync
from bench.clock import ROOT, environment
from bench.document_sync import Sync
from bench.measurement import Figure
from bench.peers import Peer

COUNT = 20_000


def measure(count: int = COUNT, turns: int = 3, others: Sequence[Peer] = ()) -> tuple[list[Figure], dict[str, Any]]:
    """The figures, and where the time went."""
    documents = corpus.documents(count)
    plain: list[Sync] = []
    floors: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for turn in range(turns):
            plain.append(document_sync.sync(document_sync.archive(place / f"plain-{turn}", documents, redacted=False)))
            floors.append(_floor(place / f"plain-{turn}" / "notes.jsonl"))
        redacted = document_sync.sync(document_sync.archive(place / "redacted", documents, redacted=True))
    ours, floor = sorted(plain, key=_work)[turns // 2], sorted(floors, key=_total)[turns // 2]
    work, words = ours.work, f"sync of {count:,} documents"
    figures = [
        Figure(f"{words}, start-up and redaction apart", work, other=_total(floor), against="the floor", at_most=4.0),
        *(
            Figure(f"{words}, against {peer.name}", work, other=peer.ingest_s, against=peer.name, at_least=3.0)
            for peer in others
        ),
        Figure("start-up of that sync", ours.start_up),
        Figure("redaction of those documents", _redaction(redacted) - _redaction(ours)),
        Figure("the whole process, with both", redacted.seconds),
    ]
    return figures, {"stages": _stages(ours, redacted), "floor": floor}


def _floor(file: Path) -> dict[str, float]:
    os.sync()
    command = [sys.executable, "-m", "bench.index_floor", str(file)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), check=True, stdout=subprocess.PIPE)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def _stages(plain: Sync, redacted: Sync) -> dict[str, list[float]]:
    """Seconds by stage, without and with redaction; `rest`: Dagster, its checks, the end of the process."""
    rows = {name: [one.stages.get(name, 0.0) for one in (plain, redacted)] for name in plain.stages}
    rest = [one.work - sum(one.stages.values()) for one in (plain, redacted)]
    return {"start-up": [plain.start_up, redacted.start_up], **rows, "rest": rest}


def _redaction(sync: Sync) -> float:
    """Seconds of the stages that know the policy; with redaction switched off they still read and write."""
    return sync.stages["redacted"] + sync.stages["identifiers"]


def _work(sync: Sync) -> float:
    return sync.work


def _total(seconds: dict[str, float]) -> float:
    return sum(seconds.values())
