"""Where a text is searched for facts."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_pipelines.identity.text_facts import stated_facts
from relrag_pipelines.text.fact_phrases import may_state, stretches

FILLER = "The shed wants paint. " * 40


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("I now live in Leeds.", "Leeds"),
        ("my birthday is on the 3rd of March 1990.", "1990-03-03"),
        ("Bydlím teď ve Zlíně.", "Zlíně"),
        ("עברתי לגור בחיפה.", "חיפה"),
    ],
)
def test_a_fact_is_found_wherever_it_stands(sentence: str, value: str) -> None:
    for text in (sentence, FILLER + sentence, sentence + " " + FILLER, f"İ{FILLER}{sentence}\n{FILLER}"):
        (fact,) = stated_facts(text, [], date(2024, 5, 10))
        assert (fact.value, text[fact.start : fact.end].rstrip(".")) == (value, sentence.rstrip("."))


def test_two_facts_near_each_other_are_found_once_each() -> None:
    text = f"{FILLER}I live in Leeds. I work for Harbour Mills.{FILLER}"
    assert [fact.value for fact in stated_facts(text, [], None)] == ["Leeds", "Harbour Mills"]
    assert len(stretches(text)) == 1


def test_where_a_stretch_ends_the_text_does_not() -> None:
    text = f"I am a dentist{' ' * 120}and we went home."
    assert stated_facts(text, [], None) == []
    assert [fact.value for fact in stated_facts("I am a dentist", [], None)] == ["dentist"]


def test_only_what_stands_around_a_cue_is_searched() -> None:
    text = f"{FILLER}I live in Leeds.{FILLER}"
    ((begin, end),) = stretches(text)
    assert len(FILLER) - 100 <= begin < end <= len(FILLER) + 120
    assert (may_state(FILLER), stretches(FILLER)) == (False, ())
