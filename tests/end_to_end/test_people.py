"""Questions about people, what the owner says of them, and search over relationships, on a synced archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_query import exploration, statements
from relrag_query.archive import Archive
from relrag_query.cli.commands import people as commands
from relrag_query.people.indexed_person import PeopleError
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.questions import read
from tests import archive as archives
from tests.cases import case_values, cases

CARDS = [
    ("jonah", 1, "Jonah Pickel", "BDAY:19891019"),
    ("shiran", 42, "Shiran Tamir", "NICKNAME:שירן\nBDAY:19860502\nRELATED;VALUE=text;TYPE=spouse:David Tamir"),
    ("david", 17, "David Tamir", "NICKNAME:דוד תמיר\nTITLE:physics teacher"),
    ("mia", 23, "Mia Tamir", "BDAY:20150311"),
    ("omer", 88, "Omer Segal", "TITLE:receptionist"),
    ("noa", 7, "Noa Ben-Ami", "TITLE:dentist"),
    ("radek", 52, "Radek Svoboda", "TITLE:team lead"),
    ("jana", 53, "Jana Svobodová", "TITLE:zubařka"),
    ("levi", 12, "Doron Levi", "TITLE:electrician"),
    ("katz", 13, "Doron Katz", "NOTE:goalkeeper"),
    ("d1", 61, "דניאלה פיקל", "NOTE:x"),
    ("d2", 62, "דניאלה", "NOTE:x"),
    ("d3", 63, "דניאלה ליבר", "NOTE:x"),
    ("d4", 64, "דניאלה ליבר פיקל", "NOTE:x"),
]
SOURCES = """
[[sources]]
name = "book"
kind = "contacts"
path = "cards.vcf"
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    config = archives.make(folder, 'owner = "Jonah"')
    cards = [
        f"BEGIN:VCARD\nVERSION:4.0\nUID:{uid}\nX-RELRAG-PERSON-ID:{number}\nFN:{name}\n{more}\nEND:VCARD\n"
        for uid, number, name, more in CARDS
    ]
    (folder / "cards.vcf").write_text("".join(cards), encoding="utf-8")
    lines = [
        {"id": "r1", "text": "The recital of Mia is on 2 February, says David.", "from": "David Tamir"},
        {"id": "r2", "text": "The clinic has a new shift table.", "from": "Omer Segal"},
        {"id": "r3", "text": "My daughter Mia has a piano now.", "from": "Shiran Tamir"},
        {"id": "r4", "text": "Radkova žena Jana volala.", "from": "Doron Levi"},
    ]
    noted = [json.dumps(line | {"timestamp": "2024-03-01T08:00:00Z"}, ensure_ascii=False) for line in lines]
    (folder / "notes.jsonl").write_text("\n".join(noted) + "\n", encoding="utf-8")
    config.write_text(config.read_text() + SOURCES)
    archives.sync(config)
    statements.create_relationship("Shiran", "Omer", "colleague", config=config)
    statements.create_relationship("Jonah", "Shiran", "sibling", "My older sister", 5, 5, config=config)
    return config


@pytest.fixture
def archive(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as opened:
        yield opened


ASKED = case_values(__file__, "asked")


@pytest.mark.parametrize(("question", "asks", "people"), ASKED)
def test_whom_a_question_means(archive: Archive, question: str, asks: str, people: list[int]) -> None:
    with archive.people() as known:
        found = read(QuestionWords(question, known))
    assert found is not None
    assert (found.asks, found.people, found.ambiguous) == (asks, people, False)
    assert bool(found.unknown) == (not people)


@pytest.mark.parametrize(*cases(__file__, "what_asks_something_else_is_searched_for"))
def test_what_asks_something_else_is_searched_for(archive: Archive, question: str) -> None:
    with archive.people() as known:
        assert read(QuestionWords(question, known)) is None


@pytest.mark.parametrize("follow_up", ["and when?", "¿y cuándo?", "und wann?", "a kdy?", "ומתי?"])
def test_a_follow_up_that_names_nobody_means_the_people_of_the_question_before(
    archive: Archive, follow_up: str
) -> None:
    earlier = ["What did Shiran say?", "What did Omer say?"]
    with archive.people() as known:
        assert archive._people_asked_about(follow_up, earlier, known).named == (42,)
        assert archive._people_asked_about("and Omer?", earlier, known).named == (88,)
        assert archive._people_asked_about(follow_up, [], known).named == ()


@pytest.mark.parametrize("question", ["who is Doron?", "who is my dentist?", "How old is Doron?"])
def test_who_is_not_certain_is_offered_and_not_chosen(archive: Archive, question: str) -> None:
    answer = archive.ask(question)
    assert (answer.confidence, len(answer.quotes)) == ("unsure", 2)


@pytest.mark.requirement("S0-63", "S0-68", "S0-109", "S0-6")
def test_a_family_is_that_of_facts_and_passages_and_of_nobody_else(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2025-01-20T12:00:00+00:00")
    answer = archive.ask("Tell me about Shiran's family")
    assert answer.found
    assert answer.people == [42, 17, 23]
    assert "David Tamir, spouse of Shiran Tamir" in answer.text and "Mia Tamir, child" in answer.text
    shown = [(one.hit.source, one.hit.chunk.asset_id, one.hit.display_score) for one in answer.sources]
    assert shown[:3] == [("entity_store", f"person:{one}", 1.0) for one in (42, 17, 23)]
    assert {ref for _, ref, score in shown[3:] if score == 0.85} == {"jsonl:notes:r1", "jsonl:notes:r3"}
    age = archive.ask("How old is Shiran?")
    assert "Shiran Tamir: 38 years old" in age.text
    assert age.people == [42], "only a question about a family goes on to it"
    with archive.people() as people:
        expand = people.expand_person_ids_with_relationships
        assert sorted(expand([17])) == [17, 23, 42] or sorted(expand([17])) == [17, 42]
        assert expand([42], {"colleague"}) == [42, 88]
        assert 1 in expand([23], depth=2) and expand([23], depth=0) == [23]


@pytest.mark.requirement("S0-5", "S0-62", "S0-63")
@pytest.mark.parametrize("who", ["Shiran", "David", "שירן"])
def test_a_question_about_a_family_is_searched_among_what_its_members_wrote(archive: Archive, who: str) -> None:
    def scoped(question: str) -> int:
        (searched,) = [line for line in archive.ask(question).trace if "have to do with people" in line]
        return int(searched.partition("; ")[2].partition(" ")[0])

    asked = "What does {} say about the recital, the piano and the table?"
    assert scoped(asked.format(f"{who}'s family")) > scoped(asked.format(who)) > 0


def test_what_nobody_is_stated_to_be_is_said(archive: Archive) -> None:
    answer = archive.ask("Who is my plumber?")
    assert (answer.confidence, answer.people) == ("none", [])
    assert answer.head[0] == "Nobody is stated to be the plumber; `relrag people relate` says who it is."
    assert archive.ask("Whose number is +420 731 999 121?").head[0] == "No record says whose number or address that is."


@pytest.mark.requirement("S2-7", "S2-9", "S2-12", "S2-25", "S2-30")
def test_what_the_owner_says_counts_for_the_next_question(config: Path) -> None:
    relate = statements.create_relationship
    relate("Jonah", "Noa", "mentor", "From college, gives career guidance", 5, 4, ["Monthly coffee"], config=config)
    with pytest.raises(PeopleError, match=r"Noa Ben-Ami as mentor of Jonah Pickel is known already; update it"):
        relate("Jonah", "Noa", "Mentor", config=config)
    with Archive.open(config) as archive:
        assert archive.ask("who are my mentors?").people == [7]
        found = exploration.explore(archive, "who are my mentors?")
        (edge,) = found.edges
        assert (edge.from_entity_key, edge.to_entity_key, edge.relationship_type) == ("person:1", "person:7", "mentor")
        assert (edge.description, edge.attitude, edge.proximity) == ("From college, gives career guidance", 5, 4)
        assert edge.properties["notes"] == ["Monthly coffee"]
        assert [node.entity_key for node in found.nodes if node.kind == "person"] == ["person:7", "person:1"]
        assert exploration.explore(archive, "מי המנטור שלי?").edges[0].to_entity_key == "person:7"
        assert exploration.explore(archive, "who are my mentors?", user_id="another client").edges == []
        assert exploration.explore(archive, "who are my mentors?", search_relationships=False).edges == []
    statements.update_relationship("Jonah", "Noa", "mentor", attitude=3, config=config)
    said = statements.add_note_to_relationship("Noa", "Jonah", "mentee", "Moved to Haifa", config=config)
    with Archive.open(config) as archive:
        (relation,) = [one for one in archive.person("Noa").relations if one.other_id == 1]
        assert (relation.type, relation.row.attitude, relation.row.proximity) == ("mentee", 3, 4)
        assert relation.row.notes == ["Monthly coffee", "Moved to Haifa"]
    statements.undo(said.number, config=config)
    with Archive.open(config) as archive:
        (relation,) = [one for one in archive.person("Noa").relations if one.other_id == 1]
        assert relation.row.notes == ["Monthly coffee"]
    with pytest.raises(PeopleError, match="attitude is 6; give a whole number from 1 to 5"):
        statements.update_relationship("Jonah", "Noa", "mentor", attitude=6, config=config)
    with pytest.raises(PeopleError, match="is not known; there is: mentor"):
        statements.add_note_to_relationship("Jonah", "Noa", "friend", "x", config=config)


def test_a_name_that_may_mean_several_offers_them(config: Path) -> None:
    choices = r"12 \(Doron Levi, in book and notes\), 13 \(Doron Katz, in book\)"
    with pytest.raises(PeopleError, match=f"may be any of 2; name one by number: {choices}"):
        statements.add_fact("Doron", "lives_in", "Haifa", config=config)
    with pytest.raises(PeopleError, match='nobody is named "Zebulon"'):
        statements.add_fact("Zebulon", "lives_in", "Haifa", config=config)
    with pytest.raises(PeopleError, match="worked out from the birthday"):
        statements.add_fact("Noa", "age", "49", config=config)
    with pytest.raises(PeopleError, match='birthday is "1980-02-30"'):
        statements.add_fact("Shiran", "birthday", "1980-02-30", config=config)


@pytest.mark.requirement("S0-3")
def test_four_cards_are_one_after_a_merge_before_and_after_a_sync(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = "מי זאת דניאלה ליבר פיקל?"
    with Archive.open(config) as archive:
        assert archive.ask(question).people == [64, 61, 62, 63]
    assert commands.merge("64", ["61", "62", "63"], config) == 0
    assert "are one person; it takes effect now" in capsys.readouterr().out
    with Archive.open(config) as archive:
        assert archive.ask(question).people == [64]
    archives.sync(config)
    with Archive.open(config) as archive:
        assert archive.ask(question).people == [64]
        assert archive.person("63").person.person_id == 64
    (merge,) = [
        number for number, said in statements.list_statements(archive.settings) if type(said).__name__ == "Merge"
    ]
    assert "next `relrag sync`" in statements.undo(merge, config=config).notice
    archives.sync(config)
    with Archive.open(config) as archive:
        assert archive.ask(question).people == [64, 61, 62, 63]


def test_a_split_names_aliases_that_the_person_has(config: Path) -> None:
    with pytest.raises(PeopleError, match="has none of these aliases"):
        statements.split("David Tamir", ["Somebody Else"], config=config)


def test_the_commands_print_people_and_json(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.listing("Doron", config) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "12  Doron Levi        1",
        "13  Doron Katz        0",
        "2 people.",
    ]
    assert commands.show("Shiran", config, as_json=True) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["person_id"] == 42
    assert {"spouse": "David Tamir"}.items() <= {
        one["relationship_type"]: one["other"] for one in page["relationships"]
    }.items()
    assert page["latest"][0]["ref"] == "jsonl:notes:r3"
    assert commands.suggestions(config) == 0
    assert "דניאלה" in capsys.readouterr().out


def test_what_is_limited_to_a_source_or_a_time_is_answered_from_there(archive: Archive) -> None:
    assert archive.ask("How old is Shiran?").people == [42]
    assert archive.ask("How old is Shiran?", kinds=["gmail"]).people == []
    assert archive.ask("How old is Shiran?", until="2020").people == []


def test_what_is_said_of_one_end_says_nothing_of_the_other(config: Path) -> None:
    said = statements.create_relationship("Noa", "Omer", "brother", config=config)
    try:
        with Archive.open(config) as archive:
            sure = archive.ask("Who is Noa's brother?")
            assert (sure.confidence, sure.people) == ("sure", [88])
            # that Omer is a brother does not say what Noa is; her name does
            assert archive.ask("Who is Omer's brother?").people == []
            assert archive.ask("Who is Omer's sister?").people == [7]
            assert archive.ask("Who is Noa's sister?").people == []
            for whose in ("Whose brother is Omer?", "Čí bratr je Omer?", "של מי האח עומר?"):
                assert archive.ask(whose).people == [7]
            nobody = archive.ask("Whose son is Omer?")
            assert (nobody.people, nobody.confidence == "sure") == ([], False)
    finally:
        statements.update_relationship("Noa", "Omer", "sibling", deleted=True, config=config)
    assert said


@pytest.mark.requirement("S0-5")
@pytest.mark.parametrize("asked", ["Shiran", "שירן", "42"])
def test_a_person_limits_what_is_searched(archive: Archive, asked: str) -> None:
    refs = {hit.chunk.asset_id for hit in archive.search("table recital piano", person=asked).hits}
    assert "jsonl:notes:r3" in refs and "jsonl:notes:r2" not in refs
    assert "jsonl:notes:r2" in {hit.chunk.asset_id for hit in archive.search("table recital piano").hits}
    answer = archive.ask("Who has a piano?", person=asked)
    assert {one.hit.chunk.asset_id for one in answer.sources} == {"jsonl:notes:r3"}
    assert "have to do with the person" in answer.searched
    assert [
        one.hit.chunk.asset_id for one in archive.ask("list everything from March 2024", person="Omer").sources
    ] == ["jsonl:notes:r2"]
    with pytest.raises(PeopleError, match="may be any of 2"):
        archive.search("piano", person="Doron")
    with pytest.raises(PeopleError, match="nobody is named"):
        exploration.explore(archive, "piano", person="Zebulon")


def test_a_person_limits_what_is_explored(archive: Archive) -> None:
    found = exploration.explore(archive, "who is the spouse?", person="Radek")
    assert [(edge.from_entity_key, edge.to_entity_key) for edge in found.edges] == [("person:52", "person:53")]
    both = exploration.explore(archive, "who is the spouse?")
    assert ("person:42", "person:17") in [(edge.from_entity_key, edge.to_entity_key) for edge in both.edges]
