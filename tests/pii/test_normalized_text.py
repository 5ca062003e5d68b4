"""A text as it is read by eye."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.pii import normalized_text
from relrag_pipelines.pii.entities import ENTITIES
from tests.cases import cases

WRAP = normalized_text.WRAP


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("dana@exam\u200bple.com", "dana@example.com"),
        ("dana＠example．com", "dana@example.com"),
        ("dana (at) example [dot] com", "dana@example.com"),
        ("jan{zavináč}firma(tečka)cz", "jan@firma.cz"),
        ("mailto:dana%40example.com", "mailto:dana@example.com"),
        ("７７７ ٠٥٢ 𝟏𝟐", "777 052 12"),
        ("4111\u00ad1111", "41111111"),
        ("+420 777\n> 123 456", f"+420 777{WRAP}123 456"),
        ("052-123-\r\n> > 4567", f"052-123-{WRAP}4567"),
        ("> dana@exam\n> ple.com", "> dana@example.com"),
        ("dana@example.\ncom", "dana@example.com"),
    ],
)
def test_what_is_seen(text: str, view: str) -> None:
    found = normalized_text.normalize_text(text)
    assert found is not None
    assert found.text == view
    assert normalized_text.plain_digits(text) == view
    assert found.place(0) == 0
    assert found.place(len(view) - 1) == len(text) - 1


@pytest.mark.parametrize(*cases(__file__, "what_is_seen_as_it_stands"))
def test_what_is_seen_as_it_stands(text: str) -> None:
    assert normalized_text.normalize_text(text) is None
    assert normalized_text.plain_digits(text) == text


@pytest.mark.parametrize(*cases(__file__, "what_is_hidden_is_found_where_it_stands"))
def test_what_is_hidden_is_found_where_it_stands(entity: str, text: str, value: str) -> None:
    assert [text[start:end] for start, end, _ in ENTITIES[entity].find(text)] == [value]
    normalise = ENTITIES[entity].normalise
    assert normalise(value) == normalise(normalized_text.plain_digits(value).replace(WRAP, " "))


def test_numbers_in_lines_of_their_own_are_no_card() -> None:
    assert ENTITIES["CREDIT_CARD"].find("4012345\n4012349") == []
    assert ENTITIES["CREDIT_CARD"].find("4111\n1111\n1111\n1111\n4300") == []


@given(st.text(st.sampled_from("07123@.x \n>\u200b７(at)%4"), max_size=40))
def test_every_place_is_one_of_the_text_and_they_rise(text: str) -> None:
    view = normalized_text.normalize_text(text)
    if view:
        places = [view.place(offset) for offset in range(len(view.text))]
        assert places == sorted(places)
        assert all(0 <= place < len(text) for place in places)
        assert all(
            normalized_text.plain_digits(text[place]) == char
            for place, char in zip(places, view.text, strict=True)
            if char == "7"
        )
