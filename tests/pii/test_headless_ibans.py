"""Accounts written as their IBAN without its head."""

import pytest

from relrag_pipelines.pii import headless_ibans, ibans
from tests import cost
from tests.pii.repeated import repeated

NRB = "78 1020 5558 0000 8702 3184 0297"


def found(text: str, *regions: str) -> list[str]:
    return [text[start:end] for start, end, _ in ibans.find(text, regions)]


@pytest.mark.parametrize(
    ("region", "account", "iban"),
    [
        ("PL", NRB, "PL78102055580000870231840297"),
        ("PL", "78-1020-5558-0000-8702-3184-0297", "PL78102055580000870231840297"),
        ("DE", "89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("ES", "2100 0418 45 0200051332", "ES9121000418450200051332"),
        ("FR", "20041 01005 0500013M026 06", "FR1420041010050500013M02606"),
        ("PT", "0002 0123 12345678901 54", "PT50000201231234567890154"),
    ],
)
def test_an_account_of_a_region_is_its_iban(region: str, account: str, iban: str) -> None:
    assert found(f"konto: {account}, dzięki", region) == [account]
    assert ibans.normalise(account, (region,)) == iban
    assert found(account) == []


@pytest.mark.parametrize(
    ("region", "text"),
    [
        ("PL", "78 1020 5558 0000 8702 3184 0298"),  # checksum
        ("PL", "0" * 26),
        ("ES", "ES33 2100 0418 4502 0005 1332"),  # an IBAN with a wrong checksum
        ("NO", "86011117947 93"),  # too short to count without the word
    ],
)
def test_other_numbers_are_none(region: str, text: str) -> None:
    assert found(text, region) == []


def test_a_short_account_needs_the_word() -> None:
    assert found("IBAN 93 8601 1117 947", "NO") == ["93 8601 1117 947"]


@pytest.mark.parametrize("pattern", ["1", "1 ", "1020 5558 ", "78-", "A1", "3M02 6"])
def test_the_time_grows_with_the_length(pattern: str) -> None:
    def search(text: str) -> None:
        list(headless_ibans.find(text, ("PL", "FR")))

    assert cost.exponent(search, lambda size: repeated(pattern, size), 100_000) < cost.LINEAR
