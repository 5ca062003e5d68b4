"""Who may be a relative because of the family name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from relrag_pipelines.records import PersonFact
from relrag_query.people import family_names, passage_candidates
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import kin_words


@pytest.mark.parametrize(
    ("asked", "other", "offered"),
    [
        ("wife", "Rima Haddad", True),
        ("wife", "Mama Haddad", False),
        ("wife", "Strejda Haddad", False),
        ("kid", "Samir Haddad", True),
        ("kid", "Karim Haddad", False),
    ],
)
def test_who_is_called_another_relative_or_the_same_is_not_offered(asked: str, other: str, offered: bool) -> None:
    people = [
        IndexedPerson(number, name, aliases=[_named(name)]) for number, name in enumerate(["Karim Haddad", other], 1)
    ]
    known: Any = SimpleNamespace(
        by_id=lambda ids: {one: people[one - 1] for one in ids},
        name_bearers=lambda *_, **__: {one.person_id: one for one in people},
        relationships=lambda _ids: [],
    )
    (word,) = kin_words(asked)
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


@pytest.mark.parametrize(("hers", "his"), [("Nováková", "Novák"), ("Novotná", "Novotný"), ("Svobodová", "Svoboda")])
def test_of_the_family_of_a_wife_only_strangers_to_the_owner_are_offered(
    hers: str, his: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["Jan Veselý", f"Eva {hers}", f"Pavel {his}", f"Karel {his}"]
    people = [IndexedPerson(number, name, aliases=[_named(name)]) for number, name in enumerate(names, 1)]
    wife, friend = (SimpleNamespace(person_id=1, other_id=one, type=of) for one, of in ((2, "spouse"), (4, "friend")))
    known: Any = SimpleNamespace(
        by_id=lambda ids: {one: people[one - 1] for one in ids},
        name_bearers=lambda *_, **__: {one.person_id: one for one in people},
        relationships=lambda ids, *_: [wife, friend] if ids == [1] else [],
    )
    monkeypatch.setattr(passage_candidates, "every_name", lambda *_: iter(()))
    (word,) = kin_words("father-in-law")
    nowhere: Any = None
    found = passage_candidates.possible_relatives(1, word, known, nowhere)
    assert [(one.value, family_names.namesake_of(one)) for one in found] == [(f"Pavel {his}", 2)]
