"""Where sentences and lines end, in three languages."""

import pytest

from relrag_pipelines.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One. ", "Two! ", "Three?"]),
        ("He said “no.” Then he left.", ["He said “no.” ", "Then he left."]),
        ("Dr. Novák met J. Smith. They left.", ["Dr. Novák met J. Smith. ", "They left."]),
        ("Dne 15. ledna 2025 a 16. 1. 2025 přijel. Odjel.", ["Dne 15. ledna 2025 a 16. 1. 2025 přijel. ", "Odjel."]),
        ("it costs approx. 8.400 now. ok", ["it costs approx. 8.400 now. ok"]),
        ("a line that goes\non in the next. End", ["a line that goes\non in the next. ", "End"]),
        ("name,amount\nAnna,3\nBen,4\n", ["name,amount\n", "Anna,3\n", "Ben,4\n"]),
        ("first paragraph\n\nsecond one", ["first paragraph\n\n", "second one"]),
        ("page one\fpage two", ["page one\f", "page two"]),
        ("שלום לכולם. מה נשמע?\nהכל בסדר", ["שלום לכולם. ", "מה נשמע?\n", "הכל בסדר"]),
        ("", [""]),
        ("\n\nindented", ["\n\nindented"]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    """Ends of sentences and lines; no end at abbreviations, ordinals and wrapped lines."""
    ends = sentences(text)
    assert [text[start:end] for start, end in zip([0, *ends], ends, strict=False)] == parts
