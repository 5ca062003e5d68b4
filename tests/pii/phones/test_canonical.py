"""One form for two ways to write a subscriber."""

import pytest

from relrag_pipelines.pii import phones


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+55 11 8765-4321", "+55 11 98765-4321"),  # Brazil's ninth digit
        ("+55 21 7654-3210", "+5521976543210"),
        ("+52 1 55 1234 5678", "+52 55 1234 5678"),  # Mexico's old 1
        ("+54 9 11 2345-6789", "+54 11 2345-6789"),  # Argentina's 9
        ("+54 11 15-2345-6789", "+54 9 11 2345 6789"),
        ("+229 90 12 34 56", "+229 01 90 12 34 56"),  # Benin, 2024
        ("+225 07 01 02 03", "+225 07 07 01 02 03"),  # Ivory Coast, 2021
        ("+84 162 345 6789", "+84 32 345 6789"),  # Vietnam, 2018
        ("+57 1 234 5678", "+57 601 234 5678"),  # Colombia, 2021
        ("+44 (0)7911 123456", "+44 7911 123456"),
        ("+39 06 698 12345", "+390669812345"),
    ],
)
def test_both_ways_to_write_a_number_are_one(one: str, other: str) -> None:
    assert phones.normalise(one) == phones.normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+55 11 3765-4321", "+55 11 93765-4321"),  # a fixed number is no mobile one
        ("+34 612 345 678", "+34 912 345 678"),
        ("+52 55 1234 5678", "+52 56 1234 5678"),
    ],
)
def test_two_numbers_stay_two(one: str, other: str) -> None:
    assert phones.normalise(one) != phones.normalise(other)


@pytest.mark.parametrize(
    ("number", "region", "normal"),
    [
        ("612 345 678", "ES", "+34612345678"),
        ("612408819", "ES", "+34612408819"),
        ("11 8765-4321", "BR", "+5511987654321"),
        ("044 55 1234 5678", "MX", "+525512345678"),
        ("0612345678", "NL", "+31612345678"),
        ("8 912 345-67-89", "RU", "+79123456789"),
        ("052-123-4567", "ES", "+972521234567"),  # of a country that is not among them
    ],
)
def test_a_national_number_is_of_the_archives_country(number: str, region: str, normal: str) -> None:
    assert phones.normalise(number, (region,)) == normal


def test_a_number_has_the_forms_of_every_plan() -> None:
    """A rule of `relrag forget` holds whatever the regions were when it was made."""
    assert phones.every_form("612 345 678", ("ES",)) >= {"+34612345678", phones.normalise("612 345 678")}
    assert phones.every_form("+55 11 8765-4321", ()) == {"+551187654321", "+5511987654321"}


@pytest.mark.parametrize(
    ("number", "regions", "expected"),
    [
        ("777 123 456", ("IL", "CZ"), "+420777123456"),  # Israel's 0777123456 lacks its zero
        ("0777123456", ("IL", "CZ"), "+972777123456"),
        ("612 345 678", ("FR", "ES"), "+34612345678"),  # France dials 06 12 34 56 78
        ("7911 123456", ("GB",), "+447911123456"),  # without its zero only where no other region fits
    ],
)
def test_a_region_where_a_number_is_written_as_dialled_comes_first(
    number: str, regions: tuple[str, ...], expected: str
) -> None:
    assert phones.normalise(number, regions) == expected
