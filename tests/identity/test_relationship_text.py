"""What of a relationship is embedded, to the letter."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.relationship_text import DEFAULT, WORDS, relationship_text
from tests.cases import cases

MENTOR = "User's mentor from college who provides career guidance"
NOTES = ("They meet monthly for coffee", "Helped user get first job")


@pytest.mark.requirement("S2-2")
def test_the_text_of_the_seed() -> None:
    assert relationship_text(MENTOR, "mentor", 5, 4, NOTES) == (
        "User's mentor from college who provides career guidance mentor very_positive close "
        "They meet monthly for coffee Helped user get first job"
    )


@pytest.mark.requirement("S2-3")
@pytest.mark.parametrize(*cases(__file__, "numbers_are_words"))
def test_numbers_are_words(value: int, attitude: str, proximity: str) -> None:
    assert relationship_text("", "friend", value, None) == f"friend {attitude}"
    assert relationship_text("", "friend", None, value) == f"friend {proximity}"


@pytest.mark.requirement("S2-3")
def test_words_of_other_kinds_of_nodes() -> None:
    assert relationship_text("a", "x", 5, 4, words=WORDS["person-person"]) == "a x close known-well"
    assert WORDS["concept-entity"].proximity[3] == "key-component"
    assert WORDS["entity-entity"].attitude[0] == "adversarial"
    assert len(WORDS) == 6
    assert all(len(set(words)) == 5 for pair in (*WORDS.values(), DEFAULT) for words in pair)


@pytest.mark.requirement("S2-4")
def test_notes_are_joined_up_to_a_thousand_characters() -> None:
    notes = ["a" * 600, "b" * 600]
    text = relationship_text("", "friend", notes=notes)
    assert text == f"friend {'a' * 600} {'b' * 399}"
    assert relationship_text("", "friend", notes=["c" * 999, "d"]) == f"friend {'c' * 999}"


@pytest.mark.requirement("S2-10")
@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((None, "friend", None, None, ()), "friend"),
        (("", "friend", 3, None, ()), "friend neutral"),
        (("", "friend", None, 2, ("note",)), "friend acquainted note"),
        (("Met at work", "friend", None, None, ("", " ")), "Met at work friend"),
    ],
)
def test_what_is_missing_leaves_no_gap(
    given: tuple[str | None, str, int | None, int | None, tuple[str, ...]], text: str
) -> None:
    assert relationship_text(*given) == text


@pytest.mark.parametrize(("name", "value"), [("attitude", 0), ("proximity", 6), ("attitude", True)])
def test_a_number_that_is_none_of_five_is_named(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=rf"{name} is {value}; it is a whole number from 1 \("):
        relationship_text("", "friend", **{name: value})
