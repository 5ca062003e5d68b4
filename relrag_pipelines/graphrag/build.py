"""A whole GraphRAG index from an archive's chunks. Equal chunks give equal tables, whatever was built before."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson
import pandas as pd

from relrag_pipelines.graphrag import repeats, reports
from relrag_pipelines.graphrag.candidates import Candidate, candidates
from relrag_pipelines.graphrag.communities import Community, communities
from relrag_pipelines.graphrag.graph import Graph, graph, stable_id
from relrag_pipelines.graphrag.known_people import KnownPeople, plain_name
from relrag_pipelines.graphrag.llm.extraction import Extraction
from relrag_pipelines.graphrag.llm.graph import covariates, graph_of_extractions
from relrag_pipelines.graphrag.nouns import Nouns
from relrag_pipelines.graphrag.reports import Draft, Entity, Link, Material, Unit
from relrag_pipelines.graphrag.schema import Tables, frame
from relrag_pipelines.graphrag.selection import Selection, select
from relrag_pipelines.graphrag.text_units import text_units

_REPEATING = frozenset({"quoted", "forward_headers", "signature", "disclaimer"})
"""sections of mails that repeat what others said, or say it in every mail; no names are taken from them"""


_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|odp|vs|fw)\s*:\s*)+", re.IGNORECASE)
"""what mail programs write before a subject"""


class Writer(Protocol):
    """Who writes descriptions and reports; see llm/writing.py."""

    def describe(self, title: str, descriptions: Sequence[str], texts: Sequence[str]) -> str:
        """One description of several; empty where it cannot."""

    def draft(self, material: Material, texts: Sequence[str]) -> Draft | None:
        """The draft of a report, as reports.draft gives it; None where it cannot."""


@dataclass(frozen=True)
class Options:
    """How an index is built."""

    selection: Selection = field(default_factory=Selection)
    min_weight_percentile: float = 40
    """of all relations so many percent, the weakest, are left out"""
    max_community_size: int = 10
    """entities; larger communities are divided again"""


def build(
    chunks: pd.DataFrame,
    people: pd.DataFrame | None = None,
    drafts: pd.DataFrame | None = None,
    options: Options | None = None,
    extractions: Mapping[str, Extraction] | None = None,
    writer: Writer | None = None,
    *,
    claims: bool = False,
) -> Tables:
    """All tables of an index (schema.ALL).

    `chunks` has the columns of records.Chunk. `people` has person_id and name, a row a name, the one to show first.
    `drafts` are the report_drafts of an earlier index: a community that is as it was is not drafted again.
    `extractions` is what a language model found, by text (llm/extraction.py); without it statistics find entities.
    With `claims` the table covariates is made of these.
    `writer` is a language model that writes descriptions and reports; what it does not write is joined and quoted.
    """
    options = options or Options()
    documents, units, origin = text_units(chunks)
    headers = _headers(chunks, origin["chunk_id"])
    known = KnownPeople(people, (name for some in headers for one in some if (name := plain_name(one))))
    texts, unit_ids = units["text"].tolist(), units["id"].tolist()
    found = _candidates(texts, chunks, origin, known)
    nouns = Nouns(found)
    if extractions is None:
        named = [one for unit, text in enumerate(texts) for one in known.mentions(unit, text, headers[unit])]
        mentions = select(found, named, nouns, options.selection, known.words)
        built = graph(texts, unit_ids, mentions, known.titles, options.min_weight_percentile)
    else:
        built = graph_of_extractions(texts, unit_ids, extractions, known, writer.describe if writer else None)
    grouped = communities(built.edges, options.max_community_size)
    days = [reports.day(_latest(last, ts)) for last, ts in zip(origin["last_ts"], origin["ts"], strict=True)]
    table = community_table(grouped, built, dict(zip(unit_ids, days, strict=True)))
    written, kept = _reports(table, built, units, days, drafts, writer)
    units["entity_ids"] = _invert(unit_ids, built.entities)
    units["relationship_ids"] = _invert(unit_ids, built.relationships)
    persons = [(row, known.person_ids[key]) for row, key in enumerate(built.keys) if key in known.person_ids]
    tables = _covariates(built, units, extractions, known) if claims and extractions is not None else {}
    return tables | {
        "documents": documents,
        "text_units": units,
        "entities": built.entities,
        "relationships": built.relationships,
        "communities": table,
        "community_reports": written,
        "text_unit_chunks": origin,
        "entity_people": frame(
            "entity_people",
            {
                "entity_id": [built.entities["id"].iat[row] for row, _ in persons],
                "person_id": [person for _, person in persons],
            },
        ),
        "vocabulary": frame("vocabulary", nouns.vocabulary(found, known.words)),
        "report_drafts": kept,
        # an embedder fills these, where there is one; it belongs to no pure function
        "record_texts": frame("record_texts", {"record_id": [], "text_hash": []}),
        "text_vectors": frame("text_vectors", {"text_hash": [], "model": [], "vector": []}),
    }


def _covariates(built: Graph, units: pd.DataFrame, extractions: Mapping[str, Extraction], known: KnownPeople) -> Tables:
    """The table of claims; each text unit is told its own."""
    unit_ids = units["id"].tolist()
    table = covariates(built, units["text"].tolist(), unit_ids, extractions, known)
    units["covariate_ids"] = _invert(unit_ids, table.assign(text_unit_ids=[[one] for one in table["text_unit_id"]]))
    return {"covariates": table}


def _headers(chunks: pd.DataFrame, order: Iterable[str]) -> list[list[str]]:
    """Senders, recipients and participants of each chunk."""
    found: dict[str, list[str]] = {}
    for chunk_id, sender, to, participants in zip(
        chunks["chunk_id"], chunks["from"], chunks["to"], chunks["participants"], strict=True
    ):
        # the senders of a chat window are its participants, and stand in `from` joined
        alone = [sender] if isinstance(sender, str) and not len(participants) else []
        found[chunk_id] = [*alone, *to, *participants]
    return [found[chunk_id] for chunk_id in order]


def _candidates(
    texts: Sequence[str], chunks: pd.DataFrame, origin: pd.DataFrame, known: KnownPeople
) -> list[list[Candidate]]:
    """What each text and the subject of its record may name."""
    columns = ("section", "subject", "members")
    rows = {one[0]: one[1:] for one in zip(chunks["chunk_id"], *map(chunks.get, columns), strict=True)}
    found = []
    for text, chunk_id in zip(repeats.blank(texts, origin["asset_id"].tolist()), origin["chunk_id"], strict=True):
        section, subject, members = rows[chunk_id]
        # the subject of a chat window is the name of the chat, which every window has
        named = [] if len(members) or not isinstance(subject, str) else candidates(_REPLY.sub("", subject))
        found.append(
            []
            if section in _REPEATING
            else [*candidates(text), *(one._replace(start=-1) for one in named if known.key(one.text) is None)]
        )
    return found


def _latest(last: int | None, ts: int | None) -> int | None:
    return last if last is not None else ts


def _invert(unit_ids: Sequence[str], records: pd.DataFrame) -> pd.Series[Any]:
    """Of each text unit the records that name it."""
    found: dict[str, list[str]] = {unit: [] for unit in unit_ids}
    for record, units in zip(records["id"], records["text_unit_ids"], strict=True):
        for unit in units:
            found[unit].append(record)
    return pd.Series(list(found.values()), dtype=object)


def community_table(grouped: Sequence[Community], built: Graph, days: Mapping[str, str]) -> pd.DataFrame:
    """The table communities; `days` has the day of each text unit by its id."""
    entity_ids, entity_units = built.entities["id"].tolist(), built.entities["text_unit_ids"].tolist()
    links, link_units = built.relationships["id"].tolist(), built.relationships["text_unit_ids"].tolist()
    inside = _inner_relationships(grouped, built.edges)
    children: list[list[int]] = [[] for _ in grouped]
    for number, one in enumerate(grouped):
        if one.parent >= 0:
            children[one.parent].append(number)
    units = [
        sorted({unit for row in rows for unit in link_units[row]})
        or sorted({unit for row in one.members for unit in entity_units[row]})
        for one, rows in zip(grouped, inside, strict=True)
    ]
    members = [[entity_ids[row] for row in one.members] for one in grouped]
    return frame(
        "communities",
        {
            "id": [stable_id("community", str(one.level), *of) for one, of in zip(grouped, members, strict=True)],
            "human_readable_id": range(len(grouped)),
            "community": range(len(grouped)),
            "level": [one.level for one in grouped],
            "parent": [one.parent for one in grouped],
            "children": children,
            "title": [f"Community {number}" for number in range(len(grouped))],
            "entity_ids": members,
            "relationship_ids": [[links[row] for row in rows] for rows in inside],
            "text_unit_ids": units,
            "period": [max((days[unit] for unit in of), default="") for of in units],
            "size": [len(of) for of in members],
        },
    )


def _inner_relationships(grouped: Sequence[Community], edges: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """The relationships both ends of which are in a community."""
    found: list[list[int]] = [[] for _ in grouped]
    for level in {one.level for one in grouped}:
        of = {row: number for number, one in enumerate(grouped) if one.level == level for row in one.members}
        for row, (source, target, _) in enumerate(edges):
            if source in of and of[source] == of.get(target):
                found[of[source]].append(row)
    return found


def _reports(
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
        prints.append(reports.fingerprint(material))
        stored = known.get(prints[-1])
        quoted = orjson.loads(stored) if stored else reports.draft(material)
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
    """What reports are drafted from, by id."""

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
    findings = [reports.render(one, numbers) for one in drafted]
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
    """Titles of which no two are the same: Microsoft's loader joins reports of one title."""
    seen: dict[str, int] = {}
    found = []
    for title in wanted:
        seen[title] = seen.get(title, 0) + 1
        found.append(title if seen[title] == 1 else f"{title} ({seen[title]})")
    return found


def _content(report: Mapping[str, Any]) -> str:
    findings = [f"## {one['summary']}\n\n{one['explanation']}" for one in report["findings"]]
    return "\n\n".join([f"# {report['title']}", report["summary"], *findings])
