"""Cards, IBANs and Israeli identity numbers."""

import pytest

from relrag_pipelines.pii import checksums

IBAN = "IL620108000000099999999"


def cards(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in checksums.find_cards(text)]


def ibans(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in checksums.find_ibans(text)]


def ids(text: str) -> list[tuple[str, float]]:
    return [(text[start:end], score) for start, end, score in checksums.find_israeli_ids(text)]


@pytest.mark.parametrize(
    "card",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111\u00a01111\u00a01111\u00a01111",
        "4111.1111.1111.1111",
        "378282246310005",  # fifteen digits
        "3782 822463 10005",
        "2223003122003222",  # the newer Mastercard range
        "6304000000000000",
    ],
)
def test_cards(card: str) -> None:
    for text in (card, f"card {card}.", f"ל{card}", f"ב-{card}!", f"no{card}", f"_{card}_", f"{card} 12/27 123"):
        assert cards(text) == [card], text
    assert checksums.normalise_card(card) == "".join(filter(str.isdigit, card))


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",  # checksum
        "1736871234567",  # milliseconds
        "9780306406157",  # ISBN
        "4111 1111 1111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "41111111111111111111111",
    ],
)
def test_no_cards(text: str) -> None:
    assert cards(text) == []


def test_a_card_behind_another_number_is_found() -> None:
    assert cards("2512 4111 1111 1111 1111") == ["4111 1111 1111 1111"]


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
    ],
)
def test_ibans(iban: str) -> None:
    for text in (iban, f"to {iban} please", f"מ{iban}", f"ל-{iban},", f"{iban} 2 days from today", f"({iban})"):
        assert ibans(text) == [iban], text
    assert checksums.normalise_iban(iban) == iban.replace(" ", "").replace("-", "").upper()


@pytest.mark.parametrize("text", ["IL620108000000099999998", "XX620108000000099999999", "AB12", "IL62 0108 0000"])
def test_no_ibans(text: str) -> None:
    assert ibans(text) == []


@pytest.mark.requirement("S0-77")
@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("ת.ז. 123456782", 0.95),
        ('ת"ז: 123456782', 0.95),
        ("תעודת זהות 123456782", 0.95),
        ("teudat zehut 123456782", 0.95),
        ("my ID is 123456782", 0.85),
        ("123456782 (ת.ז)", 0.9),
        ("ה123456782", 0.5),
        ("123456782", 0.5),
        ("order 555 for ID number 123456782", 0.95),
        ("הזמנה 987654321, ת.ז. 123456782", 0.95),
    ],
)
def test_israeli_ids(text: str, score: float) -> None:
    assert ids(text) == [("123456782", score)]


@pytest.mark.requirement("S0-77")
@pytest.mark.parametrize(
    "text",
    [
        "ת.ז. 123456789",  # checksum
        "order 123456782",
        "מספר הזמנה 123456782",
        "invoice no. 123456782",
        "faktura č. 123456782",
        "123456782 ₪",
        "1234567820",
        "0.123456782",
        "20250116",
    ],
)
def test_no_israeli_ids(text: str) -> None:
    assert ids(text) == []


def test_zeros_in_front_may_be_missing_where_the_words_say_so() -> None:
    assert ids("ת.ז. 12345674") == [("12345674", 0.95)]
    assert ids("12345674") == []
    assert ids("ת.ז. 12345678-2") == [("12345678-2", 0.95)]
    assert checksums.normalise_id("12345674") == "012345674"
    assert checksums.normalise_id("12345678-2") == "123456782"
