"""Labelled questions about people on two invented archives, and what is said of those whom they name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.people.stage import read_people
from relrag_query import exploration, statements
from relrag_query.archive import Archive
from relrag_query.cli.commands import people as commands
from relrag_query.people.indexed_person import PeopleError
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.questions import read
from relrag_query.understanding.people_question import PeopleQuestion
from tests import archive as archives
from tests.cases import cases
from tuning.people import measure

GATE, WRONG = 0.85, 0.03
"""shares of the labelled questions: right at least, and a wrong person at most"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("questions")


@pytest.fixture(scope="module")
def rosen(work: Path) -> Iterator[Archive]:
    with measure.opened("rosen", work) as archive:
        yield archive


@pytest.fixture
def config(rosen: Archive) -> Path:
    return rosen.settings.folder / "relrag.toml"


def test_the_set_is_of_four_archives_and_more_in_three_languages_part_of_it_held_back() -> None:
    every = measure.questions()
    held = [one for one in every if one.half == "held"]
    assert len(every) >= 120 and len(held) >= 60
    assert {one.language for one in held} == {"en", "cs", "he"}
    assert {one.archive for one in every} == {
        "brandt",
        "dvorak",
        "harbour",
        "levi",
        "rosen",
        "kolar",
        "sagi",
        "katz",
        "whitfield",
        "sella",
        "gold",
        "berger",
        "pryce",
        "souckova",
        "hargreaves",
        "peretz",
    }
    assert {one.archive for one in held}.isdisjoint({one.archive for one in every if one.half == "looked_at"})


@pytest.mark.parametrize("name", ["rosen", *(pytest.param(one, marks=pytest.mark.slow) for one in ("kolar", "sagi"))])
def test_most_are_answered_rightly_and_hardly_any_names_somebody_else(name: str, work: Path) -> None:
    judged = measure.measure([one for one in measure.questions() if one.archive == name], work)
    right, wrong = (sum(getattr(one, share) for one in judged) / len(judged) for share in ("right", "wrong"))
    assert right >= GATE, [one.asked.question for one in judged if not one.right]
    assert wrong <= WRONG, [one.asked.question for one in judged if one.wrong]


@pytest.mark.parametrize(*cases(__file__, "what_is_answered"))
def test_what_is_answered(
    rosen: Archive, monkeypatch: pytest.MonkeyPatch, question: str, confidence: str, said: str
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2026-03-10T18:00:00+02:00")
    answer = rosen.ask(question)
    assert (answer.confidence, said in answer.text) == (confidence, True), answer.text


@pytest.mark.parametrize(
    "question", ["whose number is 777 999 999?", "How old is David Stern?", "who recommended Adam?"]
)
def test_what_nothing_tells_is_never_sure(rosen: Archive, question: str) -> None:
    answer = rosen.ask(question)
    assert answer.confidence != "sure" or "David Peretz" in answer.text


@pytest.fixture(scope="module")
def sagi(work: Path) -> Iterator[Archive]:
    with measure.opened("sagi", work) as archive:
        yield archive


@pytest.mark.parametrize(*cases(__file__, "what_people_really_ask"))
def test_what_people_really_ask(
    sagi: Archive, monkeypatch: pytest.MonkeyPatch, question: str, confidence: str, said: str
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2026-05-20T18:00:00+02:00")
    answer = sagi.ask(question)
    assert (answer.confidence, said in "\n".join([answer.text, *answer.head])) == (confidence, True), answer.text


@pytest.fixture(scope="module")
def berger(work: Path) -> Iterator[Archive]:
    with measure.opened("berger", work) as archive:
        yield archive


@pytest.mark.parametrize(*cases(__file__, "of_several_the_choices_are_told_apart"))
def test_of_several_the_choices_are_told_apart(berger: Archive, question: str, said: list[str]) -> None:
    """In any script; two records of one name are one choice."""
    answer = berger.ask(question)
    assert (answer.confidence, len(answer.quotes)) == ("unsure", len(said))
    assert [one in answer.text for one in said] == [True] * len(said), answer.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("who is the electrician?", "It is not certain who the electrician is, but passages speak of one"),
        ("who is the plumber?", "Nobody is stated to be the plumber"),
    ],
)
def test_nothing_is_denied_that_a_passage_may_say(berger: Archive, question: str, said: str) -> None:
    assert berger.ask(question).head[0].startswith(said)


@pytest.mark.parametrize(
    ("question", "predicate"), [("How old is Gideon?", "age"), ("where does Zuzana live?", "lives_in")]
)
def test_a_name_that_nobody_bears_is_asked_about_all_the_same(sagi: Archive, question: str, predicate: str) -> None:
    """So that no sentence about somebody else counts as sure."""
    with sagi.people() as people:
        assert read(QuestionWords(question, people)) == PeopleQuestion("fact", [], predicate=predicate)
        assert read(QuestionWords("How old is the boiler?", people)) is None


def test_who_is_in_a_family_is_explored(rosen: Archive) -> None:
    found = exploration.explore(rosen, "who is in my family")
    names = {node.name for node in found.nodes if node.kind == "person"}
    assert {"Ruth Rosen", "Petr Novák", "Noa Rosen"} <= names and "Adam Wolf" not in names
    assert all(edge.relationship_type in ("parent", "spouse", "child", "sibling") for edge in found.edges)


def test_what_was_stated_is_listed_in_words(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [
        statements.add_fact("Petr Novák", "lives_in", "Haifa", "2024", config=config),
        statements.create_relationship("Petr Novák", "Adam Wolf", "friend", config=config),
        statements.add_note_to_relationship("Petr Novák", "Adam Wolf", "friend", "They row", config=config),
        statements.merge("Vadim Plumber", ["Savta Miriam"], config=config),
    ]
    try:
        assert commands.undo(None, config) == 0
        told = capsys.readouterr().out
        assert "lives in: Haifa (from 2024)" in told and "Adam Wolf" in told and "note on friend: They row" in told
        assert "one person" in told and not any(name in told for name in ("Merge", "Stated", "person_id"))
        assert commands.undo(None, config, as_json=True) == 0
        assert [one["kind"] for one in json.loads(capsys.readouterr().out)] == [
            "fact", "relationship", "relationship_note", "merge",
        ]  # fmt: skip
    finally:
        for one in said:
            statements.undo(one.number, config=config)


CARDS = """\
BEGIN:VCARD
VERSION:4.0
UID:dana
FN:Dana Levi
NICKNAME:דנה
TEL:052-555-0001
END:VCARD
BEGIN:VCARD
VERSION:4.0
UID:petr
FN:Petr Kolar
TEL:052-555-0002
END:VCARD
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    config = archives.make(tmp_path, 'owner = "Jonah"')
    (tmp_path / "cards.vcf").write_text(CARDS)
    note = {"id": "raw", "text": "It is ready.", "from": "+420 777 123 456", "timestamp": "2024-03-01T08:00:00Z"}
    with (tmp_path / "notes.jsonl").open("a") as file:
        file.write(json.dumps(note) + "\n")
    config.write_text(config.read_text() + '[[sources]]\nname = "book"\nkind = "contacts"\npath = "cards.vcf"\n')
    archives.sync(config)
    return config


def test_a_split_says_where_it_would_change_nothing(small: Path) -> None:
    with pytest.raises(PeopleError, match=r'"דנה" stands on one card, or in one header, with .*"Dana Levi"'):
        statements.split("Dana Levi", ["דנה"], config=small)
    with Archive.open(small) as archive:
        assert statements.list_statements(archive.settings) == []


def test_a_number_that_nobody_named_becomes_somebodys(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Archive.open(small) as archive:
        petr = archive.person("Petr Kolar").person.person_id
        assert archive.search("ready", person="Petr Kolar").hits == []
        assert "Petr" not in archive.ask("whose number is +420 777 123 456?").text
    with pytest.raises(PeopleError, match="no record has"):
        statements.merge("+420 777 999 999", ["Petr Kolar"], config=small)
    assert commands.merge("+420 777 123 456", ["Petr Kolar"], small) == 0
    assert "it takes effect with the next `relrag sync`" in capsys.readouterr().out
    archives.sync(small)
    with Archive.open(small) as archive:
        assert archive.ask("whose number is +420 777 123 456?").people == [petr]
        assert [hit.chunk.asset_id for hit in archive.search("ready", person="Petr Kolar").hits] == ["jsonl:notes:raw"]
        ((number, _),) = statements.list_statements(archive.settings)
    statements.undo(number, config=small)
    archives.sync(small)
    found, _ = read_people(archives.workspace(small))
    assert all("+420" not in claim.value for entry in found.people[petr].entries for claim in entry.claims)
    with Archive.open(small) as archive:
        assert archive.ask("whose number is +420 777 123 456?").people == []
