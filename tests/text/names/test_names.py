"""Names as written, in two scripts, and shortened; what a reader would say of each pair."""

from __future__ import annotations

import pytest

from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import inflections, of_name
from relrag_pipelines.text.names.likeness import compatible, name_likeness
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.text.names.spelling import same, script, skeletons
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_name_as_written"))
def test_a_name_as_written(text: str, words: str, former: str) -> None:
    found = parse(text)
    assert (" ".join(found.words), " ".join(found.former)) == (words, former)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("שירן", "shiran", True),
        ("שמואל", "shmuel", True),
        ("חיים", "haim", True),
        ("חיים", "chaim", True),
        ("יצחק", "yitzhak", True),
        ("מיכל", "michal", True),
        ("וייס", "weiss", True),
        ("גורביץ", "gurevich", True),
        ("סוקולוב", "sokolov", True),
        ("אוסנת", "אסנת", True),
        ("Наталья".lower(), "natalya", True),
        ("волков", "volkov", True),
        ("itay", "itai", True),
        ("sergey", "sergei", True),
        ("sara", "sarah", True),
        ("לנדאו", "landau", True),
        ("שלו", "shalev", True),
        ("אורי", "uri", True),
        ("אריה", "aryeh", True),
        ("רות", "ruth", True),
        ("שירן", "shirley", False),
        ("עומר", "marie", False),
        ("יונה", "jan", False),
        ("יונה", "noa", False),
        ("דוד", "dana", False),
        ("שלמה", "shlomit", False),
        ("מה", "shlomo", False),
        ("dana", "dina", False),
        ("jan", "jana", False),
    ],
)
def test_two_spellings_of_a_name(one: str, other: str, is_same: bool) -> None:
    assert same(one, other) is same(other, one) is is_same
    assert not is_same or skeletons(one) & skeletons(other)


@pytest.mark.parametrize(*cases(__file__, "how_alike_two_names_are"))
def test_how_alike_two_names_are(one: str, other: str, least: float, most: float) -> None:
    assert least <= name_likeness(parse(one), parse(other)).score <= most
    assert name_likeness(parse(one), parse(other)) == name_likeness(parse(other), parse(one))


@pytest.mark.parametrize(*cases(__file__, "who_may_share_an_address_and_be_one"))
def test_who_may_share_an_address_and_be_one(one: str, other: str, fits: bool) -> None:
    assert compatible(parse(one), parse(other)) is compatible(parse(other), parse(one)) is fits


def test_a_short_form_may_stand_for_several_names() -> None:
    forms = tables.short_forms()
    assert forms["jarka"] == {"jaroslava", "jarmila"}
    assert forms["honza"] == {"jan"}
    assert "william" in forms["bill"]
    assert forms["יוסי"] == {"יוסף"}


@pytest.mark.parametrize(
    ("text", "name"),
    [("Dana", "latin"), ("Řehoř", "latin"), ("דנה L", "hebrew"), ("Оля", "cyrillic"), ("محمد", "other"), ("12", "")],
)
def test_script(text: str, name: str) -> None:
    assert script(text) == name


@pytest.mark.parametrize(*cases(__file__, "the_forms_of_a_given_name"))
def test_the_forms_of_a_given_name(name: str, forms: str, no_forms: str) -> None:
    found = inflections(name)
    assert set(forms.split()) - found == set()
    assert found & set(no_forms.split()) == set()


def test_a_whole_name_is_in_one_case() -> None:
    found = {" ".join(form) for form in of_name(("Lenka", "Dvořáková"))}
    assert {"Lenky Dvořákové", "Lence Dvořákové", "Lenku Dvořákovou", "Lenkou Dvorakovou"} <= found
    assert "Lenka Dvořákovou" not in found
    assert "Petrem Svobodou" in {" ".join(form) for form in of_name(("Petr", "Svoboda"))}


def test_a_name_that_ends_in_z_is_soft_or_hard() -> None:
    assert {("Petra", "Kurze"), ("Petra", "Kurza")} <= of_name(("Petr", "Kurz"))
