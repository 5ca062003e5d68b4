"""How old somebody is or may be."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_query.people.ages import possible_ages


@pytest.mark.parametrize(
    ("facts", "years"),
    [
        ({"birthday": "2000-05-11"}, "24"),
        ({"birthday": "05-11"}, ""),
        ({"birthday": "2000"}, "24 or 25"),
        ({"born": "1999-05-11/2000-05-10"}, "24 or 25"),
        ({"born": "1999-05-11/2000-05-10", "birthday": "2000-01-02"}, "25"),
        ({"born": "1999-05-11/2000-05-10", "birthday": "01-02"}, "24 or 25"),
        ({}, ""),
    ],
)
def test_how_old_somebody_may_be(facts: dict[str, str], years: str) -> None:
    assert possible_ages(facts, date(2025, 3, 1))[0] == years


def test_what_an_age_follows_from_is_told_with_it() -> None:
    born = "1999-05-11/2000-05-10"
    assert possible_ages({"born": born, "birthday": "01-02"}, date(2025, 3, 1)) == ("24 or 25", born)
    assert possible_ages({"born": born, "birthday": "2000-01-02"}, date(2025, 3, 1)) == ("25", "2000-01-02")
