"""Names in texts: what a reader would say is a name, and of whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.identity.mentions import MentionFinder
from tests.cases import cases

PEOPLE = {
    1: ["Petr Svoboda", "Petr"],
    2: ["Petra Malá"],
    3: ["שירן תמיר", "Shiran Tamir"],
    4: ["מה"],
    5: ["שלמה פיקל", "Shlomo"],
    6: ["Karel Beneš"],
    7: ["Ben-Ami, Noa"],
    8: ["Lenka Dvořáková"],
    9: ["Will Reed"],
    10: ["Doron Levi"],
    11: ["Doron Katz"],
    12: ["דוד תמיר"],
    13: ["Ольга Кузнецова"],
    14: ["Mom", "Big Bank"],
    15: ["Zdeněk Marek"],
    16: ["Dr. Susan Park"],
}
FINDER = MentionFinder(PEOPLE)


def mentions(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(text[one.start : one.end], one.person_ids) for one in FINDER.find(text)]


@pytest.mark.parametrize(*cases(__file__, "names_in_a_text"))
def test_names_in_a_text(text: str, names: list[tuple[str, tuple[int, ...]]]) -> None:
    assert mentions(text) == names


@pytest.mark.parametrize(*cases(__file__, "who_is_mentioned"))
def test_who_is_mentioned(text: str, present: tuple[int, ...], people: set[int]) -> None:
    assert FINDER.people(text, present) == people


def test_nobody_known_is_nobody_mentioned() -> None:
    assert MentionFinder({}).find("Petr") == ()


@given(
    st.lists(st.sampled_from(["Petr", "Petrem", "לשירן", "שלמה", "of", "מה", "Doron Katz", "Noa", "žena", ".", "a"]))
)
def test_what_is_found_is_a_name_between_word_bounds(words: list[str]) -> None:
    text = " ".join(words)
    mentions = FINDER.find(text)
    assert [one.start for one in mentions] == sorted(one.start for one in mentions)
    for one in mentions:
        assert text[one.end : one.end + 1] in ("", " ")
        assert one.start == 0 or text[one.start - 1] in " ל"
    names = {"Petr": 1, "Petrem": 1, "לשירן": 1, "שלמה": 1, "מה": 1, "Doron Katz": 1, "Noa": 1}
    assert len(mentions) == sum(names.get(word, 0) for word in words)
