"""How many of the listed given names are found in another script; the figures stand in docs/people.md too."""

import pytest

from relrag_pipelines.text.names.spelling import same
from tests.cases import cases
from tests.text.names.across_scripts import counts, own_pairs


def test_names_that_a_list_gives_in_two_scripts_sound_alike() -> None:
    """The rest are found by the list: Alexander is אלכסנדר there, and Пётр is Peter."""
    assert own_pairs("he") == (90, ["אלכסנדר"])
    assert own_pairs("ru") == (45, ["петр"])


def test_how_many_listed_names_another_list_has_in_another_script() -> None:
    """What is missing mostly has no namesake there: William is in no Hebrew list."""
    assert [(one.names, one.found) for one in counts()] == [(630, 471), (1037, 381), (705, 164)]


@pytest.mark.parametrize(*cases(__file__, "a_name_that_begins_with_a_vowel_is_none_without_it"))
def test_a_name_that_begins_with_a_vowel_is_none_without_it(hebrew: str, latin: str, is_same: bool) -> None:
    assert same(hebrew, latin) is is_same
