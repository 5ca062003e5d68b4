"""Whether a quote and its header hold what a statement says, by labelled pairs."""

import pytest

from relrag_query.answering.reader.support import is_supported, names_in, speaks_of
from tests.cases import case_values, cases

HEADER = "Tuesday 2025-03-11 09:30\ntype=email; from=Lenka Nováková; subj=Lease of the flat; when=2025-03-11"

HELD = case_values(__file__, "held")
NOT_HELD = case_values(__file__, "not_held")


@pytest.mark.parametrize(("statement", "quote"), HELD)
def test_what_quote_or_header_hold_is_supported(statement: str, quote: str) -> None:
    assert is_supported(statement, quote, HEADER)


@pytest.mark.parametrize(("statement", "quote"), NOT_HELD)
def test_what_neither_holds_is_not(statement: str, quote: str) -> None:
    assert not is_supported(statement, quote, HEADER)


def test_the_people_of_other_passages_are_names_wherever_they_stand() -> None:
    assert is_supported("Rosewater signed.", "signed", HEADER)
    assert not is_supported("Rosewater signed.", "signed", HEADER, {"Rosewater"})
    assert not is_supported("זילברפניג חתם.", "signed", HEADER, {"זילברפניג"})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where Will Smith lives, he may know.", ["Smith"]),
        ("The flat was let by Acme Estates.", ["Acme", "Estates"]),
        ("Dana and Ota: the iPhone of IBM", ["Dana", "Ota", "IBM"]),
    ],
)
def test_names_are_told_from_other_words(text: str, names: list[str]) -> None:
    assert list(names_in(text)) == names


def test_german_nouns_are_no_names() -> None:
    assert list(names_in("Die Wohnung gehört der Mutter von Petra.", only_names=False)) == ["Petra"]
    assert is_supported("Die Wohnung gehört der Mutter von Petra.", "byt patří Petřině matce", HEADER)


@pytest.mark.parametrize(*cases(__file__, "a_statement_speaks_of_its_quote_or_the_question"))
def test_a_statement_speaks_of_its_quote_or_the_question(statement: str, evidence: str, speaks: bool) -> None:
    assert speaks_of(statement, evidence) is speaks
