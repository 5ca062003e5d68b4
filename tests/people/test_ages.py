"""How old somebody is or may be."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_query.people.ages import possible_ages
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "how_old_somebody_may_be"))
def test_how_old_somebody_may_be(facts: dict[str, str], years: str) -> None:
    assert possible_ages(facts, date(2025, 3, 1))[0] == years


def test_what_an_age_follows_from_is_told_with_it() -> None:
    born = "1999-05-11/2000-05-10"
    assert possible_ages({"born": born, "birthday": "01-02"}, date(2025, 3, 1)) == ("24 or 25", born)
    assert possible_ages({"born": born, "birthday": "2000-01-02"}, date(2025, 3, 1)) == ("25", "2000-01-02")
