"""Cards, IBANs and Israeli identity numbers."""

import pytest

from relrag_pipelines.pii import cards, ibans, national_ids
from tests.cases import cases

IBAN = "IL620108000000099999999"


def found_cards(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in cards.find(text)]


def found_ibans(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in ibans.find(text)]


def ids(text: str) -> list[tuple[str, float]]:
    return [(text[start:end], score) for start, end, score in national_ids.find_israeli_ids(text)]


@pytest.mark.parametrize(*cases(__file__, "cards"))
def test_cards(card: str) -> None:
    for text in (card, f"card {card}.", f"ל{card}", f"ב-{card}!", f"no{card}", f"_{card}_", f"{card} 12/27 123"):
        assert found_cards(text) == [card], text
    assert cards.normalise(card) == "".join(filter(str.isdigit, card))


@pytest.mark.parametrize(*cases(__file__, "no_cards"))
def test_no_cards(text: str) -> None:
    assert found_cards(text) == []


def test_pairs_are_a_card_where_words_say_so() -> None:
    assert found_cards("karta 41 11 11 11 11 11 11 11") == ["41 11 11 11 11 11 11 11"]


def test_a_card_behind_another_number_is_found() -> None:
    assert found_cards("2512 4111 1111 1111 1111") == ["4111 1111 1111 1111"]


def test_twelve_digits_are_a_card_where_words_say_so() -> None:
    assert found_cards("What is the limit for card 501864667909?") == ["501864667909"]
    assert found_cards("karta č. 501864667909") == ["501864667909"]
    assert found_cards("card 501864667908") == []


@pytest.mark.parametrize(
    "iban",
    [
        IBAN,
        "IL62 0108 0000 0009 9999 999",
        "IL62-0108-0000-0009-9999-999",
        "IL62-010-800-0000099999999",
        "il620108000000099999999",
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "CZ6508000000192000145399",
        "NO9386011117947",
        "MT84MALT011000012345MTLCAST001S",
        "IL62  0108  0000  0009  9999  999",
        "IL62/0108/0000/0009/9999/999",
        "IL62\u20090108\u20090000\u20090009\u20099999\u2009999",
        "I L 6 2 0 1 0 8 0 0 0 0 0 0 0 9 9 9 9 9 9 9 9",
        "IL 6 2 0 1 0 8 0 0 0 0 0 0 0 9 9 9 9 9 9 9 9",
        "IL 62 - 0108 - 0000 - 0009 - 9999 - 999",
        "D-E-8-9-3-7-0-4-0-0-4-4-0-5-3-2-0-1-3-0-0-0",
    ],
)
def test_ibans(iban: str) -> None:
    for text in (iban, f"to {iban} please", f"מ{iban}", f"ל-{iban},", f"{iban} 2 days from today", f"({iban})"):
        assert found_ibans(text) == [iban], text
    assert ibans.normalise(iban) == "".join(filter(str.isalnum, iban)).upper()


def test_an_iban_may_follow_its_name() -> None:
    assert found_ibans(f"IBAN{IBAN}") == [IBAN]
    assert found_ibans(f"X{IBAN}") == []


def test_an_iban_letter_by_letter_follows_a_word() -> None:
    assert found_ibans(f"his one's {' '.join(IBAN)} if that works") == [" ".join(IBAN)]
    assert found_ibans(f"x {' '.join(IBAN)}") == []


def test_words_are_no_iban_whatever_their_checksum() -> None:
    assert found_ibans("distributed by 20th Century Fox. It is the eighth installment") == []


@pytest.mark.parametrize("text", ["IL620108000000099999998", "XX620108000000099999999", "AB12", "IL62 0108 0000"])
def test_no_ibans(text: str) -> None:
    assert found_ibans(text) == []


@pytest.mark.requirement("S0-77")
@pytest.mark.parametrize(*cases(__file__, "israeli_ids"))
def test_israeli_ids(text: str, score: float) -> None:
    assert ids(text) == [("123456782", score)]


@pytest.mark.requirement("S0-77")
@pytest.mark.parametrize(*cases(__file__, "no_israeli_ids"))
def test_no_israeli_ids(text: str) -> None:
    assert ids(text) == []


def test_zeros_in_front_may_be_missing_where_the_words_say_so() -> None:
    assert ids("ת.ז. 12345674") == [("12345674", 0.95)]
    assert ids("12345674") == []
    assert ids("ת.ז. 12345678-2") == [("12345678-2", 0.95)]
    assert national_ids.normalise_id("12345674") == "012345674"
    assert national_ids.normalise_id("12345678-2") == "123456782"


@pytest.mark.parametrize("written", ["123-456-782", "123 456 782", "1234 5678 2", "12345678/2", "1-2345678-2"])
def test_an_israeli_id_may_be_written_in_groups_where_words_announce_it(written: str) -> None:
    assert ids(f"ת.ז. {written}") == [(written, 0.95)]
    assert ids(f"ID number {written}.") == [(written, 0.95)]
    assert national_ids.normalise_id(written) == "123456782"
    assert ids(f"order {written}") == []


def births(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in national_ids.find_birth_numbers(text)]


@pytest.mark.parametrize(*cases(__file__, "czech_birth_numbers"))
def test_czech_birth_numbers(text: str, number: str) -> None:
    assert births(text) == [number]
    assert national_ids.normalise_birth_number(number) == number.replace("/", "").replace(" ", "")


@pytest.mark.parametrize(
    "text",
    ["785523/1234", "7801233540", "účet 780123/3540", "530101/123", "1780123/3540", "780123/35401", "123456/0800"],
)
def test_no_czech_birth_numbers(text: str) -> None:
    assert births(text) == []


@pytest.mark.parametrize("text", ["factura 810096792", "810096792 bytes", "Siren 652014051", "cell 512749086"])
def test_israeli_ids_are_not_looked_for_elsewhere(text: str) -> None:
    assert national_ids.find_israeli_ids(text, ("ES",)) == []


@pytest.mark.parametrize("text", ["ח.פ. 514827393", "מספר חברה 514827393", "עמותה 580482719", "עוסק מורשה 514827393"])
def test_numbers_of_companies_are_no_ids(text: str) -> None:
    assert national_ids.find_israeli_ids(text, ("IL",)) == []


def test_the_number_of_a_trader_who_is_a_person_is_an_id() -> None:
    assert [span.score for span in national_ids.find_israeli_ids("עוסק מורשה 123456782", ("IL",))] == [0.5]
    assert [span.score for span in national_ids.find_israeli_ids("תעודת זהות 123456782", ("ES",))] == [0.95]
