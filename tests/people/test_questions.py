"""What questions ask of people whom only texts name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from relrag_pipelines.records import PersonFact
from relrag_pipelines.text.names.forms import may_call
from relrag_query.people import questions
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import kin_words
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.relatives import Reference, find_relative, relative_of
from relrag_query.understanding.people_question import Relation
from relrag_query.understanding.phrases import bare, load_phrases
from tests.cases import cases

SANJAY = PersonFact(1, "spouse", "Sanjay", 0.8, "chat:1", "My husband Sanjay")


def test_whose_relative_somebody_is_whom_only_a_text_names(monkeypatch: pytest.MonkeyPatch) -> None:
    fact = SANJAY
    monkeypatch.setattr(questions, "references", lambda *_, **__: iter([Reference(0, 6, [], relative_facts=[fact])]))
    people: Any = SimpleNamespace()
    asked = questions.read(QuestionWords("whose husband is Sanjay?", people))
    assert asked is not None
    assert (asked.people, asked.ambiguous, asked.relative_facts) == ([1], False, [fact])


def test_whose_mother_somebody_is_by_a_child_whom_only_a_text_names(monkeypatch: pytest.MonkeyPatch) -> None:
    child = PersonFact(1, "child", "Kubík", 0.8, "chat:1", "jsem maminka Kubíka")
    monkeypatch.setattr(questions, "references", lambda *_, **__: iter([Reference(0, 4, [1])]))
    people: Any = SimpleNamespace(relationships=lambda *_: [], facts=lambda _ids: [SANJAY, child])
    asked = questions.read(QuestionWords("whose mother is Dana?", people))
    assert asked is not None
    assert (asked.people, asked.ambiguous, asked.unknown, asked.relative_facts) == ([], False, "", [child])


def test_a_husband_whom_only_a_text_names_leads_to_no_mother_in_law() -> None:
    """Somebody has the name that the text has: that he is the husband is not stated."""
    likely = PersonFact(1, "spouse", "Petr", 0.5, "chat:1", "our son")
    petr = IndexedPerson(2, "Petr")
    people: Any = SimpleNamespace(
        owner=1,
        holders_of_role=lambda _type: [],
        relationships=lambda ids, types: [],
        facts=lambda ids: [likely] if ids == [1] else [],
        find=lambda name: [petr],
        by_id=lambda ids: dict.fromkeys(ids, petr),
    )
    (word,) = kin_words("mother-in-law")
    relative = relative_of(1, 0, 13, word, people)
    assert (relative.people, relative.unknown) == ([], "parent_in_law")


@pytest.mark.parametrize(("person", "people_ids"), [(1, [7]), (2, [])])
def test_an_architect_is_the_owners_alone(person: int, people_ids: list[int]) -> None:
    people: Any = SimpleNamespace(
        owner=1,
        holders_of_role=lambda _type: [7],
        relationships=lambda *_: [],
        facts=lambda _ids: [],
        by_id=lambda _ids: {},
    )
    (word,) = kin_words("architect")
    relative = relative_of(person, 0, 9, word, people)
    assert (relative.people, relative.unknown) == (people_ids, "" if people_ids else "architect")


@pytest.mark.parametrize(*cases(__file__, "a_name_in_a_question_may_be_a_given_name_in_any_case"))
def test_a_name_in_a_question_may_be_a_given_name_in_any_case(said: str, name: str, may: bool) -> None:
    assert may_call(said, name) is may


def test_how_old_somebody_is_whom_only_a_text_names_is_no_record_of_his(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Reference(11, 17, [], relative_facts=[SANJAY])
    monkeypatch.setattr(questions, "references", lambda *_, **__: iter([found]))
    people: Any = SimpleNamespace()
    asked = questions.read(QuestionWords("how old is Sanjay?", people))
    assert asked is not None  # so that no passage is sure to tell
    assert (asked.asks, asked.predicate, asked.people, asked.relative_facts) == ("fact", "age", [], [])


@pytest.mark.parametrize(("question", "about_dana"), [("who is Dana", True), ("what's her son called, Dana's?", False)])
def test_whoever_is_named_is_not_her_son(monkeypatch: pytest.MonkeyPatch, question: str, about_dana: bool) -> None:
    start = question.index("Dana")
    found = Reference(start, start + len("Dana"), [1])
    monkeypatch.setattr(questions, "references", lambda *_, **__: iter([found]))
    people: Any = SimpleNamespace(name_bearers=lambda *_, **__: {}, share_name=lambda _ids: False)
    assert (questions.read(QuestionWords(question, people)) is not None) is about_dana


@pytest.mark.parametrize(
    ("question", "predicate"),
    [
        ("where does Dana work now", "works_at"),
        ("kde teď pracuje Dana", "works_at"),
        ("איפה Dana עובדת היום", "works_at"),
        ("where does Dana work on the boiler", ""),
    ],
)
def test_words_for_now_ask_for_nothing_else(monkeypatch: pytest.MonkeyPatch, question: str, predicate: str) -> None:
    start = question.index("Dana")
    found = Reference(start, start + len("Dana"), [1])
    monkeypatch.setattr(questions, "references", lambda *_, **__: iter([found]))
    people: Any = SimpleNamespace(name_bearers=lambda *_, **__: {}, share_name=lambda _ids: False)
    asked = questions.read(QuestionWords(question, people))
    assert (asked.predicate if asked else "") == predicate


def test_the_mother_of_a_child_whom_only_a_text_names() -> None:
    child = PersonFact(1, "child", "Rony", 0.8, "chat:1", "Rony comes for the weekend")
    people: Any = SimpleNamespace(by_id=lambda ids: {one: IndexedPerson(one, "Dana") for one in ids})
    words = QuestionWords("Rony's mother", people)
    (word,) = words.kin_words
    found = find_relative(words, word, [Reference(0, 4, [], relative_facts=[child])])
    assert found is not None
    assert (found.people, found.ambiguous) == ([1], False)


@pytest.mark.parametrize(*cases(__file__, "who_found_somebody_for_us_introduced_them"))
def test_who_found_somebody_for_us_introduced_them(question: str, introduces: bool) -> None:
    assert bool(load_phrases().people.introduction.search(bare(question))) is introduces


@pytest.mark.parametrize(
    "question",
    [
        "Who is my mother?",
        "Kdo je moje matka?",
        "Wer ist meine Mutter?",
        "Wie heißt meine Mutter?",
        "¿Quién es mi madre?",
        "Come si chiama mia madre?",
        "Qui est ma mère ?",
        "Comment s'appelle ma mère ?",
        "Quem é a minha mãe?",
    ],
)
def test_the_owners_mother_is_asked_for_in_several_languages(question: str) -> None:
    mother = IndexedPerson(2, "Rosa")
    row: Any = SimpleNamespace(to_person_id=2, description="mother", source_quote=None, notes=[])
    relation = Relation(1, 2, "parent", row)
    people: Any = SimpleNamespace(
        owner=1,
        finder=lambda _text: SimpleNamespace(find=lambda _text: []),
        holders_of_role=lambda _type: [],
        relationships=lambda ids, _types: [relation] if ids == [1] else [],
        facts=lambda _ids: [],
        by_id=lambda ids: dict.fromkeys(ids, mother),
        name_bearers=lambda *_, **__: {},
        relative_facts=lambda _name: [],
        ids_in_index=lambda ids: ids,
    )
    request = questions.read(QuestionWords(question, people))
    assert request is not None
    assert (request.asks, request.people, request.unknown) == ("who", [2], "")
