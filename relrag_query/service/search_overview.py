"""What the hits of a search are, counted by source, kind, person and year, and their order by date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from relrag_query.archive import Archive
from relrag_query.people.people import People
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.record_list import EntryCounts

Order = Literal["relevance", "newest", "oldest"]
_MAX_VALUES = 12
"""values of a facet, the most frequent ones"""
_LOOKED_UP = 4 * _MAX_VALUES
"""people of a list whose names are looked up: some have none, and the owner is left out"""


class FacetValue(BaseModel):
    """A value by which a search can be narrowed."""

    value: str = Field(description="as the filter of that name takes it")
    name: str = Field(description="as people read it")
    count: int = Field(description="passages; without a query records")


class SearchOverview(BaseModel):
    """The best passages for a query, counted. Those with words of it count, or all if none has any.

    Without a query, all records that the limits leave; a part of a chat counts as one.
    """

    passages: int = Field(description="how many count; without a query records")
    with_words: bool = Field(
        description="whether they hold words of the query; else they are similar by meaning. False without a query"
    )
    complete: bool = Field(description="whether all passages were looked at, not only the best ones")
    sources: list[FacetValue]
    kinds: list[FacetValue]
    people: list[FacetValue] = Field(description="who wrote, received, took part or is named; the owner is left out")
    years: list[FacetValue] = Field(description="newest first; for both ends of the time")


def with_words(hits: Sequence[Hit]) -> list[Hit]:
    """The hits that hold words of the query; all if none does, since then they are alike by meaning alone."""
    return [hit for hit in hits if hit.display_score > 0] or list(hits)


def by_date(hits: Sequence[Hit], *, newest_first: bool) -> list[Hit]:
    """The hits in order of time, those without a date of their own last."""
    dated = [hit for hit in hits if hit.chunk.ts is not None and not hit.is_undated]
    undated = [hit for hit in hits if hit.chunk.ts is None or hit.is_undated]
    return sorted(dated, key=lambda hit: hit.chunk.ts or 0, reverse=newest_first) + undated


def overview(
    archive: Archive, hits: Sequence[Hit], zone: ZoneInfo, *, complete: bool, with_people: bool
) -> SearchOverview:
    """The counts of the hits; `complete` if there are no others."""
    counted = with_words(hits)
    return SearchOverview(
        passages=len(counted),
        with_words=any(hit.display_score > 0 for hit in counted),
        complete=complete,
        sources=_facet(Counter(hit.source for hit in counted)),
        kinds=_facet(Counter(hit.chunk.kind for hit in counted)),
        people=_people_of_hits(archive, counted) if with_people else [],
        years=_newest_first(_facet(Counter(_years(counted, zone)))),
    )


def list_overview(archive: Archive, counts: EntryCounts, *, with_people: bool) -> SearchOverview:
    """The counts of a list of records."""
    return SearchOverview(
        passages=counts.entries,
        with_words=False,
        complete=True,
        sources=_facet(counts.sources),
        kinds=_facet(counts.kinds),
        people=_people_of_list(archive, counts.people) if with_people else [],
        years=_newest_first(_facet(counts.years)),
    )


def _facet(counts: Mapping[str, int]) -> list[FacetValue]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        FacetValue(value=value, name=value.replace("_", " "), count=count) for value, count in ordered[:_MAX_VALUES]
    ]


def _newest_first(years: list[FacetValue]) -> list[FacetValue]:
    return sorted(years, key=lambda year: year.value, reverse=True)


def _years(hits: Iterable[Hit], zone: ZoneInfo) -> Iterable[str]:
    for hit in hits:
        if hit.chunk.ts is not None and not hit.is_undated:
            yield str(datetime.fromtimestamp(hit.chunk.ts, UTC if hit.date_quality == "year" else zone).year)


def _people_of_hits(archive: Archive, hits: Sequence[Hit]) -> list[FacetValue]:
    """The people of these passages, by how many each has to do with."""
    ids_of_passages = archive.people_of_passages([hit.chunk.chunk_id for hit in hits])
    with archive.people() as people:
        return _people(people, Counter(person for ids in ids_of_passages for person in set(map(people.survivor, ids))))


def _people_of_list(archive: Archive, counts: Mapping[int, int]) -> list[FacetValue]:
    """The people of a list."""
    with archive.people() as people:
        return _people(people, Counter(dict(Counter(counts).most_common(_LOOKED_UP))))


def _people(people: People, counts: Counter[int]) -> list[FacetValue]:
    """The people with the highest counts, without the owner."""
    persons = people.by_id(counts)
    others = [person for person in persons.values() if person.name and not person.is_owner]
    others.sort(key=lambda person: (-counts[person.person_id], person.person_id))
    return [
        FacetValue(
            value=_filter_value(person.name, person.person_id, people),
            name=person.name,
            count=counts[person.person_id],
        )
        for person in others[:_MAX_VALUES]
    ]


def _filter_value(name: str, person_id: int, people: People) -> str:
    """The name if it means this person alone, else the number."""
    matches = [person.person_id for person in people.find(name)]
    return name if matches == [person_id] else str(person_id)
