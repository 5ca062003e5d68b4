"""Words compared with lists of phrases."""

import pytest

from relrag_pipelines.pii.number_words.matching import Phrases, fold, tokens
from tests.cases import cases


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Číslo", "cislo"), ("ZGŁOSZENIE", "zgloszenie"), ("numarası", "numarasi"), ("№ 5", "no 5"), ("휴대폰", "휴대폰")],
)
def test_case_and_accents_do_not_count(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(*cases(__file__, "a_phrase_is_found_by_its_end"))
def test_a_phrase_is_found_by_its_end(phrase: str, text: str, size: int) -> None:
    words = tokens(fold(text))
    assert Phrases([phrase], "הב").ends_at(words, len(words) - 1) == size
