"""The stage that makes people, on the running path: who is who, on passages too, after syncs, merges and rebuilds."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from relrag_pipelines.identity.journal_statements import (
    Allocation,
    Merge,
    RelationshipNote,
    StatedFact,
    StatedRelationship,
    Undo,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.people import month_texts
from relrag_pipelines.stores import archive_tables, catalog, generations, vector_store
from relrag_pipelines.workers.pool import start_pool, stop_pool
from relrag_query import exploration, statements
from relrag_query.archive import Archive
from tests import archive

CARDS = """\
BEGIN:VCARD
VERSION:4.0
UID:shiran
X-RELRAG-PERSON-ID:42
FN:Shiran Tamir
NICKNAME:שירן
BDAY:19860502
TEL:052-555-0142
item1.RELATED;TYPE=spouse:David Tamir
item1.X-RELRAG-DESCRIPTION:Married since 2012
END:VCARD
BEGIN:VCARD
VERSION:4.0
UID:david
X-RELRAG-PERSON-ID:17
FN:David Tamir
TITLE:dentist
END:VCARD
BEGIN:VCARD
VERSION:4.0
UID:mom
FN:Mom
TEL:052-555-0001
END:VCARD
"""
CHAT = """\
24/12/2023, 18:00 - Jonah: Happy birthday from me and my brother Petr
13/01/2024, 10:15 - Shiran Tamir: Tell David that the cabin is free
13/01/2024, 10:16 - Petr Kolar: שאלתי את לשירן על המפתח
14/02/2024, 21:40 - שירן: The boiler is broken, 052-777-1234 repairs it
"""
SOURCES = """
[[sources]]
name = "book"
kind = "contacts"
path = "cards.vcf"
"""


def make(folder: Path, extra: str = 'owner = "Jonah"') -> Path:
    """An archive with an address book; its relrag.toml."""
    config = archive.make(folder, extra)
    (folder / "cards.vcf").write_text(CARDS)
    (folder / "chats" / "WhatsApp Chat with Hiking.txt").write_text(CHAT)
    config.write_text(config.read_text() + SOURCES)
    return config


def rows(home: Path, query: str) -> list[tuple[Any, ...]]:
    with generations.open_current(home) as generation, catalog.open(generation.path / catalog.NAME) as connection:
        return connection.execute(query).fetchall()


def ids(home: Path) -> dict[str, int]:
    return dict(rows(home, "SELECT name, person_id FROM persons"))


def test_notes_on_cards_are_relationships_and_go_with_their_card(tmp_path: Path) -> None:
    config = make(tmp_path)
    cards = tmp_path / "cards.vcf"
    noted = "BEGIN:VCARD\nVERSION:4.0\nUID:mia\nFN:Mia Tamir\nNOTE:{}\nEND:VCARD\n"
    cards.write_text(CARDS + noted.format("sister of David"))
    home = archive.first_sync(config).home
    query = """
        SELECT one.name, other.name, relationship_type, source_quote FROM person_relationships
        JOIN persons AS one ON one.person_id = from_person_id JOIN persons AS other ON other.person_id = to_person_id
        WHERE other.name = 'Mia Tamir' OR one.name = 'Mia Tamir'
    """
    assert rows(home, query) == [("David Tamir", "Mia Tamir", "sibling", "sister of David")]
    cards.write_text(CARDS + noted.format("goalkeeper"))
    assert rows(archive.sync(config).home, query) == []


def test_what_is_no_fact_and_no_relationship_is_left_out(tmp_path: Path) -> None:
    """A jsonl file may say anything under the name of a card's fields."""
    config = make(tmp_path)
    told: list[dict[str, Any]] = [
        {"facts": ["likes tea", 3, None, {"predicate": "role", "value": 7}]},
        {"facts": {"predicate": "role"}},
        {
            "relationship": {
                "from_person_id": 42,
                "to_person_id": 17,
                "relationship_type": "friend",
                "attitude": 7,
                "proximity": True,
                "notes": ["kept", 5, None],
                "description": ["x"],
            }
        },
        {
            "relationship": {
                "from_person_id": 17,
                "to_person_id": 42,
                "relationship_type": "rival",
                "attitude": "4",
                "proximity": 4,
                "notes": "five",
            }
        },
        {"relationship": {"from_person_id": True, "to_person_id": 42, "relationship_type": "friend"}},
        {"relationship": {"from_person_id": 17, "to_person_id": 42, "relationship_type": ["friend"]}},
        {"relationship": "friend"},
    ]
    lines = [
        {
            "id": f"c{place}",
            "rag_source_type": "contact" if "facts" in extra else "relationship",
            "text": "x",
            "from": "Shiran Tamir",
            "timestamp": "2024-02-21T08:00:00Z",
            "extra": extra,
        }
        for place, extra in enumerate(told)
    ]
    with (tmp_path / "notes.jsonl").open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    home = archive.first_sync(config).home
    query = (
        "SELECT relationship_type, description, attitude, proximity, notes FROM person_relationships "
        "WHERE source_ref LIKE 'jsonl:%' ORDER BY ALL"
    )
    assert rows(home, query) == [("friend", None, None, None, ["kept"]), ("rival", None, None, 4, [])]
    assert rows(home, "SELECT count(*) FROM person_facts WHERE source_ref LIKE 'jsonl:%'") == [(0,)]


def test_a_client_sees_of_people_what_its_own_records_say(tmp_path: Path) -> None:
    config = make(tmp_path)
    told = {"from_person_id": 42, "to_person_id": 17, "from_name": "Mrs Tamir", "relationship_type": "mentor"}
    line = {
        "id": "c1",
        "rag_source_type": "relationship",
        "text": "x",
        "client_id": "clinic",
        "timestamp": "2024-02-21T08:00:00Z",
        "extra": {"relationship": told},
    }
    with (tmp_path / "notes.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    archive.first_sync(config)
    with Archive.open(config) as opened:
        found = exploration.explore(opened, "who are the mentors?", user_id="clinic")
        assert [(edge.from_entity_key, edge.to_entity_key) for edge in found.edges] == [("person:42", "person:17")]
        assert {node.entity_key: (node.name, node.data) for node in found.nodes} == {
            "person:42": ("Mrs Tamir", {"person_id": 42}),
            "person:17": ("person:17", {"person_id": 17}),
        }
        seen = exploration.explore(opened, "who are the mentors?")
        assert [node.name for node in seen.nodes if node.entity_key == "person:42"] == ["Shiran Tamir"]


def test_one_client_never_sees_what_anothers_records_say(tmp_path: Path) -> None:
    """By any way that takes a client: relationships by words, by type, by their ends; people, counts, the closest."""
    config = make(tmp_path)
    told = [
        ("clinic", "Mrs Tamir", "Dr Tamir", "dentist", "Mends teeth of the secretive kind"),
        ("school", "Shiran of class 3", "Teacher David", "teacher", "Teaches the quadratic lesson"),
    ]
    with (tmp_path / "notes.jsonl").open("a") as file:
        for client, name, other, type_, description in told:
            stated = {
                "from_person_id": 42, "to_person_id": 17, "from_name": name, "to_name": other,
                "relationship_type": type_, "description": description,
            }  # fmt: skip
            line = {
                "id": client, "rag_source_type": "relationship", "text": "x", "client_id": client,
                "timestamp": "2024-02-21T08:00:00Z", "extra": {"relationship": stated},
            }  # fmt: skip
            file.write(json.dumps(line) + "\n")
    archive.first_sync(config)
    queries = ["who is the dentist?", "who is the teacher?", "quadratic lesson", "teeth secretive", "Shiran", "David"]
    queries += ["who is in my family", "tell me about Shiran's family", "Shiran Tamir's phone number", ""]
    with Archive.open(config) as opened:
        for client, other in (("clinic", "school"), ("school", "clinic"), ("nobody", "clinic")):
            hidden = {word for name, *said in told if name != client for word in (name, *said)}
            for query in filter(None, queries):
                found = exploration.explore(opened, query, user_id=client)
                near = exploration.find_nodes_via_relationship_search(opened, query, user_id=client)
                seen = json.dumps([asdict(found), asdict(near)], ensure_ascii=False)
                assert not [word for word in hidden if word in seen], (client, other, query)
                for secret in (
                    "Shiran Tamir",
                    "David Tamir",
                    "555-0142",
                    "1986-05-02",
                    "Married since 2012",
                    "Petr Kolar",
                ):
                    assert secret not in seen, (client, query)
                assert all(node.kind == "person" for node in found.nodes)
                assert client != "nobody" or (found.nodes, found.edges) == ([], [])
        everything = exploration.relationship_vector_search(opened, "anything", -1.0, "clinic")
        assert all(one.properties["client_id"] == "clinic" for one in everything)
        assert len(exploration.explore(opened, "who is the dentist?", user_id="clinic").edges) == 1
        with pytest.raises(ValueError, match="a client is not told who somebody is"):
            exploration.explore(opened, "dentist", user_id="clinic", person="Shiran")
        limited = Archive.of(opened.settings, ["clinic"])
    with limited:
        with limited.people() as people:  # what is known of people is from the records of all
            assert (people.every(), people.relationships(), people.owner) == ({}, [], None)
            assert (people.find("Shiran Tamir"), people.find("42"), people.relative_facts("Petr")) == ([], [], [])
        for question in ("Who is Shiran Tamir?", "מי זאת שירן?", "who is Shiran married to?", "Shiran's phone number"):
            answer = limited.ask(question)
            told = " ".join([answer.text, *answer.head, *(hit.chunk.text for hit in answer.closest)])
            assert answer.people == [] and not [word for word in ("David", "555-0142") if word in told], told


def seen(home: Path) -> list[tuple[str, list[int], list[int]]]:
    """Who stands on each passage of the chat: its text, who wrote, who is named."""
    return rows(
        home,
        "SELECT text, person_ids, mentioned_person_ids FROM chunks WHERE source = 'chat' ORDER BY ts",
    )


@pytest.mark.requirement("S0-1", "S0-2", "S0-4", "S0-9")
def test_a_sync_makes_people_and_they_stand_on_records_and_passages(tmp_path: Path) -> None:
    home = archive.first_sync(make(tmp_path)).home
    people = ids(home)
    assert set(people) == {"Shiran Tamir", "David Tamir", "Mom", "Jonah", "Petr Kolar", "Ota"}
    jonah, petr, mom = people["Jonah"], people["Petr Kolar"], people["Mom"]
    assert (people["Shiran Tamir"], people["David Tamir"]) == (42, 17)
    assert rows(home, "SELECT name FROM persons WHERE is_owner") == [("Jonah",)]
    assert [(set(ones), set(named)) for _, ones, named in seen(home)] == [
        ({jonah}, {petr}),
        ({42, petr}, {17, 42}),
        ({42}, set()),
    ]
    assert rows(home, "SELECT predicate, value, source_ref FROM person_facts ORDER BY ALL") == [
        ("birthday", "1986-05-02", "contacts:shiran"),
        ("occupation", "dentist", "contacts:david"),
    ]
    query = "SELECT from_person_id, to_person_id, relationship_type, description FROM person_relationships ORDER BY ALL"
    assert rows(home, query) == sorted(
        [
            (42, 17, "spouse", "Married since 2012"),
            (jonah, mom, "parent", None),
            (jonah, petr, "sibling", None),
        ],
        key=lambda row: row[:2],
    )
    quoted = "SELECT source_quote, confidence FROM person_relationships WHERE relationship_type = 'sibling'"
    assert rows(home, quoted) == [("my brother Petr", 0.8)]
    roles = rows(home, "SELECT role, count(*) FROM person_assets WHERE person_id = 42 GROUP BY role ORDER BY role")
    assert dict(roles) == {"mentioned": 2, "owner": 1, "sender": 2}
    assert verify_home(home) == []


def test_a_policy_holds_for_aliases_and_for_what_the_owner_says(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    journal.append(home, [StatedFact(42, "phone_at_work", "call 052-999-8877")])
    archive.sync(config)
    phones = rows(home, "SELECT alias FROM person_aliases WHERE kind = 'phone'")
    assert phones and all(alias.startswith("<PHONE_NUMBER:k1:") for (alias,) in phones)
    (said,) = rows(home, "SELECT value FROM person_facts WHERE predicate = 'phone_at_work'")
    assert said[0].startswith("call <PHONE_NUMBER") and "8877" not in said[0]


def test_ids_are_given_once_and_survive_a_rebuild_and_nothing_is_made_twice(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    before, given = ids(home), journal.statements(home, Allocation)
    assert {anchor.split(":")[0] for one in given for anchor in one.anchors} <= {
        "name",
        "phone",
        "card",
        "pin",
        "whatsapp",
    }
    lake = archive.contents(home / "lake")
    archive_tables.drop(home)
    archive.sync(config)
    assert (ids(home), journal.statements(home, Allocation)) == (before, given)
    after = archive.contents(home / "lake")
    assert [name for name in lake if lake[name][1] != after[name][1]] == []


@pytest.mark.requirement("S0-8")
def test_after_a_merge_every_point_is_of_the_survivor_and_undoing_it_brings_both_back(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    first, petr = seen(home), ids(home)["Petr Kolar"]
    lake = {path: data for path, (_, data) in archive.contents(home / "lake").items() if "/chat/" in path}
    (merged,) = journal.append(home, [Merge(17, (petr,))])
    archive.sync(config)
    assert "Petr Kolar" not in ids(home)
    assert rows(home, "SELECT * FROM person_redirects") == [(petr, 17)]
    assert all(petr not in [*ones, *named] for _, ones, named in seen(home))
    assert [17 in [*ones, *named] for _, ones, named in seen(home)] == [True, True, False]
    with generations.open_current(home) as generation:
        points = list(vector_store.payloads(generation.path / "vectors"))
    on_points = {
        one for payload in points for name in ("person_ids", "mentioned_person_ids") for one in payload.get(name, ())
    }
    assert 17 in on_points and petr not in on_points
    assert rows(home, f"SELECT count(*) FROM person_assets WHERE person_id = {petr}") == [(0,)]
    assert lake == {path: data for path, (_, data) in archive.contents(home / "lake").items() if "/chat/" in path}
    journal.append(home, [Undo(merged)])
    archive.sync(config)
    assert seen(home) == first


def test_what_the_owner_says_survives_a_rebuild_and_is_laid_over_what_is_read(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    jonah = ids(home)["Jonah"]
    said = [
        StatedRelationship(42, 17, "spouse", proximity=5),
        RelationshipNote(42, 17, "spouse", "They met in Haifa"),
        StatedRelationship(jonah, 17, "dentist", "Fixed the crown", 4),
        StatedRelationship(jonah, ids(home)["Petr Kolar"], "sibling", deleted=True),
        StatedFact(42, "lives_in", "Ramat Gan", "2020"),
    ]
    journal.append(home, said)
    for _ in range(2):
        archive.sync(config)
        query = """SELECT to_person_id, relationship_type, description, attitude, proximity, notes, source_ref,
            further_source_refs FROM person_relationships WHERE to_person_id = 17 ORDER BY ALL"""
        (dentist, spouse) = rows(home, query)
        assert dentist[1:6] == ("dentist", "Fixed the crown", 4, None, [])
        assert spouse[1:6] == ("spouse", "Married since 2012", None, 5, ["They met in Haifa"])
        assert spouse[6].startswith("journal:") and spouse[7] == [next(one for one in spouse[7])]
        assert rows(home, "SELECT count(*) FROM person_relationships WHERE relationship_type = 'sibling'") == [(0,)]
        lives = "SELECT value, valid_from, confidence FROM person_facts WHERE predicate = 'lives_in'"
        assert rows(home, lives) == [("Ramat Gan", "2020", 1.0)]
        archive_tables.drop(home)


def test_a_new_message_has_only_its_month_read_and_a_new_name_those_that_may_hold_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    read: list[str] = []
    really = month_texts._Reader.tables
    monkeypatch.setattr(month_texts._Reader, "tables", lambda self, month: (read.append(month), really(self, month))[1])

    def synced() -> list[str]:
        read.clear()
        archive.sync(config)
        return sorted(read)

    chat = tmp_path / "chats" / "WhatsApp Chat with Hiking.txt"
    chat.write_text(CHAT + "15/02/2024, 08:00 - שירן: It is repaired\n")
    with patch.object(month_texts, "_with_changed_names") as compare:
        assert synced() == ["chat/2024-02"]
    assert not compare.called, "nobody is new"
    notes = tmp_path / "notes.jsonl"
    line = {"id": "n3", "text": "Ask Mom.", "timestamp": "2024-03-20T08:00:00Z", "from": "Boiler Rubin"}
    notes.write_text(notes.read_text() + json.dumps(line) + "\n")
    assert synced() == ["notes/2024-03"], "boiler stands in small letters elsewhere"
    line |= {"id": "n4", "timestamp": "2024-04-20T08:00:00Z", "from": "Christmas Happy", "text": ""}
    notes.write_text(notes.read_text() + json.dumps(line | {"from": "Happy Rubin"}) + "\n")
    assert synced() == ["chat/2023-12", "notes/2024-04"]
    before = {table: archive_tables.read(home, table) for table in month_texts.TABLES}
    archive_tables.drop(home)
    archive.sync(config)
    assert {table: archive_tables.read(home, table) for table in month_texts.TABLES} == before


@pytest.mark.parametrize("lost", ["person_mentions", "month_words", "given_forms", "person_months"])
def test_where_a_kill_took_some_of_the_tables_all_months_are_read_again(tmp_path: Path, lost: str) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    archive.write_notes(tmp_path, {"id": "x1", "text": "Lena Brandt called.", "timestamp": "2024-05-01T08:00:00Z"})
    archive_tables.drop(home, [lost])
    archive.sync(config)
    fresh = archive.clone(tmp_path, tmp_path / "fresh")
    archive_tables.drop(home, archive_tables.NAMES)
    archive.sync(config)
    for table in ("person_mentions", "text_relationships", "text_facts", "month_words", "person_months"):
        kept, made = archive_tables.read(archive.home(fresh), table), archive_tables.read(home, table)
        assert kept.num_rows or table != lost
        assert sorted(map(str, kept.to_pylist())) == sorted(map(str, made.to_pylist()))


def test_another_process_reads_a_month_as_this_one_does(tmp_path: Path) -> None:
    """With pool and without, of few months and of more than `_FEW`, the tables are equal."""
    config = make(tmp_path)
    home = archive.first_sync(config).home
    before = {table: archive_tables.read(home, table) for table in month_texts.TABLES}
    assert before["person_mentions"].num_rows and before["text_relationships"].num_rows
    archive_tables.drop(home)
    pool = start_pool(1)
    try:
        archive.rebuild(replace(archive.workspace(config), pool=pool))
    finally:
        stop_pool(pool)
    assert {table: archive_tables.read(home, table) for table in month_texts.TABLES} == before


def test_an_owner_whom_nothing_names_is_somebody_all_the_same(tmp_path: Path) -> None:
    home = archive.first_sync(make(tmp_path, 'owner = "Zoe Quist"')).home
    assert rows(home, "SELECT name FROM persons WHERE is_owner") == [("Zoe Quist",)]
    assert ids(home)["Zoe Quist"] >= 100_000


def test_whoever_writes_often_is_somebody_though_nobody_names_them(tmp_path: Path) -> None:
    config = make(tmp_path, 'owner = "Jonah"\nperson_unnamed_after = 2')
    chat = tmp_path / "chats" / "WhatsApp Chat with Hiking.txt"
    chat.write_text(CHAT + "".join(f"16/02/2024, 08:0{n} - +972 52-111-2233: hello {n}\n" for n in range(2)))
    assert "" in ids(archive.first_sync(config).home)
    archive.configure(tmp_path, 'owner = "Jonah"\nperson_unnamed_after = 3')
    config.write_text(config.read_text() + SOURCES)
    assert "" not in ids(archive.sync(config).home)


def test_after_a_merge_the_survivor_keeps_the_name(tmp_path: Path) -> None:
    config = make(tmp_path)
    archive.first_sync(config)
    statements.merge("Ota", ["Petr Kolar"], config=config)
    for _ in range(2):  # at once, and after a sync
        with Archive.open(config) as opened, opened.people() as people:
            assert people.find_one("Petr Kolar").name == "Ota"
        archive.sync(config)
