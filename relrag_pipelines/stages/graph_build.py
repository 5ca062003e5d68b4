"""Makes a GraphRAG index of the archive: passages of the published generation, graph, communities, reports, files."""

from __future__ import annotations

import re
from collections.abc import Set
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from relrag_pipelines.errors import SafeError
from relrag_pipelines.pii import record_strings, redact_tables
from relrag_pipelines.records import Chunk
from relrag_pipelines.settings import Collection, days
from relrag_pipelines.stages import graph_leaks, graph_vectors, redaction_check
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.answer_pruning import prune_answers
from relrag_pipelines.stages.graph_extraction import build_by_model
from relrag_pipelines.stages.graph_index_plan import PEOPLE, chunk_months, expected_fingerprint
from relrag_pipelines.stages.leak_rules import LeakRules
from relrag_pipelines.stores import catalog, generations, graph_indexes
from relrag_pipelines.stores.graph_indexes import IndexInfo
from relrag_pipelines.stores.table_schema import columns
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from relrag_pipelines.graphrag.schema import Tables

_ORIGIN = ("text_unit_id", "chunk_id")
_SAID = {
    "documents": ("title",),
    "text_units": ("text",),
    "entities": ("title", "description"),
    "relationships": ("description",),
    "covariates": ("type", "description", "source_text"),
}
"""table -> columns that hold text of the archive; reports apart"""
_UNITS = {"text_units": "id", "covariates": "text_unit_id"}
"""column with the one text unit of a row"""
_CITATION = re.compile(r"\[Data:[^\]]*\]")
_TIMES = frozenset({"ts", "last_ts", "timestamp"})
_SCANNED = 1000
"""texts of each table that are looked at for personal data, spread over it"""


class GraphIndexError(SafeError):
    """An index cannot be made; the message says why and holds no text."""


def run(workspace: Workspace, collection: str) -> IndexInfo:
    """Rebuilds the index of a collection and returns its counts.

    Raises EmbeddingError, and GraphIndexError where the published generation is not made from what the lake holds, or
    where what was made breaks an invariant; then the index before stays.
    """
    from relrag_pipelines.graphrag import parquet
    from relrag_pipelines.graphrag.invariants import violations

    redaction_check.require_checked(workspace)
    stamp = expected_fingerprint(workspace, collection, chunk_months(workspace))
    workspace.report(f"GraphRAG index {collection}", 0, 1)
    chunks, people = _inputs(workspace, collection)
    current_folder = graph_indexes.current_folder(workspace.home, collection)
    drafts = parquet.read(current_folder, "report_drafts") if current_folder else None
    tables, details = _build(workspace, chunks, people, drafts)
    if broken := violations(tables):
        raise GraphIndexError(f"the GraphRAG index {collection} does not fit together: {broken[0]}")
    details = {
        "passages": len(chunks),
        **details,
        **_draft_counts(tables, drafts),
        "withheld": graph_leaks.blank(tables, LeakRules(workspace)),
    }
    details |= graph_vectors.embed(workspace, tables, f"vectors of the GraphRAG index {collection}")
    new_folder = graph_indexes.begin(workspace.home, collection)
    parquet.write(tables, new_folder)
    counts = {name: len(table) for name, table in tables.items()}
    graph_indexes.finish(new_folder, stamp, counts, details)
    workspace.report(f"GraphRAG index {collection}", 1, 1)
    prune_answers(workspace.home)
    info = graph_indexes.current_info(workspace.home, collection)
    assert info
    return info


def broken_invariants(workspace: Workspace, collection: str) -> list[str]:
    """The invariants that the index on disk breaks, without text."""
    from relrag_pipelines.graphrag.invariants import violations

    return violations(_tables(workspace, collection))


def find_unredacted(workspace: Workspace, collection: str) -> dict[str, int]:
    """Number of texts in each table with something that the policy of each of their passages forbids, from a sample.

    A text that is made of passages of several channels may hold what one of these lets through.
    """
    if not workspace.settings.pii_redaction_enabled:
        return {}
    tables = _tables(workspace, collection)
    with (
        generations.open_current(workspace.home) as generation,
        catalog.open(generation.path / catalog.NAME) as connection,
    ):
        chunk_rows = connection.execute("SELECT chunk_id, source, rag_source_type FROM chunks").fetchall()
        number_rows = connection.execute("SELECT DISTINCT unnest(numbers) FROM records").fetchall()
    sources = {source.name: workspace.channel(source) for source in workspace.settings.sources}
    channels = {chunk: redact_tables.channel_of(kind, sources[source]) for chunk, source, kind in chunk_rows}
    origin = tables["text_unit_chunks"]
    channel_by_unit = {
        unit: channels.get(chunk, "default") for unit, chunk in zip(*map(origin.get, _ORIGIN), strict=True)
    }
    # an order's number keeps its place in a record that calls it one; here it stands without that word
    references = {number for (number,) in number_rows}
    counts = {}
    for name, texts in _texts(tables).items():
        step = -(-len(texts) // _SCANNED) or 1
        counts[name] = sum(
            _is_unredacted(workspace, text, {channel_by_unit[unit] for unit in units}, references)
            for text, units in texts[::step]
        )
    return {name: count for name, count in counts.items() if count}


def _is_unredacted(workspace: Workspace, text: str, channels: Set[str], references: Set[str]) -> bool:
    """Whether every channel forbids something in the text; `references` are numbers that redaction left in records."""
    text = record_strings.COMMIT.sub("-", _CITATION.sub(" ", text))

    def forbids(channel: str) -> bool:
        entities = workspace.redactor.detect(text, channel)
        return any(text[entity.start : entity.end] not in references for entity in entities)

    return bool(channels) and all(forbids(channel) for channel in sorted(channels))


def _texts(tables: Tables) -> dict[str, list[tuple[str, list[str]]]]:
    """The texts of each table with the text units that they are made of; the parts of a report separately."""
    communities = dict(zip(tables["communities"]["community"], tables["communities"]["text_unit_ids"], strict=True))
    texts: dict[str, list[tuple[str, list[str]]]] = {"community_reports": []}
    for name, columns_ in _SAID.items():
        if name not in tables:
            continue
        units = _UNITS.get(name, "text_unit_ids")
        texts[name] = [
            (row[column], [row[units]] if name in _UNITS else list(row[units]))
            for row in tables[name].to_dict("records")
            for column in columns_
        ]
    for row in tables["community_reports"].to_dict("records"):
        parts = [row["title"], row["summary"]]
        for finding in row["findings"]:
            parts += [finding["summary"], *_CITATION.split(finding["explanation"])]
        texts["community_reports"] += [(part, list(communities[row["community"]])) for part in parts]
    return texts


def _tables(workspace: Workspace, collection: str) -> Tables:
    from relrag_pipelines.graphrag import parquet
    from relrag_pipelines.graphrag.schema import ALL

    index_folder = graph_indexes.current_folder(workspace.home, collection)
    if index_folder is None:
        raise GraphIndexError(f"there is no GraphRAG index {collection}; run `relrag sync`")
    read = {name: parquet.read(index_folder, name) for name in ALL}
    return {name: table for name, table in read.items() if table is not None}


def _inputs(workspace: Workspace, collection: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The passages and people of the published generation."""
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    with (
        generations.open_current(workspace.home) as generation,
        catalog.open(generation.path / catalog.NAME) as connection,
    ):
        if generation.manifest["inputs"] != plans.expected_inputs_hash(workspace, surveys):
            raise GraphIndexError("the published generation is not up to date; run `relrag sync`")
        return passages(connection, workspace, collection), people(connection)


def _build(
    workspace: Workspace, chunks: pd.DataFrame, named: pd.DataFrame | None, drafts: pd.DataFrame | None
) -> tuple[Tables, dict[str, Any]]:
    from relrag_pipelines.graphrag.build import build

    if workspace.settings.graphrag.method == "llm":
        return build_by_model(workspace, chunks, named)
    return build(chunks, named, drafts), {}


def _draft_counts(tables: Tables, drafts: pd.DataFrame | None) -> dict[str, int]:
    """How many reports were drafted again, and how many communities are unchanged."""
    earlier = set() if drafts is None else {*drafts["fingerprint"]}
    unchanged = sum(print_ in earlier for print_ in tables["report_drafts"]["fingerprint"])
    return {"reports_kept": unchanged, "reports_drafted": len(tables["report_drafts"]) - unchanged}


def passages(connection: duckdb.DuckDBPyConnection, workspace: Workspace, collection: str) -> pd.DataFrame:
    """The passages of a collection, with the columns of records.Chunk, from a catalog."""
    import pandas as pd

    collection_settings = workspace.settings.graphrag.collections[collection]
    names = [source.name for source in workspace.settings.sources if collection_settings.holds(source)]
    first, until = _seconds(workspace, collection_settings)
    # a time that is only that of a file says nothing of when something was said
    has_time = "date_quality IS NULL OR date_quality IN ('exact', 'day', 'received', 'separator')"
    selected = ", ".join(
        f'CASE WHEN {has_time} THEN "{column.name}" END AS "{column.name}"'
        if column.name in _TIMES
        else f'"{column.name}"'
        for column in columns(Chunk)
    )
    rows = connection.sql(
        f"SELECT * FROM (SELECT {selected} FROM chunks WHERE list_contains($names, source)) "  # noqa: S608
        "WHERE ($first IS NULL OR coalesce(last_ts, ts) >= $first) AND ($until IS NULL OR ts < $until) "
        "ORDER BY asset_id, chunk_index, chunk_id",
        params={"names": names, "first": first, "until": until},
    ).to_arrow_table()
    return pd.DataFrame(rows.to_pylist(), columns=rows.column_names, dtype=object)


def people(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame | None:
    """person_id and name of the archive's people, the name to be shown first; None where the catalog has none."""
    import pandas as pd

    there = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    if not {*PEOPLE} <= there:
        return None
    rows = connection.execute(
        "SELECT person_id, name FROM ("
        "SELECT person_id, name, 0 AS place FROM persons WHERE name <> '' "
        "UNION ALL SELECT person_id, alias, 1 FROM person_aliases WHERE kind = 'name'"
        ") ORDER BY person_id, place, name"
    ).fetchall()
    return pd.DataFrame(rows, columns=["person_id", "name"]) if rows else None


def _seconds(workspace: Workspace, collection: Collection) -> tuple[int | None, int | None]:
    """The first second of a collection's time, and the one after its last."""
    zone = ZoneInfo(workspace.settings.timezone)

    def midnight(day: date) -> int:
        return int(datetime.combine(day, time(), zone).timestamp())

    first = midnight(days(collection.since)[0]) if collection.since else None
    return first, midnight(days(collection.until)[1]) if collection.until else None
