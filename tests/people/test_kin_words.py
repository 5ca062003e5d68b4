"""Words for relatives in questions, and words of another meaning that look like them."""

from __future__ import annotations

import pytest

from relrag_query.people.kin_words import kin_words
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_word_is_that_of_a_relative"))
def test_a_word_is_that_of_a_relative(question: str, types: list[str]) -> None:
    assert [one.type for one in kin_words(question)] == types
