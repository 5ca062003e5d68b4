"""Values that were replaced, found by their digits and letters alone."""

from __future__ import annotations

import pytest

from relrag_pipelines.pii.known_values import APART, KnownValues
from tests.cases import cases

KNOWN = KnownValues.from_pairs(
    [
        ("PHONE_NUMBER", "052-123-4567"),
        ("PHONE_NUMBER", "+420 777 123 456"),
        ("EMAIL_ADDRESS", "Dana@Example.org"),
        ("CREDIT_CARD", "4111 1111 1111 1111"),
        ("IBAN_CODE", "CZ65 0800 0000 1920 0014 5399"),
        ("IL_ID_NUMBER", "123456782"),
        ("PHONE_NUMBER", "12345"),
    ]
)


@pytest.mark.parametrize(*cases(__file__, "a_value_is_found_in_any_grouping"))
def test_a_value_is_found_in_any_grouping(text: str, entity: str) -> None:
    assert KNOWN.entities_in(text) == {entity}


@pytest.mark.parametrize(
    "text",
    [
        "9990521234567",
        "05212345678",
        "0123456782",
        "12345",
        "dana@example.org.il",
        "mydana@example.org",
        "a0521234567bcd",
        "<PHONE_NUMBER:k1:052123456789>",
        f"052{APART}1234567",
        "call 052-123-4568",
    ],
)
def test_what_is_longer_or_another_is_none(text: str) -> None:
    assert KNOWN.entities_in(text) == set()


def test_what_the_allow_list_names_stays_however_it_was_written() -> None:
    known = KnownValues.from_pairs(
        [("PHONE_NUMBER", "+972 52-123-4567"), ("EMAIL_ADDRESS", "Info@Example.com")], ["0521234567"]
    )
    assert known.entities_in("052-123-4567, info@example.com") == {"EMAIL_ADDRESS"}
    assert not KnownValues.from_pairs([("EMAIL_ADDRESS", "Info@Example.com")], ["info@example.com"])


@pytest.mark.parametrize(
    ("text", "held"),
    [("Dana Levi.txt", True), ("photo_Dana Levi_2.jpg", True), ("by-Dana Levi-2", True), ("Dana Levis", False)],
)
def test_a_name_is_found_in_the_name_of_a_file(text: str, held: bool) -> None:
    assert bool(KnownValues.from_pairs([("PERSON", "Dana Levi")]).entities_in(text)) == held


def test_the_places_of_values_are_those_of_letters_in_any_script() -> None:
    text = "žluť דנה: dana@example.org, DANA@example.org שלום"
    known = KnownValues.from_pairs([("EMAIL_ADDRESS", "dana@example.org")])
    assert [text[first:last] for _, first, last in known._matches(text)] == ["dana@example.org", "DANA@example.org"]


@pytest.mark.parametrize(*cases(__file__, "the_digits_of_a_uuid_are_nobodys_number"))
def test_the_digits_of_a_uuid_are_nobodys_number(text: str, held: bool) -> None:
    """Of 100,000 passages with one each, and 30,000 phones, a few hold the digits of one by chance."""
    phones = ["+972-54-361-7239", "+972-54-786-3179", "+972-54-862-9573", "+972-54-396-1723"]
    assert bool(KnownValues.from_pairs(("PHONE_NUMBER", one) for one in phones).entities_in(text)) == held


@pytest.mark.parametrize("extension", [" ext. 003", " x12", ", extension 4", " #3", "; доб. 7"])
def test_a_phone_is_found_without_its_extension(extension: str) -> None:
    values = KnownValues.from_pairs([("PHONE_NUMBER", f"617-396-7070{extension}")])
    assert values.entities_in("(617) 396 7070") == {"PHONE_NUMBER"}
    assert values.entities_in("617-396-70703") == set()
