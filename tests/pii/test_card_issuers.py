"""Ranges of cards."""

import pytest

from relrag_pipelines.pii import card_issuers, cards


@pytest.mark.parametrize(
    "number", ["9792502639922119", "8172555931838898", "2200123412341234", "4111111111111111", "378282246310005"]
)
def test_numbers_that_issuers_give(number: str) -> None:
    assert card_issuers.is_issued(number)


@pytest.mark.parametrize("number", ["1333123214616688", "359042003230454", "479189438606686", "9111111111111111"])
def test_numbers_that_no_issuer_gives(number: str) -> None:
    assert not card_issuers.is_issued(number)


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("kart no 9792502639922119", "9792502639922119"),
        ("rupay 8172 5559 3183 8898", "8172 5559 3183 8898"),
        ("45391156\n99587109 scad 11/26", "45391156\n99587109"),
        ("carta 4539\n1156\n9958\n7109", "4539\n1156\n9958\n7109"),
        ("account no. 4111111111111111", "4111111111111111"),
    ],
)
def test_cards(text: str, card: str) -> None:
    assert [text[start:end] for start, end, _ in cards.find(text)] == [card]


@pytest.mark.parametrize(
    "text", ["IMEI 359042003230454", "EAN 4611798131751", "serial 4111111111111111", "https://x.org/4111111111111111"]
)
def test_no_cards(text: str) -> None:
    assert cards.find(text) == []
