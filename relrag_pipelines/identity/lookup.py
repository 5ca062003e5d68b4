"""Who is meant by a name that somebody types, and what it takes to split somebody."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from relrag_pipelines.identity.journal_statements import Split
from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.text.names.forms import inflections, of_name, words
from relrag_pipelines.text.names.likeness import name_likeness
from relrag_pipelines.text.names.personal_name import parse

_WHOLE, _GIVEN, _FORM = 4.0, 3.0, 2.0
_LEAST = 0.4
"""likeness of a name that may be meant: a given name alone, in another script"""


def candidates(people: Mapping[int, ResolvedPerson], typed: str) -> list[int]:
    """The people whom a name fits best, in order of their ids; several where it fits them equally well.

    A name as it stands comes before a given name alone, this before Czech forms, and these before short forms and
    other scripts.
    """
    ranks = {person_id: _rank(one, typed) for person_id, one in people.items()}
    best = max(ranks.values(), default=0.0)
    return sorted(person_id for person_id, rank in ranks.items() if rank == best) if best >= _LEAST else []


def owner(people: Mapping[int, ResolvedPerson], name: str) -> int | None:
    """The owner of the archive: `Jonah` is Jonah Pickel where nobody else is Jonah; None where that is not certain."""
    found = candidates(people, name)
    return found[0] if len(found) == 1 else None


def owner_and_namesake(people: Mapping[int, ResolvedPerson], name: str) -> tuple[int, int] | None:
    """The owner, and somebody of whom only the owner's given name is known, where nobody else bears that.

    The setting may have the given name alone: then the owner is the only one with a family name.
    """
    typed = parse(name)
    if not typed.words:
        return None
    bearers = [one for one in people.values() if any(name.words[0] == typed.words[0] for name in one.names)]
    alone = [one for one in bearers if all(len(name.words) == 1 for name in one.names) and _is_nameless(one)]
    others = [one for one in bearers if one not in alone]
    if (
        len(others) != 1
        or not alone
        or (len(typed.words) > 1 and all(typed.full != one.full for one in others[0].names))
    ):
        return None
    return others[0].person_id, alone[0].person_id


def _is_nameless(person: ResolvedPerson) -> bool:
    """Whether nothing but a name tells who somebody is."""
    return all(claim.kind == "name" for entry in person.entries for claim in entry.claims) and not any(
        entry.is_card or entry.person_id is not None for entry in person.entries
    )


def split(person: ResolvedPerson, aliases: Collection[str], keyed: Callable[[str], str]) -> Split:
    """The statement that these aliases, as they stand in person_aliases, are somebody else's; `keyed` as in `resolve`.

    Raises ValueError where the person has none of them, or nothing else.
    """
    out: set[str] = set()
    for entry in person.entries:
        for claim in entry.claims:
            if claim.value not in aliases:
                continue
            if claim.kind == "name":
                name = keyed(parse(claim.value).full)
                out |= {anchor for anchor in person.anchors if anchor.endswith((f"/{name}", f":{name}"))}
            else:
                anchor = f"{claim.kind}:{claim.keyed}"
                out |= {one for one in person.anchors if one == anchor or one.startswith(f"{anchor}/")}
    stay = tuple(anchor for anchor in person.anchors if anchor not in out)
    if not out:
        raise ValueError(f"person {person.person_id} has none of these aliases; write them as person_aliases has them")
    if not stay:
        raise ValueError(f"these are all aliases of person {person.person_id}; name fewer, so that some stay")
    return Split(tuple(sorted(out)), stay)


def _rank(person: ResolvedPerson, typed: str) -> float:
    name = parse(typed)
    if not name.words:
        return 0.0
    if any(name.full == one.full for one in person.names):
        return _WHOLE
    if len(name.words) == 1 and any(name.words[0] == one.words[0] for one in person.names):
        return _GIVEN
    if _is_form(words(typed), [words(claim.value) for entry in person.entries for claim in entry.names]):
        return _FORM
    return max((name_likeness(name, one).score for one in person.names), default=0.0)


def _is_form(typed: tuple[str, ...], names: list[tuple[str, ...]]) -> bool:
    if len(typed) == 1:
        return any(typed[0] in inflections(said[0]) for said in names if said)
    return any(typed in of_name(said) for said in names if said)
