"""A whole GraphRAG index from an archive's chunks. Equal chunks give equal tables, whatever was built before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pandas as pd

from relrag_pipelines.graphrag import extractive_reports, repeats
from relrag_pipelines.graphrag.communities import Community, communities
from relrag_pipelines.graphrag.community_reports import Writer, community_reports
from relrag_pipelines.graphrag.entity_candidates import Candidate, candidates
from relrag_pipelines.graphrag.entity_selection import Mention, Selection, select
from relrag_pipelines.graphrag.known_people import KnownPeople, plain_name
from relrag_pipelines.graphrag.llm.extraction_graph import covariates, graph_of_extractions
from relrag_pipelines.graphrag.llm.extraction_schema import Extraction
from relrag_pipelines.graphrag.mention_graph import Graph, graph, stable_id
from relrag_pipelines.graphrag.nouns import Nouns
from relrag_pipelines.graphrag.schema import Tables, frame
from relrag_pipelines.graphrag.text_units import text_units

_REPEATING = frozenset({"quoted", "forward_headers", "signature", "disclaimer"})
"""sections of mails that repeat other texts or occur in every mail; no names are taken from them"""


_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|odp|vs|fw)\s*:\s*)+", re.IGNORECASE)
"""what mail programs write before a subject"""


@dataclass(frozen=True)
class Options:
    """How an index is built."""

    selection: Selection = field(default_factory=Selection)
    min_weight_percentile: float = 40
    """percentage of the relations, the weakest, that are left out"""
    max_community_size: int = 10
    """entities; larger communities are subdivided"""


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

    `chunks` has the columns of records.Chunk. `people` has person_id and name, one row a name, the displayed one first.
    `drafts` are the report_drafts of an earlier index; an unchanged community reuses its draft. `extractions` are a
    language model's results by text (llm/extraction.py); without them statistics find entities. With `claims` the table
    covariates is made of these. `writer` is a language model that writes descriptions and reports; where it writes
    none, sentences are quoted.
    """
    options = options or Options()
    documents, units, origin = text_units(chunks)
    headers = _headers(chunks, origin["chunk_id"])
    known_people = KnownPeople(people, filter(None, map(plain_name, chain.from_iterable(headers))))
    texts, unit_ids = units["text"].tolist(), units["id"].tolist()
    unit_candidates = _candidates(texts, chunks, origin, known_people)
    nouns = Nouns(unit_candidates)
    if extractions is None:
        built = _graph_by_statistics(units, headers, unit_candidates, nouns, known_people, options)
    else:
        describe = writer.describe if writer else None
        built = graph_of_extractions(texts, unit_ids, extractions, known_people, describe)
    reported = _reported_communities(built, units, origin, options.max_community_size, drafts, writer)
    units["entity_ids"] = _invert(unit_ids, built.entities)
    units["relationship_ids"] = _invert(unit_ids, built.relationships)
    tables = {"documents": documents, "text_units": units, "text_unit_chunks": origin}
    tables |= {"entities": built.entities, "relationships": built.relationships}
    tables |= {"entity_people": _entity_people(built, known_people)}
    tables |= {"vocabulary": frame("vocabulary", nouns.vocabulary(unit_candidates, known_people.words))}
    if claims and extractions is not None:
        tables |= _covariates(built, units, extractions, known_people)
    return tables | reported | _no_vectors()


def _graph_by_statistics(
    units: pd.DataFrame,
    headers: Sequence[Sequence[str]],
    unit_candidates: Sequence[Sequence[Candidate]],
    nouns: Nouns,
    known_people: KnownPeople,
    options: Options,
) -> Graph:
    """The graph of people named in texts or headers, and of candidates that count as entities by their use."""
    texts = units["text"].tolist()
    people: list[Mention] = []
    for unit, text in enumerate(texts):
        people += known_people.mentions(unit, text, headers[unit])
    mentions = select(unit_candidates, people, nouns, options.selection, known_people.words)
    return graph(texts, units["id"].tolist(), mentions, known_people.titles, options.min_weight_percentile)


def _reported_communities(
    built: Graph,
    units: pd.DataFrame,
    origin: pd.DataFrame,
    max_size: int,
    drafts: pd.DataFrame | None,
    writer: Writer | None,
) -> Tables:
    """Builds the tables of communities and of their reports, and the drafts of the reports."""
    days = [extractive_reports.day(_latest(last, ts)) for last, ts in zip(origin["last_ts"], origin["ts"], strict=True)]
    clusters = communities(built.edges, max_size)
    table = community_table(clusters, built, dict(zip(units["id"], days, strict=True)))
    reports, drafts_ = community_reports(table, built, units, days, drafts, writer)
    return {"communities": table, "community_reports": reports, "report_drafts": drafts_}


def _no_vectors() -> Tables:
    """The tables for vectors, without rows; the caller fills them if it has an embedder."""
    return {
        "record_texts": frame("record_texts", {"record_id": [], "text_hash": []}),
        "text_vectors": frame("text_vectors", {"text_hash": [], "model": [], "vector": []}),
    }


def _entity_people(built: Graph, known_people: KnownPeople) -> pd.DataFrame:
    """The entities that are people of the archive."""
    ids = built.entities["id"]
    persons = [
        (ids.iat[row], known_people.person_ids[key])
        for row, key in enumerate(built.keys)
        if key in known_people.person_ids
    ]
    return frame(
        "entity_people",
        {"entity_id": [entity for entity, _ in persons], "person_id": [person for _, person in persons]},
    )


def _covariates(
    built: Graph, units: pd.DataFrame, extractions: Mapping[str, Extraction], known_people: KnownPeople
) -> Tables:
    """The table of claims; `covariate_ids` of each text unit are set."""
    unit_ids = units["id"].tolist()
    table = covariates(built, units["text"].tolist(), unit_ids, extractions, known_people)
    units["covariate_ids"] = _invert(unit_ids, table.assign(text_unit_ids=[[unit] for unit in table["text_unit_id"]]))
    return {"covariates": table}


def _headers(chunks: pd.DataFrame, order: Iterable[str]) -> list[list[str]]:
    """Senders, recipients and participants of each chunk."""
    headers: dict[str, list[str]] = {}
    columns = ("chunk_id", "from", "to", "participants")
    for chunk_id, sender, to, participants in zip(*map(chunks.get, columns), strict=True):
        # the `from` of a chat window joins its participants
        senders = [sender] if isinstance(sender, str) and not len(participants) else []
        headers[chunk_id] = [*senders, *to, *participants]
    return [headers[chunk_id] for chunk_id in order]


def _candidates(
    texts: Sequence[str], chunks: pd.DataFrame, origin: pd.DataFrame, known_people: KnownPeople
) -> list[list[Candidate]]:
    """The candidates in each text and in the subject of its record."""
    columns = ("section", "subject", "members")
    rows = {row[0]: row[1:] for row in zip(chunks["chunk_id"], *map(chunks.get, columns), strict=True)}
    unit_candidates: list[list[Candidate]] = []
    for text, chunk_id in zip(repeats.blank(texts, origin["asset_id"].tolist()), origin["chunk_id"], strict=True):
        section, subject, members = rows[chunk_id]
        if section in _REPEATING:
            unit_candidates.append([])
            continue
        # the subject of a chat window is the name of the chat, which every window has
        in_subject = [] if len(members) or not isinstance(subject, str) else candidates(_REPLY.sub("", subject))
        strangers = [candidate for candidate in in_subject if known_people.key(candidate.text) is None]
        unit_candidates.append([*candidates(text), *(candidate._replace(start=-1) for candidate in strangers)])
    return unit_candidates


def _latest(last: int | None, ts: int | None) -> int | None:
    return last if last is not None else ts


def _invert(unit_ids: Sequence[str], records: pd.DataFrame) -> pd.Series[Any]:
    """The ids of the records that name each text unit."""
    ids: dict[str, list[str]] = {unit: [] for unit in unit_ids}
    for record, units in zip(records["id"], records["text_unit_ids"], strict=True):
        for unit in units:
            ids[unit].append(record)
    return pd.Series(list(ids.values()), dtype=object)


def community_table(clusters: Sequence[Community], built: Graph, days: Mapping[str, str]) -> pd.DataFrame:
    """The table communities; `days` has the day of each text unit by its id."""
    entity_ids, links = built.entities["id"].tolist(), built.relationships["id"].tolist()
    inner = _inner_relationships(clusters, built.edges)
    children: list[list[int]] = [[] for _ in clusters]
    for number, cluster in enumerate(clusters):
        if cluster.parent >= 0:
            children[cluster.parent].append(number)
    units = _community_units(clusters, built, inner)
    members = [[entity_ids[row] for row in cluster.members] for cluster in clusters]
    return frame(
        "communities",
        {
            "id": [
                stable_id("community", str(cluster.level), *ids) for cluster, ids in zip(clusters, members, strict=True)
            ],
            "human_readable_id": range(len(clusters)),
            "community": range(len(clusters)),
            "level": [cluster.level for cluster in clusters],
            "parent": [cluster.parent for cluster in clusters],
            "children": children,
            "title": [f"Community {number}" for number in range(len(clusters))],
            "entity_ids": members,
            "relationship_ids": [[links[row] for row in rows] for rows in inner],
            "text_unit_ids": units,
            "period": [max((days[unit] for unit in unit_ids), default="") for unit_ids in units],
            "size": [len(ids) for ids in members],
        },
    )


def _community_units(clusters: Sequence[Community], built: Graph, inner: Sequence[Sequence[int]]) -> list[list[str]]:
    """Ids of the text units of each community: those of its inner relationships, else of its entities."""
    entity_units, link_units = built.entities["text_unit_ids"].tolist(), built.relationships["text_unit_ids"].tolist()
    units: list[list[str]] = []
    for cluster, rows in zip(clusters, inner, strict=True):
        of_links = set(chain.from_iterable(link_units[row] for row in rows))
        of_entities = chain.from_iterable(entity_units[row] for row in cluster.members)
        units.append(sorted(of_links or set(of_entities)))
    return units


def _inner_relationships(clusters: Sequence[Community], edges: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """Rows of the relationships whose ends are both in a community, for each community."""
    inner: list[list[int]] = [[] for _ in clusters]
    for level in {cluster.level for cluster in clusters}:
        cluster_of: dict[int, int] = {}
        for number, cluster in enumerate(clusters):
            if cluster.level == level:
                cluster_of |= dict.fromkeys(cluster.members, number)
        for row, (source, target, _) in enumerate(edges):
            if source in cluster_of and cluster_of[source] == cluster_of.get(target):
                inner[cluster_of[source]].append(row)
    return inner
