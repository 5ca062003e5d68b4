"""One form for two ways to write a subscriber."""

import pytest

from relrag_pipelines.pii import phones
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "both_ways_to_write_a_number_are_one"))
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


@pytest.mark.parametrize(*cases(__file__, "a_national_number_is_of_the_archives_country"))
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
