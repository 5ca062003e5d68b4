"""Who may be a relative because of the family name."""

from __future__ import annotations

from collections.abc import Mapping

from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.forms import gender_of
from relrag_pipelines.text.names.likeness import masculine
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import KinWord
from relrag_query.people.people import People

_NAMESAKE = "person:"
_ONE_NAME = frozenset({"spouse", "sibling", "parent", "child"})
"""relatives who mostly have the same family name"""
_MOST = 3
"""people of one family name; more tell nothing"""


def reference(via: int) -> str:
    """The source of what follows from the family name of somebody else than whose relative is looked for."""
    return f"{_NAMESAKE}{via}"


def namesake_of(fact: PersonFact) -> int | None:
    """By way of whose family name somebody is offered; None where it is that of the one whose relative he may be."""
    return int(fact.source_ref.removeprefix(_NAMESAKE)) if fact.source_ref.startswith(_NAMESAKE) else None


def namesake_reason(fact: PersonFact, known: Mapping[int, IndexedPerson]) -> str:
    """Why somebody is offered whom no text names."""
    via = namesake_of(fact)
    return f"the family name is {'the same' if via is None else f'that of {known[via].name}'}"


def bearers(of: int, word: KinWord, people: People) -> list[IndexedPerson]:
    """Who bears the family name of a person and may be called by that word, where they are few.

    Not who is called another relative, `Mama Levi`, nor another record of the same name.
    """
    names = [name for name in people.by_id([of])[of].resolved_person.names if len(name.words) > 1]
    if word.type not in _ONE_NAME or not names:
        return []
    families = {name.words[-1] for name in names}
    endings = ("a", "y", "ova")  # Novotný and Novotná, Svoboda and Svobodová
    changed = {f"{one[:-1]}{ending}" for one in families for ending in endings}
    forms = families | changed | {form for one in families for form in (f"{one}ova", *masculine(one))}
    known = people.name_bearers(" ".join(forms), sounds=False)
    stated = {one.other_id for one in people.relationships([of])} | {of}
    own = {name.words for name in names}
    asked, found = kinship.gender(word.word), []
    for one, person in known.items():
        borne = [name for name in person.resolved_person.names if len(name.words) > 1]
        alike = any(masculine(name.words[-1]) & forms or name.words[-1] in forms for name in borne)
        sexes = {gender_of(name.words[0]) for name in borne} - {""}
        other = own & {name.words for name in borne} or _other_types(person, word.type)
        if one not in stated and alike and not other and (not asked or not sexes or asked in sexes):
            found.append(person)
    return found if len({person.name for person in found}) <= _MOST else []


def _other_types(person: IndexedPerson, type_: str) -> set[str]:
    """The relatives, others than of that type, that somebody is called by his name."""
    types = kinship.types_of_names()
    return {types[one] for name in person.resolved_person.names for one in name.words if one in types} - {type_}
