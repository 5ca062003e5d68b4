"""Words that mean the same in other languages, in whatever form a question has them."""

from __future__ import annotations

import unicodedata

import pytest

from relrag_pipelines.languages import LEXICON
from relrag_query.understanding import lexicon


@pytest.mark.parametrize(
    ("word", "english", "meant"),
    [
        ("boiler", True, {"cs": "kotel", "he": "דוד"}),
        ("Keys", True, {"cs": "klíč", "he": "מפתח"}),
        ("repaired", True, {"cs": "oprava", "he": "תיקון"}),
        ("paid", True, {"cs": "zaplatit", "he": "שילם"}),
        ("střechu", False, {"en": "roof", "he": "גג"}),
        ("strechy", False, {"en": "roof", "he": "גג"}),
        ("zaplatili", False, {"en": "paid", "he": "שילם"}),
        ("bytě", False, {"en": "flat", "he": "דירה"}),
        ("invoice", False, {"cs": "faktura", "he": "חשבונית"}),
        ("הדוד", False, {"en": "boiler", "cs": "kotel"}),
        ("ומפתחות", False, {"en": "key", "cs": "klíč"}),
        ("שילמנו", False, {"en": "paid", "cs": "zaplatit"}),
        ('חו"ל', False, {"en": "abroad", "cs": "zahraničí"}),
        ("חו״ל", False, {"en": "abroad", "cs": "zahraničí"}),
    ],
)
def test_a_word_is_found_in_any_form(word: str, english: bool, meant: dict[str, str]) -> None:
    found = lexicon.translations(word, default=english)
    assert {language: meant[language] in words for language, words in found.items()} == dict.fromkeys(meant, True)


@pytest.mark.parametrize(
    ("word", "english", "not_meant", "why"),
    [
        ("koncert", False, "end", "it begins as `konec` does, but no form of that is so long"),
        ("klíče", False, "handle", "`kliče` without accents would be a handle, too: as it is written it is a key"),
        ("roofless", False, "key", "nothing like it"),
        ("rocket", True, "rok", "English words are compared whole"),
        ('רו"ח', False, "wind", "an abbreviation, and no wind"),
    ],
)
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
