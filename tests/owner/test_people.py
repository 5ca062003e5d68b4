"""Who is one person, as the owner states it on the pages and takes it back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_query.owner import people
from relrag_query.owner.switch import OnlyReads
from relrag_query.people.indexed_person import PeopleError
from relrag_query.service import Filters, Service
from relrag_query.service.replies import SearchReply
from tests import archive

CHAT = """\
13/01/2024, 10:15 - Dana Levi: Who has the key of the cabin?
13/01/2024, 10:16 - Dana Levy: I do
13/01/2024, 10:17 - Petr Kolar: The boiler is broken
"""
CHATS = Filters(kinds=["whatsapp"], since="2024-01-13", until="2024-01-13")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("people")
    config = archive.make(folder, "web_writes_enabled = true")
    (folder / "chats" / "WhatsApp Chat with Hiking.txt").write_text(CHAT)
    (folder / "chats" / "WhatsApp Chat with Cabin.txt").write_text(CHAT.replace("Dana Levi", "Petr Kolar"))
    archive.first_sync(config)
    with Service.open(config) as opened:
        yield opened


def counts_of(reply: SearchReply) -> dict[str, int]:
    assert reply.overview
    return {person.name: person.count for person in reply.overview.people}


def names(service: Service) -> list[set[str]]:
    return [{pair.name, pair.other_name} for pair in people.suggested_pairs(service)]


def test_a_merge_is_taken_back_and_a_refused_pair_is_suggested_no_more(service: Service) -> None:
    pair = {"Dana Levi", "Dana Levy"}
    assert pair in names(service)
    apart = service.search("", CHATS, limit=50, overview=True)
    merged = people.merge(service, "Dana Levi", ["Dana Levy"])
    together = service.search("", CHATS, limit=50, overview=True)
    assert [counts_of(reply) for reply in (apart, together)] == [
        {"Dana Levi": 1, "Dana Levy": 2, "Petr Kolar": 2},
        {"Dana Levi": 2, "Petr Kolar": 2},
    ]
    assert pair not in names(service)
    assert people.stated_lines(service)[0].entry == merged.entry
    assert service.person("Dana Levy").person_id == service.person("Dana Levi").person_id
    people.undo(service, merged.entry)
    assert pair in names(service)
    assert people.stated_lines(service) == []
    (suggested,) = (one for one in people.suggested_pairs(service) if {one.name, one.other_name} == pair)
    refused = people.refuse(service, suggested.other_id, suggested.person_id)
    assert pair not in names(service)
    (line,) = people.stated_lines(service)
    assert (line.entry, line.what) == (refused.entry, "not one person")
    both = (suggested.name, suggested.person_id), (suggested.other_name, suggested.other_id)
    assert line.people == ", ".join(f"{name} ({number})" for name, number in both)
    taken_back = people.undo(service, refused.entry)
    assert (taken_back.notice, people.stated_lines(service)) == ("", [])
    assert pair in names(service)
    people.undo(service, taken_back.entry)
    assert pair not in names(service)


def test_facts_and_relationships_are_stated_and_taken_back(service: Service) -> None:
    fact = people.add_fact(service, "Petr Kolar", "occupation", "stove fitter", "2020")
    friend = people.relate(service, "Petr Kolar", "Dana Levi", "mentor", "Taught him to ski.")
    page = service.person("Petr Kolar")
    facts = {row.predicate: (row.value, row.valid_from, row.source_ref) for row in page.facts}
    assert facts["occupation"] == ("stove fitter", "2020", f"journal:{fact.entry}")
    (mentor,) = page.relationships
    assert (mentor.other, mentor.relationship_type, mentor.description) == ("Dana Levi", "mentor", "Taught him to ski.")
    assert mentor.source_ref == f"journal:{friend.entry}"
    not_so = people.unrelate(service, "Petr Kolar", "Dana Levi", "mentor")
    assert service.person("Petr Kolar").relationships == []
    people.undo(service, not_so.entry)
    assert service.person("Petr Kolar").relationships == [mentor]
    for entry in (friend.entry, fact.entry):
        people.undo(service, entry)
    page = service.person("Petr Kolar")
    assert ([row for row in page.facts if row.predicate == "occupation"], page.relationships) == ([], [])


def test_a_day_that_is_none_and_a_relationship_that_is_unknown_are_told(service: Service) -> None:
    with pytest.raises(PeopleError, match="write 1986-05-02"):
        people.add_fact(service, "Petr Kolar", "birthday", "next week")
    with pytest.raises(PeopleError):
        people.unrelate(service, "Petr Kolar", "Dana Levi", "spouse")


def test_who_is_unknown_is_told(service: Service) -> None:
    with pytest.raises(PeopleError):
        people.merge(service, "Dana Levi", ["Nobody Known"])
    with pytest.raises(PeopleError, match="no statement about people has number"):
        people.undo(service, 999_999)


def test_pages_that_only_read_state_nothing(tmp_path: Path) -> None:
    with Service.open(archive.make(tmp_path)) as service:
        for state in (
            lambda: people.merge(service, "a", ["b"]),
            lambda: people.add_fact(service, "a", "occupation", "baker"),
            lambda: people.relate(service, "a", "b", "friend"),
            lambda: people.unrelate(service, "a", "b", "friend"),
            lambda: people.split(service, "a", ["b"]),
            lambda: people.undo(service, 1),
            lambda: people.refuse(service, 1, 2),
        ):
            with pytest.raises(OnlyReads):
                state()
