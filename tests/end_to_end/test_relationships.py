"""Relationships are found by what they mean: by search, exploration, answers and tools, on an archive with vectors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines import embedders
from relrag_pipelines import settings as settings_module
from relrag_query import exploration
from relrag_query.archive import Archive
from relrag_query.service import Service, relationship_statements
from tests import archive as archives

SETTINGS = """
archive = "relationships"
keys_file = "test.keys"
owner = "Jonah"
timezone = "Europe/Prague"
pii_redaction_enabled = true
web_writes_enabled = true
embedder = "e5"

[[sources]]
name = "book"
kind = "contacts"
path = "cards.vcf"
"""
STATED = [
    ("x-mentor", 7, "Gives career guidance since university", 5, 4, "They meet monthly for coffee"),
    ("friend", 8, "Friend from college, shared a room in dormitory 11", 5, 4, "Plays football on Thursdays"),
    ("friend", 10, "Friend from the climbing wall", 4, 2, "Owns a green rope"),
    ("x-former-manager", 9, "Manager at Northgate, hostile since the resignation", 1, 2, "Refused a letter"),
    *(("colleague", 20 + number, f"Works in office {number}", None, None, "") for number in range(24)),
]
"""what somebody is to the owner: type, person, description, attitude, proximity, note"""
NAMES = {7: "Noa Ben-Ami", 8: "Tomer Gal", 9: "Gideon Raz", 10: "Dana Levi"}


def card(number: int, name: str, more: str = "") -> str:
    return f"BEGIN:VCARD\nVERSION:4.0\nUID:person-{number}\nX-RELRAG-PERSON-ID:{number}\nFN:{name}\n{more}END:VCARD\n"


def related(item: int, type_: str, person: int, description: str, *stated: int | str | None) -> str:
    attitude, proximity, note = stated
    fields = {"ATTITUDE": attitude, "PROXIMITY": proximity, "NOTE": note}
    lines = [f"item{item}.RELATED;TYPE={type_}:person-{person}", f"item{item}.X-RELRAG-DESCRIPTION:{description}"]
    lines += [f"item{item}.X-RELRAG-{name}:{value}" for name, value in fields.items() if value]
    return "\n".join(line.replace(",", "\\,") for line in lines) + "\n"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("relationships")
    others = {row[1]: NAMES.get(row[1], f"Given{row[1]} Colleague{row[1]}") for row in STATED}
    owner = card(1, "Jonah Pickel", "".join(related(item, *row) for item, row in enumerate(STATED, 1)))
    (folder / "cards.vcf").write_text(owner + "".join(card(number, name) for number, name in others.items()))
    (folder / "relrag.toml").write_text(SETTINGS)
    archives.first_sync(folder / "relrag.toml")
    return folder / "relrag.toml"


@pytest.fixture
def archive(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as opened:
        yield opened


MENTOR = ("Noa Ben-Ami, mentor of Jonah Pickel", "Gives career guidance since university", "attitude 5, proximity 4")
COLLEGE = ("Tomer Gal, friend of Jonah Pickel", "Friend from college", "attitude 5, proximity 4")
CLIMBER = ("Dana Levi, friend of Jonah Pickel", "Friend from the climbing wall", "attitude 4, proximity 2")
MANAGER = ("Gideon Raz, former manager of Jonah Pickel", "hostile since the resignation", "attitude 1, proximity 2")


@pytest.mark.requirement("S2-16", "S2-25", "S2-27")
@pytest.mark.parametrize(
    ("question", "sure", "parts"),
    [
        ("who are my mentors?", True, MENTOR),
        ("mentor relationships", True, MENTOR),
        ("tell me about my mentor relationships", True, MENTOR),
        ("Kdo jsou moji mentoři?", True, MENTOR),
        ("מי המנטורים שלי?", True, MENTOR),
        ("friends from college", True, COLLEGE),
        ("which friends from college?", True, COLLEGE),
        ("who is my friend who plays football?", True, COLLEGE),
        ("friends from the climbing wall", True, CLIMBER),
        ("friends from university", False, COLLEGE),
        ("who is my former manager?", True, MANAGER),
        ("my ex-boss", True, MANAGER),
        ("kdo je můj bývalý šéf?", True, MANAGER),
        ("מי המנהל שלי לשעבר?", True, MANAGER),
    ],
)
def test_who_is_asked_for_by_a_relationship_is_named_with_what_is_stated(
    archive: Archive, question: str, sure: bool, parts: tuple[str, ...]
) -> None:
    answer = archive.ask(question)
    assert (answer.found, len(answer.people)) == (sure, 1)
    assert [part for part in parts if part not in answer.text] == []


@pytest.mark.parametrize(
    "question", ["who is my manager?", "friends who sell boats", "what did my friend from college say about football?"]
)
def test_nobody_is_named_where_nothing_stated_says_who(archive: Archive, question: str) -> None:
    assert archive.ask(question).people == []


@pytest.mark.requirement("S2-27")
def test_people_of_one_type_come_in_the_order_of_similarity(archive: Archive) -> None:
    near = exploration.relationship_vector_search(archive, "who are my friends?", relationship_types={"friend"})
    assert archive.ask("who are my friends?").people == [result.ends[1] for result in near]


@pytest.mark.requirement("S2-11", "S2-13")
@pytest.mark.parametrize(
    "query",
    ["somebody who advises me about my profession", "friends from college", "whom do I meet for coffee every month?"],
)
def test_relationships_are_ranked_by_similarity_within_threshold_types_and_number(archive: Archive, query: str) -> None:
    search = exploration.relationship_vector_search
    near = search(archive, query)
    scores = [result.similarity for result in near]
    assert scores == sorted(scores, reverse=True)
    assert len(near) == 20, "of 28 relationships"
    assert near[0].ends == (1, 8 if "college" in query else 7)
    middle = (scores[3] + scores[4]) / 2
    assert search(archive, query, middle) == near[:4]
    assert {result.relationship_type for result in search(archive, query, relationship_types={"friend"})} == {"friend"}
    assert search(archive, query, user_id="another client") == []


@pytest.mark.requirement("S2-13")
def test_both_people_of_each_relationship_are_nodes_once(archive: Archive) -> None:
    nodes = exploration.find_nodes_via_relationship_search
    friends = nodes(archive, "friends from college", relationship_types={"friend"})
    assert [node.entity_key for node in friends.nodes] == ["person:8", "person:1", "person:10"]
    assert [edge.ends for edge in friends.edges] == [(1, 8), (1, 10)]
    assert [node.name for node in friends.nodes] == ["Tomer Gal", "Jonah Pickel", "Dana Levi"]
    best = friends.edges[0].similarity
    assert nodes(archive, "friends from college", best - 0.001).edges == friends.edges[:1]
    assert nodes(archive, "friends from college", user_id="another client").nodes == []


@pytest.mark.requirement("S2-12", "S2-13", "S2-14")
def test_exploration_finds_a_relationship_that_shares_no_word_with_the_question(archive: Archive) -> None:
    query = "a bitter superior from earlier times"
    explored = exploration.explore(archive, query)
    assert [edge.ends for edge in explored.edges] == [(1, 9)]
    assert [node.entity_key for node in explored.nodes if node.kind == "person"] == ["person:9", "person:1"]
    assert exploration.explore(archive, query, search_relationships=False).edges == []


@pytest.mark.requirement("S2-1", "S2-22", "S2-23")
def test_a_relationship_has_one_vector_of_four_bytes_a_number(archive: Archive) -> None:
    model = embedders.model(archive.settings)
    assert model is not None
    kinds = archive._catalog.sql("FROM relationship_embeddings").to_arrow_table()
    assert (kinds.num_rows, kinds.schema.field("relationship_embedding").type.value_type.bit_width) == (28, 32)
    assert set(kinds["model"].to_pylist()) == {model.name}
    assert {len(vector) for vector in kinds["relationship_embedding"].to_pylist()} == {model.dimension}


@pytest.mark.requirement("S2-7", "S2-8", "S2-9", "S2-18", "S2-24", "S2-26")
def test_a_tool_states_and_changes_a_relationship_that_meaning_finds_at_once(config: Path) -> None:
    settings = settings_module.load(config)
    with Service(settings, None, config) as service:

        def similarity(query: str) -> float | None:
            with Archive.open(config) as later:
                near = exploration.relationship_vector_search(later, query, relationship_types={"teacher"})
            return near[0].similarity if near else None

        hostile, sailing = "a hostile person whom I hardly know", "somebody who sails a boat at sea"
        assert similarity(hostile) is None
        ends = "Jonah Pickel", "Gideon Raz", "teacher"
        took = []
        steps = (
            lambda: relationship_statements.create_relationship(service, *ends, "Taught chess at school", 5, 5),
            lambda: relationship_statements.update_relationship(service, *ends, attitude=1, proximity=1),
            lambda: relationship_statements.add_note_to_relationship(service, *ends, "Sails a boat on the Adriatic"),
        )
        scores = []
        for step in steps:
            begun = time.process_time()
            assert step().notice == ""
            took.append(time.process_time() - begun)
            scores.append((similarity(hostile) or 0.0, similarity(sailing) or 0.0))
        relationship_statements.update_relationship(service, *ends, deleted=True)
    assert max(took) < 0.5, took
    assert scores[1][0] > scores[0][0] + 0.05, "attitude and proximity are embedded"
    assert scores[2][1] > scores[1][1] + 0.05, "the note is embedded"
