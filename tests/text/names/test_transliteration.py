"""Given names in other scripts, by lists and by how they sound."""

import pytest

from relrag_pipelines.text.names.transliteration import other_scripts, to_hebrew
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_name_of_the_lists_is_spelled_as_they_have_it"))
def test_a_name_of_the_lists_is_spelled_as_they_have_it(name: str, spelled: set[str]) -> None:
    assert other_scripts(name) == spelled


def test_another_is_spelled_as_it_sounds() -> None:
    assert {"תומאש", "טומש"} <= other_scripts("Tomáš")
    assert {"ליאן", "דורון"}.isdisjoint(other_scripts("Tomáš"))
    assert {"קטרינה", "קאטרינה"} <= other_scripts("Kateřina")


def test_what_stands_at_the_end_has_its_final_letter() -> None:
    assert to_hebrew("Doron") == {"דורון"}


def test_of_a_long_name_none_are_made() -> None:
    assert to_hebrew("Anastasiatatiana") == frozenset()
