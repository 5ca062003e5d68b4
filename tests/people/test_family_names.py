"""Who may be a relative because of the family name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

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
