"""Who may be a relative because of the family name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from relrag_pipelines.records import PersonFact
from relrag_query.people import family_names
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import kin_words


@pytest.mark.parametrize(
    ("other", "offered"),
    [("Rima Haddad", True), ("Mama Haddad", False), ("Strejda Haddad", False), ("Karim Haddad", False)],
)
def test_who_is_called_another_relative_is_no_wife(other: str, offered: bool) -> None:
    people = [
        IndexedPerson(number, name, aliases=[_named(name)]) for number, name in enumerate(["Karim Haddad", other], 1)
    ]
    known: Any = SimpleNamespace(
        by_id=lambda ids: {one: people[one - 1] for one in ids},
        name_bearers=lambda *_, **__: {one.person_id: one for one in people},
        relationships=lambda _ids: [],
    )
    (word,) = kin_words("wife")
    assert bool(family_names.bearers(1, word, known)) is offered


def _named(name: str) -> dict[str, Any]:
    return {"kind": "name", "alias": name, "keyed": name, "stated": False}


def test_with_whose_family_name_somebody_shares_it_is_said() -> None:
    eva = {3: IndexedPerson(3, "Eva Novotná")}
    refs = ("", family_names.reference(3))
    own, by_way_of = (PersonFact(1, "parent_in_law", "Karel Novotný", 0.2, ref) for ref in refs)
    assert [family_names.namesake_reason(one, eva) for one in (own, by_way_of)] == [
        "the family name is the same", "the family name is that of Eva Novotná",
    ]  # fmt: skip
