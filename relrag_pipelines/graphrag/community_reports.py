"""The table of community reports: each drafted from its community, or taken from the drafts of an earlier index."""

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
    """community_reports and report_drafts."""
    known = {} if drafts is None else dict(zip(drafts["fingerprint"], drafts["draft"], strict=True))
    unit_ids = units["id"].tolist()
    texts = dict(zip(unit_ids, units["text"], strict=True))
    gathered = _Materials(built, unit_ids, days)
    prints: list[str] = []
    drafted: list[Draft] = []
    drafts_of: dict[str, Draft] = {}
    for entity_ids, link_ids, within in zip(
        table["entity_ids"], table["relationship_ids"], table["text_unit_ids"], strict=True
    ):
        material = gathered.material(entity_ids, link_ids, within)
        prints.append(extractive_reports.fingerprint(material))
        stored = known.get(prints[-1])
        quoted = orjson.loads(stored) if stored else extractive_reports.draft(material)
        drafts_of[prints[-1]] = quoted
        written = writer.draft(material, [texts[unit] for unit in within]) if writer else None
        drafted.append(written or quoted)
    numbers = dict(zip(unit_ids, range(len(unit_ids)), strict=True))
    for records in (built.entities, built.relationships):
        numbers |= dict(zip(records["id"], records["human_readable_id"].tolist(), strict=True))
    kept = {one: orjson.dumps(draft).decode() for one, draft in drafts_of.items()}
    return _report_table(table, drafted, numbers, len(unit_ids)), frame(
        "report_drafts", {"fingerprint": sorted(kept), "draft": [kept[one] for one in sorted(kept)]}
    )


class _Materials:
    """The material for reports, by id."""

    def __init__(self, built: Graph, unit_ids: Sequence[str], days: Sequence[str]) -> None:
        entities = built.entities
        self._rows = {one: row for row, one in enumerate(entities["id"])}
        self._entities = list(map(Entity, entities["id"], entities["title"], entities["type"]))
        self._links = {
            one: (source, target, len(units))
            for one, (source, target, _), units in zip(
                built.relationships["id"], built.edges, built.relationships["text_unit_ids"], strict=True
            )
        }
        self._units = {one: unit for unit, one in enumerate(unit_ids)}
        self._days, self._said = days, built.sentences

    def material(self, entity_ids: Sequence[str], link_ids: Sequence[str], unit_ids: Sequence[str]) -> Material:
        places = {self._rows[one]: place for place, one in enumerate(entity_ids)}
        links = [
            Link(one, places[source], places[target], strength)
            for one in link_ids
            for source, target, strength in [self._links[one]]
        ]
        links.sort(key=lambda one: (-one.strength, one.id))
        return Material([self._entities[row] for row in places], links, [self._unit(one, places) for one in unit_ids])

    def _unit(self, unit_id: str, places: Mapping[int, int]) -> Unit:
        unit = self._units[unit_id]
        said = [
            one._replace(entities=tuple(places[row] for row in one.entities if row in places))
            for one in self._said[unit]
            if any(row in places for row in one.entities)
        ]
        return Unit(unit_id, self._days[unit], said)


def _report_table(
    table: pd.DataFrame, drafted: Sequence[Draft], numbers: Mapping[str, int], count: int
) -> pd.DataFrame:
    titles = _titles([one["title"] for one in drafted])
    findings = [extractive_reports.render(one, numbers) for one in drafted]
    named = [len(units) for units in table["text_unit_ids"]]
    ranks = [round(10 * math.log1p(one) / math.log1p(count), 1) for one in named]
    why = [f"Named in {one} of {count} passages." for one in named]
    written = [
        {"title": title, "summary": one["summary"], "findings": of, "rating": rank, "rating_explanation": reason}
        for title, one, of, rank, reason in zip(titles, drafted, findings, ranks, why, strict=True)
    ]
    same = ("human_readable_id", "community", "level", "parent", "children", "period", "size")
    return frame(
        "community_reports",
        {name: table[name].tolist() for name in same}
        | {
            "id": [stable_id("report", community) for community in table["id"]],
            "title": titles,
            "summary": [one["summary"] for one in written],
            "full_content": [_content(one) for one in written],
            "rank": ranks,
            "rating_explanation": why,
            "findings": findings,
            "full_content_json": [orjson.dumps(one, option=orjson.OPT_INDENT_2).decode() for one in written],
        },
    )


def _titles(wanted: Sequence[str]) -> list[str]:
    """Titles, no two of which are the same: Microsoft's loader merges reports of one title."""
    counts: dict[str, int] = {}
    found: dict[str, None] = {}
    for title in wanted:
        told = title
        while told in found:
            counts[title] = counts.get(title, 1) + 1
            told = f"{title} ({counts[title]})"
        found[told] = None
    return list(found)


def _content(report: Mapping[str, Any]) -> str:
    findings = [f"## {one['summary']}\n\n{one['explanation']}" for one in report["findings"]]
    return "\n\n".join([f"# {report['title']}", report["summary"], *findings])
