"""The country that a text's language tells of."""

import pytest

from relrag_pipelines.pii import phones
from relrag_pipelines.pii.phones import text_region
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_text_tells_its_country"))
def test_a_text_tells_its_country(text: str, region: str) -> None:
    assert text_region.region_of(text) == region


def test_a_number_of_that_country_needs_no_word_for_phone() -> None:
    text = "te paso el de mi hermana, la de Vigo: 698 55 01 37"
    assert [text[start:end] for start, end, _ in phones.find(text)] == ["698 55 01 37"]
