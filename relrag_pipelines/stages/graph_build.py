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
    chunks, named = _inputs(workspace, collection)
    before = graph_indexes.current_folder(workspace.home, collection)
    drafts = parquet.read(before, "report_drafts") if before else None
    tables, told = _build(workspace, chunks, named, drafts)
    if wrong := violations(tables):
        raise GraphIndexError(f"the GraphRAG index {collection} does not fit together: {wrong[0]}")
    told = {
        "passages": len(chunks),
        **told,
        **_draft_counts(tables, drafts),
        "withheld": graph_leaks.blank(tables, LeakRules(workspace)),
    }
    told |= graph_vectors.embed(workspace, tables, f"vectors of the GraphRAG index {collection}")
    place = graph_indexes.begin(workspace.home, collection)
    parquet.write(tables, place)
    counts = {name: len(table) for name, table in tables.items()}
    graph_indexes.finish(place, stamp, counts, told)
    workspace.report(f"GraphRAG index {collection}", 1, 1)
    prune_answers(workspace.home)
    done = graph_indexes.current_info(workspace.home, collection)
    assert done
    return done


def broken_invariants(workspace: Workspace, collection: str) -> list[str]:
    """The invariants that the index on disk breaks, without text."""
    from relrag_pipelines.graphrag.invariants import violations

    return violations(_tables(workspace, collection))


def find_unredacted(workspace: Workspace, collection: str) -> dict[str, int]:
    """How many texts of each table hold what the policy of each of their passages forbids; up to a thousand a table.

    A text that is made of passages of several channels may hold what one of these lets through.
    """
    if not workspace.settings.pii_redaction_enabled:
        return {}
    tables = _tables(workspace, collection)
    with (
        generations.open_current(workspace.home) as generation,
        catalog.open(generation.path / catalog.NAME) as connection,
    ):
        known = connection.execute("SELECT chunk_id, source, rag_source_type FROM chunks").fetchall()
        listed = connection.execute("SELECT DISTINCT unnest(numbers) FROM records").fetchall()
    sources = {one.name: workspace.channel(one) for one in workspace.settings.sources}
    channels = {chunk: redact_tables.channel_of(kind, sources[source]) for chunk, source, kind in known}
    origin = tables["text_unit_chunks"]
    of = {unit: channels.get(chunk, "default") for unit, chunk in zip(*map(origin.get, _ORIGIN), strict=True)}
    # an order's number keeps its place in a record that calls it one; here it stands without that word
    references = {number for (number,) in listed}
    found = {}
    for name, texts in _texts(tables).items():
        every = -(-len(texts) // _SCANNED) or 1
        found[name] = sum(
            _is_unredacted(workspace, text, {of[one] for one in units}, references) for text, units in texts[::every]
        )
    return {name: count for name, count in found.items() if count}


def _is_unredacted(workspace: Workspace, text: str, channels: Set[str], references: Set[str]) -> bool:
    """Whether every channel forbids something in the text; `references` are numbers that redaction left in records."""
    text = record_strings.COMMIT.sub("-", _CITATION.sub(" ", text))

    def forbids(channel: str) -> bool:
        found = workspace.redactor.detect(text, channel)
        return any(text[entity.start : entity.end] not in references for entity in found)

    return bool(channels) and all(forbids(channel) for channel in sorted(channels))


def _texts(tables: Tables) -> dict[str, list[tuple[str, list[str]]]]:
    """By table each text and the text units that it was made of; the parts of a report one by one."""
    communities = dict(zip(tables["communities"]["community"], tables["communities"]["text_unit_ids"], strict=True))
    found: dict[str, list[tuple[str, list[str]]]] = {"community_reports": []}
    for name, said in _SAID.items():
        if name not in tables:
            continue
        units = _UNITS.get(name, "text_unit_ids")
        found[name] = [
            (row[column], [row[units]] if name in _UNITS else list(row[units]))
            for row in tables[name].to_dict("records")
            for column in said
        ]
    for row in tables["community_reports"].to_dict("records"):
        parts = [row["title"], row["summary"]]
        for finding in row["findings"]:
            parts += [finding["summary"], *_CITATION.split(finding["explanation"])]
        found["community_reports"] += [(part, list(communities[row["community"]])) for part in parts]
    return found


def _tables(workspace: Workspace, collection: str) -> Tables:
    from relrag_pipelines.graphrag import parquet
    from relrag_pipelines.graphrag.schema import ALL

    place = graph_indexes.current_folder(workspace.home, collection)
    if place is None:
        raise GraphIndexError(f"there is no GraphRAG index {collection}; run `relrag sync`")
    read = {name: parquet.read(place, name) for name in ALL}
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
    known = set() if drafts is None else {*drafts["fingerprint"]}
    kept = sum(one in known for one in tables["report_drafts"]["fingerprint"])
    return {"reports_kept": kept, "reports_drafted": len(tables["report_drafts"]) - kept}


def passages(connection: duckdb.DuckDBPyConnection, workspace: Workspace, collection: str) -> pd.DataFrame:
    """The passages of a collection, with the columns of records.Chunk, from a catalog."""
    import pandas as pd

    wanted = workspace.settings.graphrag.collections[collection]
    names = [one.name for one in workspace.settings.sources if wanted.holds(one)]
    first, behind = _seconds(workspace, wanted)
    # a time that is only that of a file says nothing of when something was said
    known = "date_quality IS NULL OR date_quality IN ('exact', 'day', 'received', 'separator')"
    held = ", ".join(
        f'CASE WHEN {known} THEN "{one.name}" END AS "{one.name}"' if one.name in _TIMES else f'"{one.name}"'
        for one in columns(Chunk)
    )
    rows = connection.sql(
        f"SELECT * FROM (SELECT {held} FROM chunks WHERE list_contains($names, source)) "  # noqa: S608
        "WHERE ($first IS NULL OR coalesce(last_ts, ts) >= $first) AND ($behind IS NULL OR ts < $behind) "
        "ORDER BY asset_id, chunk_index, chunk_id",
        params={"names": names, "first": first, "behind": behind},
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


def _seconds(workspace: Workspace, wanted: Collection) -> tuple[int | None, int | None]:
    """The first second of a collection's time, and the one after its last."""
    zone = ZoneInfo(workspace.settings.timezone)

    def of(day: date) -> int:
        return int(datetime.combine(day, time(), zone).timestamp())

    first = of(days(wanted.since)[0]) if wanted.since else None
    return first, of(days(wanted.until)[1]) if wanted.until else None
