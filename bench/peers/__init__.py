"""Other libraries on the same documents, in an environment of their own: `make bench-peers` sets it up.

Each is used as its documentation shows, with Qdrant in this process (`QdrantClient(path=...)`), an embedder that gives
every text the same vector, so that only the plumbing counts, and relrag's sparse vectors.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import corpus
from bench.clock import ROOT, environment

PYTHON = Path(__file__).parent / ".venv" / "bin" / "python"
MODULES = {"LangChain": "langchain_qdrant", "LlamaIndex": "llamaindex_qdrant"}


@dataclass(frozen=True)
class Peer:
    """What one library did; see peer.py."""

    name: str
    ingest_s: float
    search_p50_ms: float
    versions: dict[str, str]


def measure(timed: int = 20_000, count: int = 50_000, asked: int = 7) -> list[Peer]:
    """Taking in `timed` documents, and searching among `count`; nothing where the environment is not there."""
    if not PYTHON.exists():
        return []
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "documents.jsonl"
        corpus.write(file, corpus.documents(count))
        return [Peer(name, **_run(module, file, timed, asked)) for name, module in MODULES.items()]


def _run(module: str, file: Path, timed: int, asked: int) -> dict[str, Any]:
    command = [str(PYTHON), "-W", "ignore", "-m", f"bench.peers.{module}", str(file), str(timed), str(asked)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), check=True, stdout=subprocess.PIPE)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures
