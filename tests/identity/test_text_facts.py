"""What texts state of people, in texts written before the patterns; signatures, and names with a role in them."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_pipelines.identity import signatures
from relrag_pipelines.identity.mentions import Mention, MentionFinder
from relrag_pipelines.identity.text_facts import stated_facts, stated_roles
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import parse
from tests.cases import cases
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


@pytest.mark.parametrize(*cases(__file__, "a_signature_says_what_the_sender_is_to_the_reader"))
def test_a_signature_says_what_the_sender_is_to_the_reader(text: str, type_: str | None) -> None:
    signed = signatures.relative(text, [parse("Tomáš Kolář")])
    assert (signed.value if signed else None) == type_


def test_a_signature_states_an_occupation_and_a_number() -> None:
    text = "Hello.\n\nRegards\nMgr. Eva Nová, advokátka\nBrno, Údolní 11\ntel. +420 700 512 844"
    told = {one.predicate: one.value for one in signatures.facts(text, [parse("Eva Nová")])}
    assert told == {"occupation": "advokátka", "phone": "+420 700 512 844"}
    assert [*signatures.facts(text, [parse("Jana Malá")])] == []
    assert [*signatures.facts("Eva Nová\norder 700 512 844", [parse("Eva Nová")])] == []


@pytest.mark.parametrize(*cases(__file__, "a_name_says_what_somebody_is"))
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


@pytest.mark.parametrize(*cases(__file__, "who_reports_to_whom"))
def test_who_reports_to_whom(text: str, said: list[tuple[object, object]]) -> None:
    finder = MentionFinder({1: ["Preeti"], 2: ["Colin"], 3: ["Alena Malá"], 4: ["נועם"], 5: ["דנה"]})
    found = stated_roles(text, finder.find(text))
    assert {one.relationship_type for one in found} <= {"manager"}
    ends = [(one.owner, one.other) for one in found]
    assert [tuple(one if isinstance(one, str) else one.person_ids for one in both) for both in ends] == said


@pytest.mark.parametrize(*cases(__file__, "who_sent_the_writer"))
def test_who_sent_the_writer(text: str, other: int | None) -> None:
    finder = MentionFinder({1: ["Imogen Hart"], 2: ["Dana"], 3: ["Miloš Bartoš"], 4: ["אורלי"]})
    found = [(one.owner, one.relationship_type, one.other) for one in stated_roles(text, finder.find(text))]
    assert [(owner, type_) for owner, type_, _ in found] == ([("writer", "introducer")] if other else [])
    assert all(isinstance(one, Mention) and one.person_ids == (other,) for _, _, one in found)


@pytest.mark.parametrize(*cases(__file__, "a_relative_whom_nobody_knows_is_one_of_who_is_known"))
def test_a_relative_whom_nobody_knows_is_one_of_who_is_known(text: str, owner: str, type_: str, value: str) -> None:
    (one,) = stated_facts(text, MentionFinder({1: ["Dana Levi"]}).find(text), None)
    whose = one.owner if isinstance(one.owner, str) else text[one.owner.start : one.owner.end]
    assert (whose, one.predicate, one.value) == (owner, type_, value)


@pytest.mark.parametrize(*cases(__file__, "a_number_that_changed_is_of_who_writes"))
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
