"""Who is joined and who is suggested, on people labelled before there were rules."""

from __future__ import annotations

import pytest

from tests.identity.labelled_set import Score, read, score


@pytest.fixture(scope="module", params=["tuned", "held"])
def scored(request: pytest.FixtureRequest) -> Score:
    return score(request.param)


def test_what_is_joined_is_one_person(scored: Score) -> None:
    assert scored.precision >= 0.99, scored.wrong


def test_what_is_one_person_is_joined_or_suggested(scored: Score) -> None:
    assert scored.recall >= 0.9, scored.missed


def test_most_suggestions_are_right(scored: Score) -> None:
    assert scored.suggested >= 0.6


def test_the_set_is_as_large_as_it_should_be() -> None:
    labelled = [one for name in ("tuned", "held") for one in read(name)]
    assert len({one.label for one in labelled if not one.label.startswith("-")}) == 211
    assert len({(one.label, one.text) for one in labelled}) >= 600
