"""What texts state of people, in texts written before the patterns; signatures, and names with a role in them."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_pipelines.identity import signatures
from relrag_pipelines.identity.mentions import Mention, MentionFinder
from relrag_pipelines.identity.text_facts import stated_facts, stated_roles
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import parse
from tests.identity.fact_set import judge


@pytest.mark.parametrize(("name", "recall"), [("tuned", 0.95), ("held", 0.85)])
def test_what_is_found_is_stated(name: str, recall: float) -> None:
    judged = judge(name)
    assert judged.precision >= 0.95, judged.wrong
    assert judged.recall >= recall, judged.missed


def test_where_the_words_are_and_that_an_age_becomes_a_birthday() -> None:
    text = "Hi. Karen turned 95 today, call her. We live in hope, and I live in Leeds."
    karen, own = stated_facts(text, MentionFinder({1: ["Karen"]}).find(text), date(2024, 5, 10))
    assert (karen.predicate, karen.value, text[karen.start : karen.end]) == (
        "birthday", "1929-05-10", "Karen turned 95 today",
    )  # fmt: skip
    assert (own.owner, own.predicate, own.value) == ("writer", "lives_in", "Leeds")
    (undated,) = stated_facts(text, MentionFinder({1: ["Karen"]}).find(text), None)
    assert undated.predicate == "lives_in"


def test_who_introduced_whom() -> None:
    text = "Let me put you in touch with Susan Park."
    (one,) = stated_roles(text, MentionFinder({1: ["Susan Park"]}).find(text))
    assert isinstance(one.owner, Mention)
    assert (one.owner.person_ids, one.relationship_type, one.other, text[one.start : one.end]) == (
        (1,), "introducer", "writer", "put you in touch with Susan Park",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Come at Easter?\nDad x", "parent"),
        ("Barva je v kůlně.\nbrácha Tomáš", "sibling"),
        ("Barva je v kůlně.\nbrácha Petr", None),
        ("להתראות\nאמא", "parent"),
        ("See you.\nYour plumber", None),
        ("Tell your Dad", None),
        ("I miss Dad", None),
        ("", None),
    ],
)
def test_a_signature_says_what_the_sender_is_to_the_reader(text: str, type_: str | None) -> None:
    signed = signatures.relative(text, [parse("Tomáš Kolář")])
    assert (signed.value if signed else None) == type_


def test_a_signature_states_an_occupation_and_a_number() -> None:
    text = "Hello.\n\nRegards\nMgr. Eva Nová, advokátka\nBrno, Údolní 11\ntel. +420 700 512 844"
    told = {one.predicate: one.value for one in signatures.facts(text, [parse("Eva Nová")])}
    assert told == {"occupation": "advokátka", "phone": "+420 700 512 844"}
    assert [*signatures.facts(text, [parse("Jana Malá")])] == []
    assert [*signatures.facts("Eva Nová\norder 700 512 844", [parse("Eva Nová")])] == []


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("Vadim Plumber", "plumber"),
        ("Máma Zdena", "parent"),
        ("מיכל אחותי", "sibling"),
        ("טובה רואת חשבון", "accountant"),
        ("Mom", "parent"),
        ("Dr. Shimon Katz", None),
        ("דוד כהן", None),
        ("Petr", None),
        ("Plumber", None),
    ],
)
def test_a_name_says_what_somebody_is(name: str, type_: str | None) -> None:
    assert kinship.type_in_name(parse(name).words) == type_


def test_an_age_leaves_a_year_in_which_somebody_was_born() -> None:
    finder = MentionFinder({1: ["Karen"], 2: ["Eva"]})
    text = "Karen is 24. Eva má 30 let, Eva is 5 minutes away. I'm 10 minutes late."
    facts = stated_facts(text, finder.find(text), date(2024, 5, 10))
    assert [(one.predicate, one.value) for one in facts] == [
        ("born", "1999-05-11/2000-05-10"), ("born", "1993-05-11/1994-05-10"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("day", "born"),
    [
        (date(2024, 2, 28), ["1999-03-01/2000-02-28"]),
        (date(2024, 2, 29), ["1999-03-01/2000-02-28"]),
        (date(2024, 3, 1), ["1999-03-02/2000-03-01"]),
        (date(2025, 2, 28), ["2000-02-29/2001-02-28"]),
        (date(9999, 12, 31), ["9975-01-01/9975-12-31"]),
        (date(12, 3, 4), []),
    ],
)
def test_so_it_does_at_the_edges_of_the_calendar(day: date, born: list[str]) -> None:
    text = "Karen is 24."
    assert [one.value for one in stated_facts(text, MentionFinder({1: ["Karen"]}).find(text), day)] == born


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("From October I report to Colin, you stay.", [("writer", (2,))]),
        ("Welcome. You will report to me. See you.", [("reader", "writer")]),
        ("Preeti is to be supervised by Colin for a month.", [((1,), (2,))]),
        ("Od května budete spadat pod Alenu.", [("reader", (3,))]),
        ("דנה מדווחת לנועם.", [((5,), (4,))]),
        ("I will report to Colin about the bridge.", []),
        ("If you report to Colin, tell him.", []),
        ("Do I report to Colin?", []),
    ],
)
def test_who_reports_to_whom(text: str, said: list[tuple[object, object]]) -> None:
    finder = MentionFinder({1: ["Preeti"], 2: ["Colin"], 3: ["Alena Malá"], 4: ["נועם"], 5: ["דנה"]})
    found = stated_roles(text, finder.find(text))
    assert {one.relationship_type for one in found} <= {"manager"}
    ends = [(one.owner, one.other) for one in found]
    assert [tuple(one if isinstance(one, str) else one.person_ids for one in both) for both in ends] == said


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Imogen Hart suggested I write to you.", 1),
        ("Dana told me so much about you.", 2),
        ("Dobrý den, Fiala. Posílá mě pan Bartoš.", 3),
        ("תודה. אורלי סיפרה לי עליך הרבה.", 4),
        ("Imogen Hart suggested I write a book.", None),
        ("Did Dana suggest I write to you?", None),
    ],
)
def test_who_sent_the_writer(text: str, other: int | None) -> None:
    finder = MentionFinder({1: ["Imogen Hart"], 2: ["Dana"], 3: ["Miloš Bartoš"], 4: ["אורלי"]})
    found = [(one.owner, one.relationship_type, one.other) for one in stated_roles(text, finder.find(text))]
    assert [(owner, type_) for owner, type_, _ in found] == ([("writer", "introducer")] if other else [])
    assert all(isinstance(one, Mention) and one.person_ids == (other,) for _, _, one in found)


@pytest.mark.parametrize(
    ("text", "owner", "type_", "value"),
    [
        ("Dobrý den, jsem maminka Kubíka.", "writer", "child", "Kubík"),
        ("Dana, maminka Kubíka", "Dana", "child", "Kubík"),
        ("Lucy is tall. Dana is Kevin's aunt.", "Dana", "nephew_or_niece", "Kevin"),
        ("Dana is the mother of Kevin.", "Dana", "child", "Kevin"),
        ("mám novou šéfovou, Alenu Rousovou, přišla včera", "writer", "manager", "Alena Rousová"),
        ("I have a new boss, Kevin.", "writer", "manager", "Kevin"),
    ],
)
def test_a_relative_whom_nobody_knows_is_one_of_who_is_known(text: str, owner: str, type_: str, value: str) -> None:
    (one,) = stated_facts(text, MentionFinder({1: ["Dana Levi"]}).find(text), None)
    whose = one.owner if isinstance(one.owner, str) else text[one.owner.start : one.owner.end]
    assert (whose, one.predicate, one.value) == (owner, type_, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Pozor, od středy se mi mění číslo, nové je 777 204 500.", "777 204 500"),
        ("Mění se mi číslo! Od středy 777 204 500, staré ruším.", "777 204 500"),
        ("Ahoj, změnila jsem si číslo: 777 204 500", "777 204 500"),
        ("Mám nový mobil, 777 204 500.", "777 204 500"),
        ("Mám nové číslo na instalatéra 777 204 500.", None),
        ("Nové číslo na instalatéra je 777 204 500.", None),
        ("All fine. I changed phone, new number is 07700 900128, the old one dies soon.", "07700 900128"),
        ("I've got a new mobile: 07700 900128", "07700 900128"),
        ("The roofer's new number is 07700 900128", None),
        ("I have a new phone. Mum's number is 07700 900128", None),
        ("I've got a new phone since 12/11/2024", None),
        ("I've switched phone, it's 07700 900128", "07700 900128"),
        ("Mám nový mobil. Mámino číslo je 777 204 500", None),
        ("Mám nový telefon, Petr má 777 204 500", None),
        ("יש לי טלפון חדש. המספר של אמא 052-000-1133", None),
        ("Did I tell you she changed phone? 07700 900128", None),
        ("קנו לי טלפון חדש והמספר השתנה: 052-000-1133.", "052-000-1133"),
        ("החלפתי מספר, מעכשיו 052-000-1133", "052-000-1133"),
        ("המספר של השרברב 052-000-1133", None),
    ],
)
def test_a_number_that_changed_is_of_who_writes(text: str, value: str | None) -> None:
    told = stated_facts(text, MentionFinder({1: ["Karen"]}).find(text), date(2024, 5, 10))
    assert [(one.owner, one.value) for one in told if one.predicate == "phone"] == (
        [("writer", value)] if value else []
    )


@pytest.mark.parametrize(
    ("text", "introduces"), [("Jana mě za vámi poslala.", True), ("Jana mě poslala pro mléko.", False)]
)
def test_who_sends_somebody_for_milk_introduces_nobody(text: str, introduces: bool) -> None:
    assert bool(stated_roles(text, MentionFinder({1: ["Jana"]}).find(text))) is introduces
