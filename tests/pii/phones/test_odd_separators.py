"""Numbers with separators that few have."""

import pytest

from relrag_pipelines.pii import phones
from tests.cases import cases


def matches(text: str, *regions: str) -> list[str]:
    return [text[start:end] for start, end, _ in phones.find(text, regions)]


@pytest.mark.parametrize(*cases(__file__, "a_number_of_the_country_is_found"))
def test_a_number_of_the_country_is_found(text: str, region: str, number: str) -> None:
    (found,) = matches(text, region)
    assert found.strip("\ufe0f\u20e3") == number.strip("\ufe0f\u20e3")
    plain = "".join(char for char in number if char in "+0123456789")
    assert len(plain) < 8 or phones.normalise(found, (region,)) == phones.normalise(plain, (region,))


def test_words_for_a_phone_do_without_the_country() -> None:
    assert matches("call 602*123*456") == ["602*123*456"]
    assert matches("Τηλ: 69,12,34,56,78") == ["69,12,34,56,78"]


@pytest.mark.parametrize(
    "text",
    [
        "634,819,055 habitantes", "pedido 634,81,90,57", "2019\t2020\t2021", "12\t612\t345\t678\t90", "1,2,3,4,5,6,7",
        "a=612;b=345;c=678", "13/01/2025/10/20", "(4/5) 612,345",
    ],
)  # fmt: skip
def test_tables_and_amounts_are_none(text: str) -> None:
    assert matches(text, "ES") == []
