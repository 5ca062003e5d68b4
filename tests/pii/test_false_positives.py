"""What looks like a phone number and is none."""

import pytest

from relrag_pipelines.pii import false_positives, phones
from tests.cases import cases


@pytest.mark.parametrize(
    "text",
    [
        "212.58.244.70", "[85.207.112.34]", "50.0755381, 14.4378005", "49.1950602N 16.6068371E", "3.14159265358",
        "2024.11.22 13:21", "2024-11-22", "20240115-01", "1732281690", "1732281690123", "03.04.2025 9:15",
        "20250403_091500", "1618-1648",
    ],
)  # fmt: skip
def test_covered(text: str) -> None:
    assert not any(map(str.isdigit, false_positives.mask_false_positives(text).replace(":15", "").replace(":21", "")))
    assert len(false_positives.mask_false_positives(text)) == len(text)
    assert phones.find(text) == []


@pytest.mark.parametrize(*cases(__file__, "not_covered"))
def test_not_covered(text: str) -> None:
    assert false_positives.mask_false_positives(text) == text


def test_what_words_announce_as_a_phone_stays() -> None:
    assert false_positives.mask_false_positives("phone: 1134567890") == "phone: 1134567890"
    assert false_positives.mask_false_positives("phone: 22.11.2024") == "phone: " + "\ufffc" * 10


@pytest.mark.parametrize("text", ["DANA-0521234567", "US-212-555-1234", "my number: MOM-0521234567"])
def test_a_number_behind_a_name_and_a_hyphen_may_be_a_phone(text: str) -> None:
    assert false_positives.mask_false_positives(text) == text
