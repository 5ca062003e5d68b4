"""What the hits of a search are, counted by source, kind, person and year, and their order by date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from relrag_query.archive import Archive
from relrag_query.people.indexed_person import PeopleError
from relrag_query.people.people import People
from relrag_query.retrieval.hit import Hit

Order = Literal["relevance", "newest", "oldest"]
_MAX_VALUES = 12
"""values of a facet, the most frequent ones"""


class FacetValue(BaseModel):
    """A value by which a search can be narrowed."""

    value: str = Field(description="as the filter of that name takes it")
    name: str = Field(description="as people read it")
    count: int = Field(description="passages")


class SearchOverview(BaseModel):
    """The best passages for a query, counted. Those with words of it count, or all if none has any."""

    passages: int = Field(description="how many count")
    with_words: bool = Field(description="whether they hold words of the query; else they are similar by meaning")
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
        sources=_facet(hit.source for hit in counted),
        kinds=_facet(hit.chunk.kind for hit in counted),
        people=_people(archive, [hit.chunk.chunk_id for hit in counted]) if with_people else [],
        years=sorted(_facet(_years(counted, zone)), key=lambda year: year.value, reverse=True),
    )


def _facet(values: Iterable[str]) -> list[FacetValue]:
    ordered = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        FacetValue(value=value, name=value.replace("_", " "), count=count) for value, count in ordered[:_MAX_VALUES]
    ]


def _years(hits: Iterable[Hit], zone: ZoneInfo) -> Iterable[str]:
    for hit in hits:
        if hit.chunk.ts is not None and not hit.is_undated:
            yield str(datetime.fromtimestamp(hit.chunk.ts, UTC if hit.date_quality == "year" else zone).year)


def _people(archive: Archive, chunk_ids: Sequence[str]) -> list[FacetValue]:
    """The people of these passages, by how many each has to do with."""
    with archive.people() as people:
        ids_of_passages = archive.people_of_passages(chunk_ids)
        counts = Counter(person for ids in ids_of_passages for person in set(map(people.survivor, ids)))
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
    try:
        return name if people.find_one(name).person_id == person_id else str(person_id)
    except PeopleError:
        return str(person_id)
