"""What is shown beside what is known of a person."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_query.people.answers import _by_turns
from relrag_query.people.page import possible_ages
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record


def test_a_chat_does_not_fill_all_the_room() -> None:
    types = ["whatsapp", "whatsapp", "whatsapp", "email", "documentation", "email"]
    hits = [
        Hit(passages(record(f"jsonl:{place}", "text", rag_source_type=type_))[0], 1.0, 1.0)
        for place, type_ in enumerate(types)
    ]
    assert [hit.chunk.asset_id[-1] for hit in _by_turns(hits)] == ["0", "3", "4", "1", "5", "2"]


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
