"""The table of community reports, each drafted from its community or reused from an earlier index."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson
import pandas as pd

from relrag_pipelines.graphrag import extractive_reports
from relrag_pipelines.graphrag.extractive_reports import Draft, Entity, Link, Material, Unit
from relrag_pipelines.graphrag.mention_graph import Graph, stable_id
from relrag_pipelines.graphrag.schema import frame


class Writer(Protocol):
    """Writes descriptions and reports; see llm/model_writer.py."""

    def describe(self, title: str, descriptions: Sequence[str], texts: Sequence[str]) -> str:
        """Merges several descriptions into one; empty if it cannot."""

    def draft(self, material: Material, texts: Sequence[str]) -> Draft | None:
        """Drafts a report, in the form of extractive_reports.draft; None if it cannot."""


def community_reports(
    table: pd.DataFrame,
    built: Graph,
    units: pd.DataFrame,
    days: Sequence[str],
    drafts: pd.DataFrame | None,
    writer: Writer | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables community_reports and report_drafts."""
    stored_drafts = {} if drafts is None else dict(zip(drafts["fingerprint"], drafts["draft"], strict=True))
    unit_ids = units["id"].tolist()
    texts = dict(zip(unit_ids, units["text"], strict=True))
    materials = _Materials(built, unit_ids, days)
    final_drafts: list[Draft] = []
    extractive_drafts: dict[str, Draft] = {}
    columns = ("entity_ids", "relationship_ids", "text_unit_ids")
    for entity_ids, link_ids, within in zip(*map(table.get, columns), strict=True):
        material = materials.material(entity_ids, link_ids, within)
        fingerprint = extractive_reports.fingerprint(material)
        stored = stored_drafts.get(fingerprint)
        extractive = orjson.loads(stored) if stored else extractive_reports.draft(material)
        extractive_drafts[fingerprint] = extractive
        model_draft = writer.draft(material, [texts[unit] for unit in within]) if writer else None
        final_drafts.append(model_draft or extractive)
    numbers = dict(zip(unit_ids, range(len(unit_ids)), strict=True))
    for records in (built.entities, built.relationships):
        numbers |= dict(zip(records["id"], records["human_readable_id"].tolist(), strict=True))
    fingerprints = sorted(extractive_drafts)
    serialised = [orjson.dumps(extractive_drafts[fingerprint]).decode() for fingerprint in fingerprints]
    reports = _report_table(table, final_drafts, numbers, len(unit_ids))
    return reports, frame("report_drafts", {"fingerprint": fingerprints, "draft": serialised})


class _Materials:
    """Makes the material of reports from the ids of entities, relationships and text units."""

    def __init__(self, built: Graph, unit_ids: Sequence[str], days: Sequence[str]) -> None:
        entities = built.entities
        self._rows = {entity_id: row for row, entity_id in enumerate(entities["id"])}
        self._entities = list(map(Entity, entities["id"], entities["title"], entities["type"]))
        self._links = {
            link_id: (source, target, len(units))
            for link_id, (source, target, _), units in zip(
                built.relationships["id"], built.edges, built.relationships["text_unit_ids"], strict=True
            )
        }
        self._units = {unit_id: unit for unit, unit_id in enumerate(unit_ids)}
        self._days, self._sentences = days, built.sentences

    def material(self, entity_ids: Sequence[str], link_ids: Sequence[str], unit_ids: Sequence[str]) -> Material:
        """The material of a community; its links refer to entities by their index in `entity_ids`."""
        indexes = {self._rows[entity_id]: index for index, entity_id in enumerate(entity_ids)}
        links = []
        for link_id in link_ids:
            source, target, strength = self._links[link_id]
            links.append(Link(link_id, indexes[source], indexes[target], strength))
        links.sort(key=lambda link: (-link.strength, link.id))
        units = [self._unit(unit_id, indexes) for unit_id in unit_ids]
        return Material([self._entities[row] for row in indexes], links, units)

    def _unit(self, unit_id: str, indexes: Mapping[int, int]) -> Unit:
        """The sentences of a text unit that name entities of a community, which `indexes` numbers."""
        unit = self._units[unit_id]
        sentences = []
        for sentence in self._sentences[unit]:
            entities = tuple(indexes[row] for row in sentence.entities if row in indexes)
            if entities:
                sentences.append(sentence._replace(entities=entities))
        return Unit(unit_id, self._days[unit], sentences)


def _report_table(table: pd.DataFrame, drafts: Sequence[Draft], numbers: Mapping[str, int], count: int) -> pd.DataFrame:
    titles = _titles([draft["title"] for draft in drafts])
    findings = [extractive_reports.render(draft, numbers) for draft in drafts]
    unit_counts = [len(units) for units in table["text_unit_ids"]]
    ranks = [round(10 * math.log1p(units) / math.log1p(count), 1) for units in unit_counts]
    explanations = [f"Named in {units} of {count} passages." for units in unit_counts]
    reports = [
        {
            "title": title,
            "summary": draft["summary"],
            "findings": report_findings,
            "rating": rank,
            "rating_explanation": explanation,
        }
        for title, draft, report_findings, rank, explanation in zip(
            titles, drafts, findings, ranks, explanations, strict=True
        )
    ]
    community_columns = ("human_readable_id", "community", "level", "parent", "children", "period", "size")
    return frame(
        "community_reports",
        {name: table[name].tolist() for name in community_columns}
        | {
            "id": [stable_id("report", community) for community in table["id"]],
            "title": titles,
            "summary": [report["summary"] for report in reports],
            "full_content": [_content(report) for report in reports],
            "rank": ranks,
            "rating_explanation": explanations,
            "findings": findings,
            "full_content_json": [orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() for report in reports],
        },
    )


def _titles(titles: Sequence[str]) -> list[str]:
    """The titles, made unique by a number: Microsoft's loader merges reports of one title."""
    counts: dict[str, int] = {}
    unique: dict[str, None] = {}
    for title in titles:
        numbered = title
        while numbered in unique:
            counts[title] = counts.get(title, 1) + 1
            numbered = f"{title} ({counts[title]})"
        unique[numbered] = None
    return list(unique)


def _content(report: Mapping[str, Any]) -> str:
    findings = [f"## {finding['summary']}\n\n{finding['explanation']}" for finding in report["findings"]]
    return "\n\n".join([f"# {report['title']}", report["summary"], *findings])
