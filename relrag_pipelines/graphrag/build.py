"""A whole GraphRAG index from an archive's chunks. Equal chunks give equal tables, whatever was built before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from relrag_pipelines.graphrag import extractive_reports, repeats
from relrag_pipelines.graphrag.communities import Community, communities
from relrag_pipelines.graphrag.community_reports import Writer, community_reports
from relrag_pipelines.graphrag.entity_candidates import Candidate, candidates
from relrag_pipelines.graphrag.entity_selection import Selection, select
from relrag_pipelines.graphrag.known_people import KnownPeople, plain_name
from relrag_pipelines.graphrag.llm.extraction_graph import covariates, graph_of_extractions
from relrag_pipelines.graphrag.llm.extraction_schema import Extraction
from relrag_pipelines.graphrag.mention_graph import Graph, graph, stable_id
from relrag_pipelines.graphrag.nouns import Nouns
from relrag_pipelines.graphrag.schema import Tables, frame
from relrag_pipelines.graphrag.text_units import text_units

_REPEATING = frozenset({"quoted", "forward_headers", "signature", "disclaimer"})
"""sections of mails that repeat what others said, or say it in every mail; no names are taken from them"""


_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|odp|vs|fw)\s*:\s*)+", re.IGNORECASE)
"""what mail programs write before a subject"""


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
        built = _graph_by_statistics(units, headers, found, nouns, known, options)
    else:
        built = graph_of_extractions(texts, unit_ids, extractions, known, writer.describe if writer else None)
    reported = _reported_communities(built, units, origin, options.max_community_size, drafts, writer)
    units["entity_ids"] = _invert(unit_ids, built.entities)
    units["relationship_ids"] = _invert(unit_ids, built.relationships)
    claimed = _covariates(built, units, extractions, known) if claims and extractions is not None else {}
    made = {"documents": documents, "text_units": units, "text_unit_chunks": origin}
    made |= {"entities": built.entities, "relationships": built.relationships}
    made |= {"entity_people": _entity_people(built, known)}
    made |= {"vocabulary": frame("vocabulary", nouns.vocabulary(found, known.words))}
    return made | reported | claimed | _no_vectors()


def _graph_by_statistics(
    units: pd.DataFrame,
    headers: Sequence[Sequence[str]],
    found: Sequence[Sequence[Candidate]],
    nouns: Nouns,
    known: KnownPeople,
    options: Options,
) -> Graph:
    """The graph of people whom texts or their headers name, and of candidates that are entities by their use."""
    texts = units["text"].tolist()
    named = [one for unit, text in enumerate(texts) for one in known.mentions(unit, text, headers[unit])]
    mentions = select(found, named, nouns, options.selection, known.words)
    return graph(texts, units["id"].tolist(), mentions, known.titles, options.min_weight_percentile)


def _reported_communities(
    built: Graph,
    units: pd.DataFrame,
    origin: pd.DataFrame,
    max_size: int,
    drafts: pd.DataFrame | None,
    writer: Writer | None,
) -> Tables:
    """The communities of a graph, their reports, and the drafts of these."""
    days = [extractive_reports.day(_latest(last, ts)) for last, ts in zip(origin["last_ts"], origin["ts"], strict=True)]
    grouped = communities(built.edges, max_size)
    table = community_table(grouped, built, dict(zip(units["id"], days, strict=True)))
    written, kept = community_reports(table, built, units, days, drafts, writer)
    return {"communities": table, "community_reports": written, "report_drafts": kept}


def _no_vectors() -> Tables:
    """The tables that an embedder fills, where there is one; it belongs to no pure function."""
    return {
        "record_texts": frame("record_texts", {"record_id": [], "text_hash": []}),
        "text_vectors": frame("text_vectors", {"text_hash": [], "model": [], "vector": []}),
    }


def _entity_people(built: Graph, known: KnownPeople) -> pd.DataFrame:
    """Which entities are people of the archive."""
    ids = built.entities["id"]
    persons = [(ids.iat[row], known.person_ids[key]) for row, key in enumerate(built.keys) if key in known.person_ids]
    return frame("entity_people", {"entity_id": [one for one, _ in persons], "person_id": [one for _, one in persons]})


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
