"""How much of a question a passage covers."""

import pytest

from relrag_query.coverage import Term, coverage, metadata_tokens, terms, tokens
from tests.query.published import passages, record

FREQUENCIES = {"": 1000, "invoic": 100, "alex": 300, "pump": 4, "call": 200, "discuss": 50}


def weights(question: str) -> dict[str, float]:
    return {term.said: round(term.weight, 2) for term in terms(question, FREQUENCIES)}


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
    assert [(term.said, term.joined) for term in terms("the sanitary pump, invoice Alex paid", FREQUENCIES)] == [
        ("sanitary", False),
        ("pump", True),
        ("invoice", False),
        ("Alex", True),
        ("paid", True),
    ]


def test_coverage_is_the_share_of_weight() -> None:
    asked = [Term("a", {"pump": 1.0}, 3.0), Term("b", {"~pum": 0.5, "x": 1.0}, 1.0)]
    assert coverage(asked, frozenset({"pump"})) == 0.75
    assert coverage(asked, frozenset({"pump", "~pum"})) == 0.875
    assert coverage(asked, frozenset()) == 0.0
    assert coverage([], frozenset({"pump"})) == 0.0


@pytest.mark.parametrize(
    ("question", "text", "share"),
    [
        ("čerpadlo", "nové čerpadlo", 1.0),
        ("čerpadlo", "deset čerpadel", 0.9),  # five letters in common
        ("cerpadla", "nové čerpadlo", 0.9),  # typed without accents
        ("invoices", "the invoice", 1.0),
        ("לחשבונית", "החשבונית שלך", 1.0),  # other prefix letters
        ("חשבונות", "החשבונית שלך", 0.9),  # four letters in common
        ("contract", "nothing of the kind", 0.0),
    ],
)
def test_forms_of_one_word(question: str, text: str, share: float) -> None:
    assert coverage(terms(question, {"": 100}), tokens(text)) == pytest.approx(share)


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
    assert all(term.found(known) for term in terms(asked, FREQUENCIES))


def test_personal_data_is_found_under_itself_or_its_pseudonym() -> None:
    asked = terms("who is 052-123-4567", FREQUENCIES, "who is <PHONE_NUMBER:k1:0123456789ab>")
    assert coverage(asked, tokens("call 0521234567 or 052-123-4567")) == 1.0
    assert coverage(asked, tokens("call <PHONE_NUMBER:k1:0123456789ab>")) == 1.0
    assert coverage(asked, tokens("call <PHONE_NUMBER:k1:ffffffffffff>")) == 0.0
