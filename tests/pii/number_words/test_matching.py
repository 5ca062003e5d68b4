"""Words compared with lists of phrases."""

import pytest

from relrag_pipelines.pii.number_words.matching import Phrases, fold, tokens


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Číslo", "cislo"), ("ZGŁOSZENIE", "zgloszenie"), ("numarası", "numarasi"), ("№ 5", "no 5"), ("휴대폰", "휴대폰")],
)
def test_case_and_accents_do_not_count(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("phrase", "text", "size"),
    [
        ("my number", "it is my number", 2),
        ("my number", "their number", 0),
        ("telefon*", "das Telefonnummern", 1),
        ("telefon*", "Telefonistinnenvereinigung", 0),  # another word
        ("call _ at", "call Petr at", 3),
        ("t č", "T. č", 2),
        ("נייד", "בנייד", 1),
    ],
)
def test_a_phrase_is_found_by_its_end(phrase: str, text: str, size: int) -> None:
    words = tokens(fold(text))
    assert Phrases([phrase], "הב").ends_at(words, len(words) - 1) == size
