"""Hits counted by what a search can be narrowed to, and in order of time."""

from collections.abc import Iterator

import pytest

from relrag_query.service import Filters, Service
from relrag_query.service.search_overview import FacetValue
from tests import archive

NOTES = (
    {"id": "a", "text": "The ferry to Kobe leaves at nine.", "from": "Dana Levi", "timestamp": "2022-12-31T23:30:00Z"},
    {"id": "b", "text": "Dana took the ferry.", "from": "Omer Gal", "timestamp": "2024-05-01T10:00:00Z"},
    {"id": "c", "text": "Ferries are late today.", "from": "Dana Levi", "timestamp": "2023-06-01T10:00:00Z"},
    {"id": "d", "text": "Nothing of the kind.", "from": "Omer Gal", "timestamp": "2024-06-01T10:00:00Z"},
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("overview")
    config = archive.make(folder)
    archive.write_notes(folder, *NOTES)
    archive.first_sync(config)
    with Service.open(config) as opened:
        yield opened


def _counts(values: list[FacetValue]) -> dict[str, int]:
    return {value.value: value.count for value in values}


def test_hits_are_counted_and_each_count_is_that_of_the_narrowed_search(service: Service) -> None:
    reply = service.search("ferry", limit=2, overview=True)
    overview = reply.overview
    assert overview
    assert (len(reply.hits), overview.passages, overview.with_words, overview.complete) == (2, 3, True, True)
    assert _counts(overview.sources) == {"notes": 3}
    assert _counts(overview.kinds) == {"jsonl": 3}
    # by the clock of the owner the first note is of 2023
    assert [(year.value, year.count) for year in overview.years] == [("2024", 1), ("2023", 2)]
    # another Dana Levi chats, so that only a number means the one of the notes
    people = _counts(overview.people)
    assert {person.name: person.count for person in overview.people} == {"Dana Levi": 2, "Omer Gal": 1}
    assert sorted(value.isdigit() for value in people) == [False, True]
    narrowed = [
        *((Filters(since=year.value, until=year.value), year.count) for year in overview.years),
        *((Filters(person=person), count) for person, count in people.items()),
    ]
    for filters, count in narrowed:
        again = service.search("ferry", filters, overview=True).overview
        assert again
        assert again.passages == count


def test_by_date_only_what_holds_words_is_listed(service: Service) -> None:
    ids = [hit.asset_id.rpartition(":")[2] for hit in service.search("ferry", order="newest").hits]
    assert ids == ["b", "c", "a"]
    first = service.search("ferry", limit=2, order="oldest")
    second = service.search("ferry", limit=2, order="oldest", after=first.next_cursor)
    pages = [hit.asset_id.rpartition(":")[2] for hit in (*first.hits, *second.hits)]
    assert pages == ["a", "c", "b"]


def test_nothing_is_counted_unless_asked_for(service: Service) -> None:
    assert service.search("ferry").overview is None


def test_a_hit_says_where_its_words_are(service: Service) -> None:
    hit = service.search("ferry", order="oldest").hits[0]
    assert [hit.text[start:end] for start, end in hit.marks] == ["ferry"]
    assert all(source.marks == [] for source in service.ask("When does the ferry leave?").sources)
