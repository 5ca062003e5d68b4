"""Words for relatives in questions, and words of another meaning that look like them."""

from __future__ import annotations

import pytest

from relrag_query.people.kin_words import kin_words
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_word_is_that_of_a_relative"))
def test_a_word_is_that_of_a_relative(question: str, types: list[str]) -> None:
    assert [one.type for one in kin_words(question)] == types


@pytest.mark.parametrize(
    ("question", "meanings"),
    [
        ("Wer ist meine Mutter?", [("parent", "mutter")]),
        ("Wie heißen meine Geschwister?", [("sibling", "sibling")]),
        ("¿Cómo se llama mi hermana?", [("sibling", "hermana")]),
        ("Chi sono i miei fratelli?", [("sibling", "sibling")]),
        ("Qui est ma sœur ?", [("sibling", "sœur")]),
        ("Quem é a minha avó?", [("grandparent", "avo")]),
        ("Wer ist meine Frau?", [("spouse", "ehefrau")]),
        ("What kind of pump is it?", []),
        ("Who is the chef?", []),
        ("Wer ist Frau Huber?", []),
        ("Wann hat Herr Schreiner Geburtstag?", []),
        ("Chi era il primo fornitore?", []),
    ],
)
def test_relatives_are_asked_for_in_any_language_that_has_words_for_them(
    question: str, meanings: list[tuple[str, str]]
) -> None:
    assert [(word.type, word.word) for word in kin_words(question)] == meanings
