"""Words that mean the same in other languages, in whatever form a question has them."""

from __future__ import annotations

import unicodedata

import pytest

from relrag_pipelines.languages import LEXICON
from relrag_query.understanding import lexicon
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_word_is_found_in_any_form"))
def test_a_word_is_found_in_any_form(word: str, english: bool, meant: dict[str, str]) -> None:
    found = lexicon.translations(word, default=english)
    assert {language: meant[language] in words for language, words in found.items()} == dict.fromkeys(meant, True)


@pytest.mark.parametrize(*cases(__file__, "what_only_looks_alike_is_not_meant"))
def test_what_only_looks_alike_is_not_meant(word: str, english: bool, not_meant: str, why: str) -> None:
    found = lexicon.translations(word, default=english)
    assert not any(not_meant in words for words in found.values()), why


def test_what_is_no_word_is_not_looked_for() -> None:
    assert [lexicon.translations(word, default=True) for word in ("", "INV-1187", "2024", "…", "xyzzy")] == [{}] * 5


def test_the_table_is_whole() -> None:
    """Three cells a line, each with words in the letters of its language, none twice."""
    lines = LEXICON.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "en\tcs\the"
    assert len(lines) > 1_900
    for number, line in enumerate(lines[1:], 2):
        cells = [cell.split(" ") for cell in line.split("\t")]
        assert len(cells) == 3, number
        for language, words in zip(("en", "cs", "he"), cells, strict=True):
            assert words == list(dict.fromkeys(words)), (number, language)
            assert all(word == unicodedata.normalize("NFC", word.lower()) for word in words), (number, language)
            hebrew = [any("א" <= letter <= "ת" for letter in word) for word in words]
            assert hebrew == [language == "he"] * len(words), (number, language)
    heads = [line.split("\t")[0] for line in lines[1:]]
    assert heads == sorted(heads)
