"""Phone numbers as people write them in their own country, and the numbers that only look like them."""

import pytest

from relrag_pipelines.pii import phones
from tests.cases import cases


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in phones.find(text)]


@pytest.mark.parametrize(*cases(__file__, "phones"))
def test_phones(text: str, number: str, normal: str | None) -> None:
    assert matches(text) == [number]
    assert normal is None or phones.normalise(number) == normal


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("volejte 731 000 121 / 122 do pátku", "731 000 121 / 122"),
        ("tel. 731 000 121/122, Jana", "731 000 121/122"),
        ("+420 731 000 121/22", "+420 731 000 121/22"),
        ("052-1234567/8", "052-1234567/8"),
    ],
)
def test_another_end_behind_a_slash_goes_with_the_number(text: str, number: str) -> None:
    assert matches(text) == [number]
    assert phones.normalise(number) == phones.normalise(number.split("/")[0])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("731 000 121 / 2025", "731 000 121"),
        ("731 000 121 / 12.5.", "731 000 121"),
        ("papers/777 123 456/024/a.md", "777 123 456"),
        ("03/6123456", "03/6123456"),
    ],
)
def test_what_else_stands_behind_a_slash_stays(text: str, number: str) -> None:
    assert matches(text) == [number]


def test_each_of_several() -> None:
    assert matches("tel/fax 224 123 456, 224 123 457") == ["224 123 456", "224 123 457"]
    assert matches("777 123 456 602 333 444") == ["777 123 456", "602 333 444"]
    assert matches("777123456/602333444") == ["777123456", "602333444"]
    assert matches("T: 541 234 567\nM: 777 888 999") == ["541 234 567", "777 888 999"]


def test_another_country_stays_another() -> None:
    assert phones.normalise("+49 602 123456") == "+49602123456"
    assert not phones.normalise("09 12 34 56 78").startswith("+421")  # pairs are French or German


@pytest.mark.parametrize(*cases(__file__, "other_numbers"))
def test_other_numbers(text: str) -> None:
    assert matches(text) == []


def test_what_can_only_be_a_phone_is_one_whatever_stands_in_front() -> None:
    assert matches("order +972 52-123-4567") == ["+972 52-123-4567"]
    assert matches("ref. +420 777 123 456") == ["+420 777 123 456"]


@pytest.mark.parametrize(*cases(__file__, "what_a_clause_calls_a_reference_is_no_phone"))
def test_what_a_clause_calls_a_reference_is_no_phone(text: str) -> None:
    assert matches(text) == []


@pytest.mark.parametrize(*cases(__file__, "a_phone_beside_a_reference_stays_one"))
def test_a_phone_beside_a_reference_stays_one(text: str, number: str) -> None:
    assert matches(text) == [number]


@pytest.mark.parametrize(
    ("region", "text"),
    [
        ("IL", "הזמנה 0524827163 נשלחה"),
        ("IL", 'מק"ט 034827163'),
        ("TR", "sipariş numarası 5324827163"),
        ("BR", "CEP 01310-100, Av. Paulista"),
        ("RU", "бюджет 732 482 716 рублей"),
        ("MX", "602 482 716 habitantes"),
        ("JP", "注文ID 09048271639"),
        ("US", "https://cdn.example.com/5124827163.jpg"),
        ("US", "Mozilla/5.0 Chrome/121.0.6167.160"),
    ],
)
def test_words_around_a_number_protect_it(region: str, text: str) -> None:
    assert phones.find(text, (region,)) == []


@pytest.mark.parametrize(
    ("region", "text", "number"),
    [
        ("GB", "telephone: 482716", "482716"),
        ("DE", "Telefon 48271", "48271"),
        ("US", "number: 482-7163", "482-7163"),
        ("BR", "fone 3482-7163", "3482-7163"),
        ("TR", "cep 532 482 71 63", "532 482 71 63"),
    ],
)
def test_short_numbers_that_a_text_calls_a_phone(region: str, text: str, number: str) -> None:
    assert [text[start:end] for start, end, _ in phones.find(text, (region,))] == [number]
