"""Microsoft's graphrag at its own steps: `python graphrag_steps.py FOLDER TURNS`, in the environment of `make interop`.

Prunes the graph of FOLDER (entities.parquet, relationships.parquet) and makes the table of its communities, each so
many times, and prints the least processor time of each as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pandas as pd
from graphrag.index.operations.prune_graph import prune_graph
from graphrag.index.workflows.create_communities import create_communities


class Rows:
    """A table in memory."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        for row in self.rows:
            yield row

    async def write(self, row: dict[str, Any]) -> None:
        self.rows.append(row)


def main(folder: Path, turns: int) -> dict[str, float]:
    entities, relationships = (pd.read_parquet(folder / f"{name}.parquet") for name in ("entities", "relationships"))
    _, pruned = prune_graph(entities, relationships)
    rows = entities[["id", "title"]].to_dict("records")

    def communities() -> None:
        asyncio.run(create_communities(Rows([]), Rows(rows), pruned, max_cluster_size=10, use_lcc=False, seed=1))

    return {
        "prune": min(_seconds(lambda: prune_graph(entities, relationships)) for _ in range(turns)),
        "communities": min(_seconds(communities) for _ in range(turns)),
    }


def _seconds(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
