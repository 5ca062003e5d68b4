"""The owner's statements about people in words, for lists of what can be taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from relrag_pipelines.identity.journal_statements import (
    Merge,
    RelationshipNote,
    Split,
    StatedFact,
    StatedIdentifier,
    StatedRelationship,
    Statement,
)
from relrag_pipelines.journal.entry_kinds import DistinctPair
from relrag_query.display.amounts import number
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.people import People


def names_before_merges(statements: Iterable[Statement | DistinctPair]) -> dict[int, str]:
    """Names of merged people before the merge, by their former id."""
    merges = [statement for statement in statements if isinstance(statement, Merge)]
    return {
        person_id: name
        for merge in merges
        for person_id, name in zip((merge.into, *merge.others), merge.names, strict=False)
        if name and person_id != merge.into
    }


def statement_in_words(
    statement: Statement | DistinctPair, people: People, former_names: Mapping[int, str] = MappingProxyType({})
) -> tuple[str, str]:
    """What was stated, and about whom; `former_names` holds the names of people before they were merged."""

    def names_of(*ids: int) -> list[str]:
        current, own = people.by_id(ids), {**former_names, **people.names_in_index(ids)}
        return [
            _historic_name(person_id, own.get(person_id), current.get(people.survivor(person_id))) for person_id in ids
        ]

    match statement:
        case Merge(into, others, _):
            return "one person", ", ".join(names_of(into, *others))
        case DistinctPair(person_id, other_id):
            return "not one person", ", ".join(names_of(person_id, other_id))
        case Split(out, _):
            return "somebody else's aliases", f"{number(len(out), 'alias', 'aliases')} of one person"
        case StatedFact(person_id, predicate, value, since, until):
            period = f" ({period_in_words(since, until)})" if since or until else ""
            return f"{predicate.replace('_', ' ')}: {value}{period}", names_of(person_id)[0]
        case StatedRelationship(subject, other) | RelationshipNote(subject, other):
            return _relationship_in_words(statement), f"{names_of(other)[0]} of {names_of(subject)[0]}"
        case StatedIdentifier(person_id):
            return "a number or address", names_of(person_id)[0]
    return "taken back", ""


def _relationship_in_words(statement: StatedRelationship | RelationshipNote) -> str:
    type_ = statement.relationship_type.replace("_", " ")
    if isinstance(statement, RelationshipNote):
        return f"note on {type_}: {statement.note}"
    return f"no {type_}" if statement.deleted else type_


def _historic_name(person_id: int, name: str | None, now: IndexedPerson | None) -> str:
    """The person by the name at the time of the statement, or by the former number and the merged person."""
    if name or now is None or now.person_id == person_id:
        return f"{name or 'somebody'} ({person_id})"
    return f"{person_id}, now {now.name} ({now.person_id})"


def period_in_words(since: str | None, until: str | None) -> str:
    """When a fact holds: from 2020 to 2024."""
    return " ".join(part for part in (f"from {since}" if since else "", f"to {until}" if until else "") if part)
