"""Who is what to whom in texts written before the patterns, and on two people's records."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import Mention, MentionFinder
from relrag_pipelines.text import kinship
from tests.cases import cases
from tests.identity.kinship_set import judge


@pytest.mark.parametrize(("name", "recall"), [("tuned", 0.95), ("held", 0.9), ("later", 0.75)])
def test_what_is_found_is_said(name: str, recall: float) -> None:
    judged = judge(name)
    assert judged.precision >= 0.95, judged.wrong
    assert judged.recall >= recall, judged.missed


def test_the_words_of_the_three_languages_are_of_the_same_types() -> None:
    english, czech, hebrew = (set(kinship.types_of(language).values()) for language in ("en", "cs", "he"))
    assert english == czech == hebrew
    assert kinship.inflected_forms()["sestrou"] == "sibling"
    assert kinship.types_of("he", "mine")["אשתי"] == "spouse"


def test_where_the_words_are() -> None:
    text = "Hi. My wife, Dana, says so."
    finder = MentionFinder({1: ["Dana"]})
    (one,) = stated_relations(text, finder.find(text))
    assert (one.owner, one.relationship_type, text[one.start : one.end]) == (
        "writer",
        "spouse",
        "My wife, Dana",
    )
    assert stated_relations("My wife, Dana", []) == []


@pytest.mark.parametrize(*cases(__file__, "who_writes_as_somebody_is_no_comparison"))
def test_who_writes_as_somebody_is_no_comparison(text: str, says: bool) -> None:
    assert [one.other for one in stated_relations(text, [])] == (["writer"] if says else [])


def test_a_czech_name_on_the_next_line_is_not_whose_somebody_is() -> None:
    finder = MentionFinder({1: ["Věra Malá"], 2: ["Petr Malý"]})
    for joint, owner in ((" ", 1), ("\n", None), (",", None)):
        text = f"Petr, manžel{joint}Věry, přijde."
        said = stated_relations(text, finder.find(text))
        assert [one.owner.person_ids[0] for one in said if isinstance(one.owner, Mention)] == ([owner] if owner else [])


def test_a_long_text_without_sentences_is_read_in_linear_time() -> None:
    finder = MentionFinder({1: ["Dana"]})
    text = "my wife Dana and " * 4_000
    mentions = finder.find(text)
    assert len(stated_relations(text, mentions)) == len(mentions) == 4_000


@pytest.mark.parametrize(*cases(__file__, "what_stands_between_a_relative_and_whose_he_is"))
def test_what_stands_between_a_relative_and_whose_he_is(text: str, owner: str, type_: str, other: str) -> None:
    (one,) = stated_relations(text, MentionFinder({1: ["Dana"], 2: ["נועם"], 3: ["מירב"]}).find(text))
    named = text[one.other.start : one.other.end] if isinstance(one.other, Mention) else one.other
    assert (one.owner, one.relationship_type, named) == (owner, type_, other)


@pytest.mark.parametrize(*cases(__file__, "his_and_her_are_of_who_alone_is_named_just_before"))
def test_his_and_her_are_of_who_alone_is_named_just_before(text: str, owner: str | None) -> None:
    mentions = MentionFinder({1: ["Petr Malý"], 2: ["Dana Malá"], 3: ["Simon Reed"]}).find(text)
    owners = [one.owner for one in stated_relations(text, mentions)]
    assert [text[one.start : one.end] for one in owners if isinstance(one, Mention)] == ([owner] if owner else [])


@pytest.mark.parametrize(
    "text",
    [
        "Das ist nicht meine Schwester Dana.",
        "No es mi hermana Dana.",
        "Dis à ma mère Dana arrive.",
        "Prima, bis morgen!",
        "Tía, no sabes qué pasó.",
        "It is my kind of music, Dana.",
    ],
)
def test_languages_whose_denials_and_greetings_are_unknown_state_nobody(text: str) -> None:
    assert stated_relations(text, MentionFinder({1: ["Dana"]}).find(text)) == []


@pytest.mark.parametrize(("text", "type_"), [("My partner, Dana, says hi.", "partner"), ("My cousin, Dana.", "cousin")])
def test_a_word_that_languages_share_is_read_in_that_of_its_owner(text: str, type_: str) -> None:
    (stated,) = stated_relations(text, MentionFinder({1: ["Dana"]}).find(text))
    assert (stated.owner, stated.relationship_type) == ("writer", type_)


def test_family_names_of_other_languages_are_no_relatives() -> None:
    names = ["joao neto", "jose nieto", "thomas enkel", "erich freund", "primo levi", "zia khan", "pierre neveu"]
    assert [kinship.type_in_name(name.split()) for name in names] == [None] * len(names)
    assert kinship.type_of("Schwester") == ("sibling", "Schwester")
