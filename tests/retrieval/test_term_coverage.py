"""How much of a question a passage covers."""

import pytest

from relrag_query.retrieval.term_coverage import (
    Term,
    metadata_tokens,
    query_terms,
    term_coverage,
    tokens,
)
from tests.cases import cases
from tests.query_hits import passages, record

FREQUENCIES = {"": 1000, "invoic": 100, "alex": 300, "pump": 4, "call": 200, "discuss": 50}


def weights(question: str) -> dict[str, float]:
    return {term.word: round(term.weight, 2) for term in query_terms(question, FREQUENCIES)}


def test_rare_words_weigh_more_names_more_still_and_words_that_ask_little() -> None:
    assert weights("did we discuss the pump invoice with Alex on a call?") == {
        "discuss": 0.3,
        "pump": 3.7,
        "invoice": 2.15,
        "Alex": 1.92,
        "call": 0.3,
    }


def test_a_word_that_the_archive_does_not_hold_weighs_most() -> None:
    found = weights("the zeppelin invoice")
    assert found["zeppelin"] > 2 * found["invoice"]


def test_words_joined_in_the_question() -> None:
    assert [
        (term.word, term.adjacent) for term in query_terms("the sanitary pump, invoice Alex paid", FREQUENCIES)
    ] == [
        ("sanitary", False),
        ("pump", True),
        ("invoice", False),
        ("Alex", True),
        ("paid", True),
    ]


def test_coverage_is_the_share_of_weight() -> None:
    asked = [Term("a", {"pump": 1.0}, 3.0), Term("b", {"~pum": 0.5, "x": 1.0}, 1.0)]
    assert term_coverage(asked, frozenset({"pump"})) == 0.75
    assert term_coverage(asked, frozenset({"pump", "~pum"})) == 0.875
    assert term_coverage(asked, frozenset()) == 0.0
    assert term_coverage([], frozenset({"pump"})) == 0.0


@pytest.mark.parametrize(*cases(__file__, "forms_of_one_word"))
def test_forms_of_one_word(question: str, text: str, share: float) -> None:
    assert term_coverage(query_terms(question, {"": 100}), tokens(text)) == pytest.approx(share)


def test_what_is_known_of_a_passage_counts() -> None:
    (passage,) = passages(
        record(
            "gmail:1",
            "see there",
            "2025-01-15T08:00:00Z",
            from_="Alex",
            subject="Invoice",
            rag_source_type="email",
            file_name="INV-1187.pdf",
        )
    )
    known = metadata_tokens(passage)
    asked = "Alex invoice email INV-1187 2025-01-15"
    assert all(term.match(known) for term in query_terms(asked, FREQUENCIES))


def test_personal_data_is_found_under_itself_or_its_pseudonym() -> None:
    asked = query_terms("who is 052-123-4567", FREQUENCIES, "who is <PHONE_NUMBER:k1:0123456789ab>")
    assert term_coverage(asked, tokens("call 0521234567 or 052-123-4567")) == 1.0
    assert term_coverage(asked, tokens("call <PHONE_NUMBER:k1:0123456789ab>")) == 1.0
    assert term_coverage(asked, tokens("call <PHONE_NUMBER:k1:ffffffffffff>")) == 0.0


@pytest.mark.parametrize(*cases(__file__, "a_code_is_covered_as_a_whole"))
def test_a_code_is_covered_as_a_whole(question: str, text: str, share: float) -> None:
    assert term_coverage(query_terms(question, {"": 100}), tokens(text)) == pytest.approx(share)


def test_a_code_that_the_archive_does_not_hold_is_rare_whatever_its_parts() -> None:
    frequencies = {"": 100, "docword": 60, "15": 50}
    (code,) = query_terms("docword15", frequencies)
    (word,) = query_terms("zeppelin", frequencies)
    assert code.weight == word.weight
    assert not code.occurs_in(frequencies)


def test_words_of_the_time_phrase_weigh_nothing() -> None:
    asked = query_terms("giraffe bill in December 2024?", {"": 100}, phrase="in December 2024")
    assert [(term.word, term.weight > 0, term.adjacent) for term in asked] == [
        ("giraffe", True, False),
        ("bill", True, True),
        ("December", False, False),
        ("2024", False, False),
    ]
    assert term_coverage(asked, tokens("10 December 2024")) == 0.0


@pytest.mark.parametrize("question", ["December 2024", "What happened in December 2024?", "emails of December 2024"])
def test_a_question_of_nothing_but_a_time_is_about_its_words(question: str) -> None:
    asked = query_terms(question, {"": 100}, phrase="December 2024")
    assert all(term.weight > 0 for term in asked)


@pytest.mark.parametrize(*cases(__file__, "what_only_asks_for_an_amount_or_a_kind_is_no_word_to_look_for"))
def test_what_only_asks_for_an_amount_or_a_kind_is_no_word_to_look_for(question: str) -> None:
    assert [term.word for term in query_terms(question, {"": 100})] == ["giraffe"]


@pytest.mark.parametrize(*cases(__file__, "a_price_is_found_where_an_amount_of_money_stands"))
def test_a_price_is_found_where_an_amount_of_money_stands(question: str, text: str, share: float) -> None:
    assert round(term_coverage(query_terms(question, {"": 100}), tokens(text)), 1) == share


@pytest.mark.parametrize(
    ("question", "text", "covers"),
    [
        ("Kdy je koncert?", "Konec projektu je v pátek.", 0.0),
        ("Kdy je konec?", "Koncert je v pátek.", 0.0),
        ("Kdy je koncert?", "Na koncertu byla zima.", 0.9),
        ("sanitarni cerpadlo", "Sanitární čerpadlo", 1.0),
    ],
)
def test_words_that_begin_alike_are_two_and_dropped_accents_are_none(question: str, text: str, covers: float) -> None:
    assert term_coverage(query_terms(question, {"": 100}), tokens(text)) == pytest.approx(covers)
