"""Words that are typed wrong, and what is looked for in their place."""

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval.misspellings import MISTYPED, respell
from relrag_query.retrieval.term_coverage import query_terms, term_coverage, tokens
from tests.query_hits import publish, record

HELD = {
    "": 1000,
    "invoic": 100,
    "pump": 4,
    "back": 8,
    "plumber": 7,
    "kotel": 3,
    "~kot": 9,
    "rekonstrukc": 2,
    "architectur": 5,
}


@pytest.mark.parametrize(
    ("question", "near"),
    [
        ("the invoce of the plubmer", ["invoic", "plumber"]),  # a letter too few; two in the wrong order
        ("the invoice of the plumber", []),
        ("the pmup", []),  # too short to tell
        ("the sauna", []),
        ("architecutre", ["architectur"]),
        ("the black pumps", []),
    ],
)
def test_an_unknown_word_is_looked_for_as_its_nearest(question: str, near: list[str]) -> None:
    assert respell(query_terms(question, HELD), HELD)[1] == near


def test_a_passage_covers_a_word_that_was_mistyped() -> None:
    terms, _ = respell(query_terms("invoce", HELD), HELD)
    assert term_coverage(terms, tokens("the invoice is here")) == pytest.approx(MISTYPED)
    assert term_coverage(terms, tokens("nothing of the kind")) == 0


def test_a_mistyped_question_finds_and_answers(tmp_path: Path) -> None:
    records = [
        record("gmail:1", "The invoice comes to 4,200 shekels.", "2025-01-15T08:00:00Z", from_="Alex"),
        record("gmail:3", "I paid the invoice for the boiler.", "2025-01-17T08:00:00Z", from_="Alex"),
        record("gmail:2", "The garden needs water in summer.", "2025-01-16T08:00:00Z", from_="Dana"),
    ]
    with Archive.open(publish(tmp_path, records)) as archive:
        assert {hit.chunk.source_id for hit in archive.search("invoce").hits} == {"1", "3"}
        answer = archive.ask("How much was the invoce?")
        assert any("4,200" in quote.text for quote in answer.quotes)
        assert answer.missing == []
