"""Finds the people whom a typed name means, and builds the statement that splits a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from relrag_pipelines.errors import RelragError
from relrag_pipelines.identity.entries import Claim
from relrag_pipelines.identity.journal_statements import Split
from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.text.names.forms import inflections, of_name, words
from relrag_pipelines.text.names.likeness import name_likeness
from relrag_pipelines.text.names.personal_name import parse

_WHOLE, _GIVEN, _FORM = 4.0, 3.0, 2.0
_MIN_LIKENESS = 0.4
"""likeness of a name that may be meant: that of a given name alone, in another script"""


def candidates(people: Mapping[int, ResolvedPerson], typed: str) -> list[int]:
    """The people whom a name fits best, ordered by id; several if it fits them equally well.

    A name as written comes before a given name alone, this before Czech forms, and these before short forms and other
    scripts.
    """
    ranks = {person_id: _rank(person, typed) for person_id, person in people.items()}
    best = max(ranks.values(), default=0.0)
    return sorted(person_id for person_id, rank in ranks.items() if rank == best) if best >= _MIN_LIKENESS else []


def owner(people: Mapping[int, ResolvedPerson], name: str) -> int | None:
    """The owner of the archive: `Jonah` is Jonah Pickel if nobody else is Jonah; None if that is not certain."""
    ids = candidates(people, name)
    return ids[0] if len(ids) == 1 else None


def owner_and_namesake(people: Mapping[int, ResolvedPerson], name: str) -> tuple[int, int] | None:
    """The owner, and a person who is known by the owner's given name alone, if nobody else has that name.

    The setting may have the given name alone: then the owner is the only one with a family name.
    """
    typed = parse(name)
    if not typed.words:
        return None
    bearers = [person for person in people.values() if any(name.words[0] == typed.words[0] for name in person.names)]
    namesakes = [person for person in bearers if _has_given_name_only(person)]
    others = [person for person in bearers if person not in namesakes]
    if len(others) != 1 or not namesakes:
        return None
    if len(typed.words) > 1 and all(typed.full != name.full for name in others[0].names):
        return None
    return others[0].person_id, namesakes[0].person_id


def _has_given_name_only(person: ResolvedPerson) -> bool:
    """Whether names of one word are all that is known of a person: no identifiers, cards or pinned ids."""
    if any(len(name.words) != 1 for name in person.names):
        return False
    if any(entry.is_card or entry.person_id is not None for entry in person.entries):
        return False
    return all(claim.kind == "name" for entry in person.entries for claim in entry.claims)


class NoAliasStays(RelragError):
    """Somebody would have no alias left."""


def split(person: ResolvedPerson, aliases: Collection[str], keyed: Callable[[str], str]) -> Split:
    """The statement that these aliases, as in person_aliases, are another person's; `keyed` as in `resolve`.

    Raises ValueError if the person has none of them, NoAliasStays if they are all that the person has.
    """
    claims = [claim for entry in person.entries for claim in entry.claims if claim.value in aliases]
    out: set[str] = set()
    for claim in claims:
        out |= _anchors_of(person, claim, keyed)
    stay = tuple(anchor for anchor in person.anchors if anchor not in out)
    if not out:
        raise ValueError(f"person {person.person_id} has none of these aliases; write them as person_aliases has them")
    if not stay:
        raise NoAliasStays(f"these are all aliases of person {person.person_id}; name fewer, so that some stay")
    return Split(tuple(sorted(out)), stay)


def _anchors_of(person: ResolvedPerson, claim: Claim, keyed: Callable[[str], str]) -> set[str]:
    """The anchors of a person that belong to a claim."""
    if claim.kind == "name":
        name = keyed(parse(claim.value).full)
        return {anchor for anchor in person.anchors if anchor.endswith((f"/{name}", f":{name}"))}
    identifier = f"{claim.kind}:{claim.keyed}"
    return {anchor for anchor in person.anchors if anchor == identifier or anchor.startswith(f"{identifier}/")}


def _claimed_names(person: ResolvedPerson) -> list[tuple[str, ...]]:
    """The words of each name that an entry of the person states."""
    return [words(claim.value) for entry in person.entries for claim in entry.names]


def _rank(person: ResolvedPerson, typed: str) -> float:
    name = parse(typed)
    if not name.words:
        return 0.0
    if name.full in {written.full for written in person.names}:
        return _WHOLE
    if len(name.words) == 1 and name.words[0] in {written.words[0] for written in person.names}:
        return _GIVEN
    if _is_form(words(typed), _claimed_names(person)):
        return _FORM
    return max((name_likeness(name, written).score for written in person.names), default=0.0)


def _is_form(typed: tuple[str, ...], names: list[tuple[str, ...]]) -> bool:
    """Whether the typed words are an inflected form of one of the names."""
    names = [name for name in names if name]
    if len(typed) == 1:
        return any(typed[0] in inflections(name[0]) for name in names)
    return any(typed in of_name(name) for name in names)
