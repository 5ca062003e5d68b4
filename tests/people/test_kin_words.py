"""Words for relatives in questions, and words of another meaning that look like them."""

from __future__ import annotations

import pytest

from relrag_query.people.kin_words import kin_words


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("Kdy může přijet instalatér?", ["plumber"]),
        ("kdy muze prijet instalater?", ["plumber"]),
        ("Co můžu jíst?", []),
        ("Do kdy máme platit nájem?", []),
        ("do kdy mame platit najem", []),
        ("V této smlouvě, v teto smlouve", []),
        ("Jak se daří mámě?", ["parent"]),
        ("Mám od muže dopis?", ["spouse"]),
        ("kdo je muj svagr", ["sibling_in_law"]),
        ("Kdo je můj švagr?", ["sibling_in_law"]),
        ("Kolik je mých dětí?", ["child"]),
        ("Who are my mentors?", ["mentor"]),
        ("who is my mother in law", ["parent_in_law"]),
        ("מי הדודה שלי?", ["aunt_or_uncle"]),
    ],
)
def test_a_word_is_that_of_a_relative(question: str, types: list[str]) -> None:
    assert [one.type for one in kin_words(question)] == types
