"""Which numbers are kept for lookup, and which look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.text import reference_numbers
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "numbers"))
def test_numbers(text: str, found: list[str]) -> None:
    assert reference_numbers.find_reference_numbers(text) == found


def test_a_table_of_numbers_is_cut() -> None:
    text = "\n".join(f"INV-{number:05}" for number in range(2000))
    assert reference_numbers.find_reference_numbers(text) == [
        f"INV-{number:05}" for number in range(reference_numbers.MAX_NUMBERS)
    ]


FILLER = "and so on without an end " * 20


@pytest.mark.parametrize(
    "text", ["INV-1187", "účet 19-2000145399/0800", "order 1200 Kč", "Faktura č. 2025/0042", "no. 4471"]
)
def test_a_number_far_from_all_others_is_found_as_if_it_stood_alone(text: str) -> None:
    """Of a long line only what stands near its digits is looked at."""
    alone = reference_numbers.find_reference_numbers(text)
    assert reference_numbers.find_reference_numbers(FILLER + text + " " + FILLER) == alone
    assert reference_numbers.find_reference_numbers(f"{text} {FILLER}{text} {FILLER}INV-9999") == [*alone, "INV-9999"]
    assert reference_numbers.find_reference_numbers(FILLER.replace(" ", "x") + " " + text) == alone


@given(st.text("0123456789 ٣INV-/.č€KčaX\n", max_size=80), st.text("abc .,", min_size=250, max_size=700))
def test_what_stands_far_away_changes_nothing(text: str, far: str) -> None:
    said = f"{far} {text.strip()} {far}"
    assert reference_numbers.find_reference_numbers(said) == reference_numbers.find_reference_numbers(
        f"{far[-50:]} {text.strip()} {far[:50]}"
    )


@pytest.mark.parametrize(
    "line", ["a" * 400 + "1", "漢" * 350 + "12", "a\xa0bc" * 90 + "7", ("a" * 400 + "1") * 3 + " b "]
)
def test_a_long_line_is_looked_at_once_even_without_spaces(line: str) -> None:
    assert len(reference_numbers._around_digits(line * 300)) <= len(line) * 300 + 300
