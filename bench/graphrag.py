"""GraphRAG: tracing in a large index, building one, pruning and clustering beside Microsoft's graphrag.

The index that is traced is generated: communities of twenty entities, a tenth as many text units. Tracing is held
against a look through the same tables row by row, as plain pandas code does it: for each id the rows whose column is
it. An index is built from generated documents of 500 characters at one, two and four times as many. Pruning and
clustering are held against the same steps of graphrag 3.3.0 on the same graph, where `make interop` has set it up.
`python -m bench.graphrag` measures a million entities and relations, which takes two minutes; `make bench` a tenth.
"""

from __future__ import annotations

import gc
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench import clock, corpus
from bench.measurement import HEADER, Figure, aligned
from relrag_pipelines.graphrag.build import build, community_table
from relrag_pipelines.graphrag.communities import communities
from relrag_pipelines.graphrag.cooccurrence import Numbers, Relations, relate
from relrag_pipelines.graphrag.entity_candidates import candidates
from relrag_pipelines.graphrag.entity_selection import Mention, Selection, select
from relrag_pipelines.graphrag.mention_graph import Graph
from relrag_pipelines.graphrag.nouns import Nouns
from relrag_pipelines.records import Chunk
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.workers.pool import reduce_gc
from relrag_query.graphrag.index import open_index
from relrag_query.graphrag.trace import trace

MEMBERS, UNITS_OF_ENTITY, UNITS_OF_COMMUNITY = 20, 3, 30
GRAPHRAG = clock.ROOT / "tests" / "interop" / ".venv" / "bin" / "python"
"""where `make interop` puts Microsoft's graphrag"""
LARGE = 1_000_000
"""entities, and relations, of an index that is large"""
CITED = 10
"""citations of the answer that is traced"""


def measure(entities: int = 100_000, passages: int = 400, edges: int = 100_000, related: int = 50_000) -> list[Figure]:
    """Tracing, building at three sizes, communities of that many edges, and the steps of graphrag on `related`."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), entities)
        figures = _tracing(Path(place), entities)
    return [*figures, *_building(passages), *_communities(edges), *_beside(related)]


def large() -> list[Figure]:
    """The same of a million entities and a million relations."""
    return measure(LARGE, 2_000, LARGE)


def write(folder: Path, entities: int) -> None:
    """The generated index."""
    for name, columns in _tables(entities).items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def _tables(entities: int) -> dict[str, dict[str, object]]:
    """Its columns, by table."""
    chance = np.random.default_rng(1)
    count = max(entities // 10, UNITS_OF_COMMUNITY)
    groups = entities // MEMBERS
    unit_ids = pa.array([hashlib.sha512(str(number).encode()).hexdigest() for number in range(count)])
    ids = pa.array([f"{number:032x}" for number in range(entities)])
    words = np.array(corpus.vocabulary(5_000))
    texts = [" ".join(chosen) + "." for chosen in words[chance.integers(0, len(words), (count, 60))]]

    def units(rows: int, each: int) -> pa.Array:
        return _lists(unit_ids.take(pa.array(chance.integers(0, count, rows * each))), each)

    return {
        "documents": {
            "id": [f"d{number}" for number in range(count // 10)],
            "title": [f"{number}.pdf" for number in range(count // 10)],
            "text": [""] * (count // 10),
        },
        "text_units": {"id": unit_ids, "text": texts, "document_id": [f"d{number // 10}" for number in range(count)]},
        "entities": {
            "id": ids,
            "human_readable_id": np.arange(entities),
            "title": ids,
            "text_unit_ids": units(entities, UNITS_OF_ENTITY),
        },
        "relationships": {
            "id": ids,
            "human_readable_id": np.arange(entities),
            "source": ids,
            "target": ids,
            "text_unit_ids": units(entities, 1),
        },
        "communities": {
            "community": np.arange(groups),
            "entity_ids": _lists(ids.slice(0, groups * MEMBERS), MEMBERS),
            "relationship_ids": _lists(ids.slice(0, groups * MEMBERS), MEMBERS),
            "text_unit_ids": units(groups, UNITS_OF_COMMUNITY),
        },
        "community_reports": {
            "community": np.arange(groups),
            "title": [f"Theme {number}" for number in range(groups)],
            "full_content": [""] * groups,
        },
    }


def _lists(values: pa.Array, each: int) -> pa.Array:
    return pa.ListArray.from_arrays(np.arange(0, len(values) + 1, each, dtype=np.int32), values)


def _tracing(folder: Path, entities: int) -> list[Figure]:
    cited = [number * (entities // MEMBERS // (CITED + 1)) for number in range(1, CITED + 1)]
    words = corpus.vocabulary(5_000)
    answer = " ".join(
        f"{words[place]} {words[place + 9]} [Data: Reports ({number})]." for place, number in enumerate(cited)
    )
    begun = time.perf_counter()
    index = open_index(folder)
    trace(answer, index)
    opened = time.perf_counter() - begun
    ours = clock.best(5, ours=lambda: _seconds(lambda: trace(answer, index)))["ours"]
    frames = {path.stem: pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    rows = _seconds(lambda: by_rows(frames, cited))
    what = f"tracing {CITED} cited reports among {entities:,} entities"
    return [
        Figure(what, 1000 * ours, "ms", at_most=50.0),
        Figure(
            "the same",
            1000 * ours,
            "ms",
            1000 * rows,
            "pandas, row by row",
            at_least=50.0 if entities >= LARGE else None,
        ),
        Figure("opening that index, with the first trace", opened),
    ]


def by_rows(frames: dict[str, pd.DataFrame], reports: list[int]) -> set[str]:
    """Documents of reports, by their communities' entities and these' text units, an id at a time."""

    def values(table: str, column: str, key: object, wanted: str) -> list[object]:
        found = frames[table][frames[table][column] == key]
        return list(np.ravel(found.iloc[0][wanted])) if len(found) else []

    entities = {one for number in reports for one in values("communities", "community", number, "entity_ids")}
    units = {one for entity in entities for one in values("entities", "id", entity, "text_unit_ids")}
    return {str(one) for unit in units for one in values("text_units", "id", unit, "document_id")}


def _building(passages: int) -> list[Figure]:
    made = corpus.documents(4 * passages)
    rows = [
        Chunk(f"c{number}", f"d:{number}", f"d:{number}", 0, 1, one["text"], "", "bench", "bench", "", ts=one["ts"])
        for number, one in enumerate(made)
    ]
    usual = gc.get_threshold()
    reduce_gc()  # as a sync does
    seconds = {times: _build_seconds(rows[: times * passages]) for times in (1, 2, 4)}
    extracting = _processor(lambda: _extract([row.text for row in rows]))
    gc.set_threshold(*usual)
    figures = [
        Figure(f"building an index of {times * passages:,} passages", times * passages / spent, "passages/s")
        for times, spent in seconds.items()
    ]
    growth = [
        Figure(
            f"{times} times as many passages take so many times as long", seconds[times] / seconds[1], "x", at_most=most
        )
        for times, most in ((2, 3.0), (4, 6.0))
    ]
    extraction = Figure("extracting what they name, alone", len(rows) / extracting, "passages/s")
    return [*figures, extraction, *growth]


def _extract(texts: list[str]) -> list[Mention]:
    found = [candidates(text) for text in texts]
    return select(found, [], Nouns(found), Selection())


def _build_seconds(rows: list[Chunk]) -> float:
    table = to_table(rows, Chunk).to_pandas()
    return min(_processor(lambda: build(table)) for _ in range(2))


def _communities(count: int) -> list[Figure]:
    chance = np.random.default_rng(3)
    nodes = count // 5
    one = chance.integers(0, nodes, count + count // 10)
    other = (one + chance.geometric(0.02, len(one))) % nodes
    pairs = np.unique(np.stack([np.minimum(one, other), np.maximum(one, other)], 1)[one != other], axis=0)[:count]
    edges = [(source, target, 1.0 + source % 7) for source, target in pairs.tolist()]
    spent = _seconds(lambda: communities(edges, 10))
    memory = clock.most_memory() / 2**30
    return [
        Figure(f"communities of {len(edges):,} edges", spent),
        Figure("memory of the whole process", memory, "GiB", at_most=4.0),
    ]


def _beside(count: int) -> list[Figure]:
    """Pruning, and the table of communities, of a graph of about so many relations."""
    units, entities, total = _named(count)
    pruning = min(_processor(lambda: relate(units, entities, total, 40)) for _ in range(3))
    whole, pruned = (_built(relate(units, entities, total, percent)) for percent in (0, 40))
    days = {str(unit): "" for unit in range(total)}
    clustering = min(_processor(lambda: community_table(communities(pruned.edges, 10), pruned, days)) for _ in range(3))
    theirs = _theirs(whole)
    against = "graphrag 3.3.0" if theirs else ""
    return [
        Figure(
            f"pairing, weighing and pruning {len(whole.edges):,} relations",
            pruning,
            other=theirs.get("prune"),
            against=f"{against}, pruning alone" if theirs else "",
            at_least=2.0 if theirs else None,
        ),
        Figure(
            f"the table of communities of {len(pruned.edges):,} relations",
            clustering,
            other=theirs.get("communities"),
            against=against,
            at_least=2.0 if theirs else None,
        ),
    ]


def _named(count: int) -> tuple[Numbers, Numbers, int]:
    """Which text unit names which entity: five each, of which many are neighbors; and how many text units."""
    chance, total = np.random.default_rng(4), max(count // 9, 20)
    first = chance.integers(0, total, (total, 1))
    entities = (first + chance.geometric(0.05, (total, 5))) % total
    rows = np.unique(np.stack([np.repeat(np.arange(total), 5), entities.ravel()], 1), axis=0)
    return rows[:, 0], rows[:, 1], total


def _built(relations: Relations) -> Graph:
    """A graph of these relations, with the columns that communities are made of."""
    most = int(max(relations.source.max(), relations.target.max())) + 1
    titles = [f"entity {number}" for number in range(most)]
    degrees = np.bincount(np.concatenate([relations.source, relations.target]), minlength=most)
    units = [[str(unit) for unit in of.tolist()] for of in relations.units]
    ends = list(zip(relations.source.tolist(), relations.target.tolist(), strict=True))
    entities = pd.DataFrame({"id": titles, "title": titles, "frequency": degrees})
    entities["text_unit_ids"] = [["0"]] * most
    relationships = pd.DataFrame(
        {
            "id": [f"r{number}" for number in range(len(ends))],
            "source": [titles[one] for one, _ in ends],
            "target": [titles[other] for _, other in ends],
            "weight": relations.weight,
            "text_unit_ids": units,
        }
    )
    edges = [(one, other, weight) for (one, other), weight in zip(ends, relations.weight.tolist(), strict=True)]
    return Graph(entities, relationships, edges, titles, [])


def _theirs(built: Graph) -> dict[str, float]:
    """The least processor time of graphrag's steps; nothing where it is not set up."""
    if not GRAPHRAG.exists():
        return {}
    with tempfile.TemporaryDirectory() as place:
        built.entities.to_parquet(Path(place) / "entities.parquet")
        built.relationships.to_parquet(Path(place) / "relationships.parquet")
        steps = Path(__file__).parent / "peers" / "graphrag_steps.py"
        command = [str(GRAPHRAG), "-W", "ignore", str(steps), place, "3"]
        asked = {**clock.environment(), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        done = subprocess.run(command, env=asked, cwd=place, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _processor(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


def _seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(aligned([HEADER, *(figure.cells() for figure in large())]))
    sys.exit(0)
