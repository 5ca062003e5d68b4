"""Who is meant by a name that is typed."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.journal_statements import number_statements
from relrag_pipelines.identity.lookup import NoAliasStays, candidates, owner, split
from relrag_pipelines.identity.resolve import Resolution
from tests.cases import cases
from tests.identity.test_resolve import card, keyed, people, sent

BOOK = [
    card(1, "Jonah Pickel", "052-555-0101", pin=1),
    card(2, "Doron Levi", "Doron", "052-555-0102", pin=2),
    card(3, "Doron Katz", "Doron", "052-555-0103", pin=3),
    card(4, "Shiran Tamir", "שירן תמיר", pin=4),
    card(5, "Karel Beneš", pin=5),
    card(6, "Elizabeth Moore", pin=6),
    card(7, "Petra Malá", pin=7),
    card(8, "Petr Malý", pin=8),
]


@pytest.fixture(scope="module")
def found() -> Resolution:
    return people({"book": BOOK})[0]


@pytest.mark.parametrize(*cases(__file__, "who_may_be_meant"))
def test_who_may_be_meant(found: Resolution, typed: str, ids: list[int]) -> None:
    assert candidates(found.people, typed) == ids


def test_the_owner_is_found_by_first_name_unless_two_have_it(found: Resolution) -> None:
    assert owner(found.people, "Jonah") == 1
    assert owner(found.people, "Doron") is None


def test_an_alias_is_split_off() -> None:
    sources = {"mail": sent("email", "Dana <family@x.example>", "Dana Levi <family@x.example>", "D <family@x.example>")}
    before, sets = people(sources)
    assert len(sets) == 1
    (dana,) = before.people.values()
    journal = number_statements([], [*before.allocations, split(dana, ["D"], keyed)])
    after, sets = people(sources, journal)
    assert sets == {frozenset({"mail Dana", "mail Dana Levi", "mail email"}), frozenset({"mail D", "mail email"})}
    assert after.people[dana.person_id].name == "Dana Levi"
    with pytest.raises(ValueError, match="has none of these aliases"):
        split(dana, ["Petr"], keyed)
    with pytest.raises(NoAliasStays, match="all aliases of person"):
        split(dana, [claim.value for entry in dana.entries for claim in entry.claims], keyed)
