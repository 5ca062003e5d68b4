"""Text as all connectors store it: what goes, what stays, and what becomes something else."""

import pytest

from relrag_pipelines.sources.formats.text_cleaning import clean


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain words, as most are", "plain words, as most are"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\x00b\x08c\x0ed\x1fe\x7ff", "abcdef"),
        ("so\u00adft, \ufeffmark, \ufffe\uffff", "soft, mark, "),
        ("cafe\u0301", "café"),
        ("\ud83d\ude00 and \ud83d alone", "😀 and \ufffd alone"),
        ("שלום\u200f עולם", "שלום\u200f עולם"),
    ],
)
def test_text_is_stored_without_what_nobody_sees(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize("unseen", [*"\x00\x08\x0e\x1f\x7f\u00ad\ufeff\ufffe\uffff"])
def test_one_such_character_is_enough(unseen: str) -> None:
    assert clean(f"on{unseen}e") == "one"


@pytest.mark.parametrize("end", [*"\r\x0b\x0c\x85\u2028\u2029"])
def test_one_end_of_a_line_is_enough(end: str) -> None:
    assert clean(f"one{end}two") == "one\ntwo"
