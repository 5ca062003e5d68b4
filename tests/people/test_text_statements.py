"""What the texts of a month state of people, as rows."""

from __future__ import annotations

from datetime import date

from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.resolve import Resolution, ResolvedPerson
from relrag_pipelines.people.text_statements import RecordPeople, Text, read
from relrag_pipelines.sources import record_type
from relrag_pipelines.text.names.personal_name import parse

NAMES = {1: ["Dana Levi"], 2: ["Petr Malý"], 3: ["Petr Fiala"], 4: ["Will Reed"], 5: ["Jana"]}
FINDER = MentionFinder(NAMES)
FOUND = Resolution(
    {one: ResolvedPerson(one, names[0], [], [], [parse(names[0])]) for one, names in NAMES.items()}, {}, {}, []
)


def text(asset_id: str, said: str, type_: str = "whatsapp", **more: str | bool | None) -> Text:
    fields = {"client_id": None, "thread_id": "t", "subject": "Hiking", **more}
    return Text(asset_id, said, record_type(type_), date(2025, 1, 5), **fields)  # type: ignore[arg-type]


def test_relationships_as_rows() -> None:
    texts = [
        text("a", "my brother Petr came"),
        text("b", "my brother Petr came, my brother Petr left"),
        text("c", "My son Will reads. Petrova žena Jana volala.", client_id="client"),
        text("d", "my wife Dana"),
    ]
    appearing = RecordPeople({"b": [2], "c": [3], "d": []}, {"a": 1, "b": 1, "c": 1, "d": 1}, None)
    made, facts = read(FINDER, "mail/2025-01", texts, appearing, FOUND)
    assert [
        (row.from_person_id, row.to_person_id, row.relationship_type, row.source_ref, row.source_quote, row.client_id)
        for row in made
    ] == [
        (1, 2, "sibling", "b", "my brother Petr", None),
        (1, 4, "child", "c", "My son Will", "client"),
        (3, 5, "spouse", "c", "Petrova žena Jana", "client"),
    ]
    assert [(row.person_id, row.predicate, row.value, row.source_ref) for row in facts] == [
        (1, "sibling", "Petr", "a"),
    ]  # of two Petrs it is not said which


def test_facts_hold_from_the_day_on_which_what_may_change_was_said() -> None:
    texts = [text("a", "I live in Leeds. Jana was born on 3 March 1990. My brother Gilad came.")]
    _, facts = read(FINDER, "chat/2025-01", texts, RecordPeople({}, {"a": 2}, None), FOUND)
    assert {(row.person_id, row.predicate, row.value, row.valid_from, row.source_quote) for row in facts} == {
        (2, "lives_in", "Leeds", "2025-01-05", "I live in Leeds"),
        (2, "sibling", "Gilad", None, "My brother Gilad"),
        (5, "birthday", "1990-03-03", None, "Jana was born on 3 March 1990"),
    }


def test_what_the_title_of_a_chat_calls_somebody_and_what_a_mail_is_signed() -> None:
    texts = [
        text("a", "ahoj", subject="Máma"),
        text("b", "hi", thread_id="g", subject="Dad"),
        text("c", "hi", thread_id="g", subject="Dad"),
        text("d", "See you.\nDad x", "email", thread_id=None),
        text("e", "See you.\nDad x", "email", thread_id=None, bulk=True),
    ]
    present = {"d": [1, 4], "e": [1, 4]}
    appearing = RecordPeople(present, {"a": 2, "b": 3, "c": 4, "d": 4, "e": 4}, 1)
    made, _ = read(FINDER, "chat/2025-01", texts, appearing, FOUND)
    assert {(row.from_person_id, row.to_person_id, row.relationship_type, row.source_ref) for row in made} == {
        (1, 2, "parent", "a"),
        (1, 4, "parent", "d"),
    }
    nobody, _ = read(FINDER, "chat/2025-01", texts, appearing._replace(owner=None), FOUND)
    assert nobody == []


def test_to_whom_a_text_is_written_is_known_in_a_chat_of_two_and_in_a_mail_to_one() -> None:
    texts = [
        text("a", "your brother Will called", thread_id="two", subject="Petr Malý"),
        text("b", "your brother Will called", thread_id="group", subject="Petr Malý"),
        text("c", "ok", thread_id="group", subject="Petr Malý"),
        text("d", "your brother Will called", thread_id="other", subject="Hiking"),
        text("g", "your brother Will called", thread_id="about", subject="Petr Malý birthday"),
        text("e", "As your landlord I write.\nYour cousin\nJana", "email", thread_id=None),
        text("f", "As your landlord I write.", "email", thread_id=None),
    ]
    writers = {"a": 2, "b": 2, "c": 3, "d": 2, "e": 5, "f": 5, "g": 2}
    made, _ = read(FINDER, "chat/2025-01", texts, RecordPeople({"e": [1, 5], "f": [1, 3, 5]}, writers, 1), FOUND)
    assert {(row.from_person_id, row.to_person_id, row.relationship_type, row.source_ref) for row in made} == {
        (1, 4, "sibling", "a"),
        (1, 5, "landlord", "e"),
        (1, 5, "cousin", "e"),
    }


def test_to_whom_somebody_reports_is_his_manager() -> None:
    texts = [text("a", "Welcome, you will report to me.", "email", thread_id=None)]
    made, _ = read(FINDER, "mail/2025-01", texts, RecordPeople({"a": [1, 5]}, {"a": 5}, 1), FOUND)
    assert [(row.from_person_id, row.to_person_id, row.relationship_type) for row in made] == [(1, 5, "manager")]


def test_a_mail_to_several_states_nobody_s_mother() -> None:
    texts = [text("a", "See you.\nMum", "email", thread_id=None)]
    assert read(FINDER, "mail/2025-01", texts, RecordPeople({"a": [1, 3, 5]}, {"a": 5}, 1), FOUND) == ([], [])
