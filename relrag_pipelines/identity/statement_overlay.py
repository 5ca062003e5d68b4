"""What the owner says of people, laid over what is read: facts, relationships, notes, in order.

Rows that a generation holds and rows that are being made take it alike, so that what was said after a generation was
made can be laid over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from relrag_pipelines.identity.journal_statements import Entry, RelationshipNote, StatedFact, StatedRelationship
from relrag_pipelines.identity.relationship_text import relationship_text
from relrag_pipelines.records import PersonFact, PersonRelationship

JOURNAL = "journal:"
"""how the source_ref of what the owner said begins; behind it stands the number of the entry"""
Survivor = Callable[[int], int | None]
"""who a person is now, by an id of that person; None where there is nobody"""
_FIELDS = ("description", "attitude", "proximity", "valid_from", "valid_to")
Key = tuple[int, int, str]
"""from_person_id, to_person_id, relationship_type"""


def key_of(row: PersonRelationship) -> Key:
    """What tells one relationship from others."""
    return row.from_person_id, row.to_person_id, row.relationship_type


def merge_duplicates(rows: Iterable[PersonRelationship]) -> list[PersonRelationship]:
    """One row for each relationship, of several that say the same the first, with what only the others know."""
    found: dict[Key, PersonRelationship] = {}
    for row in rows:
        known = found.get(key_of(row))
        if known is None:
            found[key_of(row)] = replace(row, notes=[*row.notes], further_source_refs=[*row.further_source_refs])
            continue
        for name in (*_FIELDS, "source_quote"):
            if getattr(known, name) is None:
                setattr(known, name, getattr(row, name))
        known.notes += [note for note in row.notes if note not in known.notes]
        if known.client_id != row.client_id:  # what another client's record says as well is not this one's alone
            known.client_id = None
        if row.source_ref not in (known.source_ref, *known.further_source_refs):
            known.further_source_refs.append(row.source_ref)
    return [found[key] for key in sorted(found)]


def relationships(
    rows: Iterable[PersonRelationship], said: Iterable[Entry], survivor: Survivor
) -> list[PersonRelationship]:
    """The relationships with what the owner says of them, ordered by their key."""
    found = {key_of(row): row for row in rows}
    for entry in said:
        one = entry.statement
        if not isinstance(one, StatedRelationship | RelationshipNote):
            continue
        ends = survivor(one.from_person_id), survivor(one.to_person_id)
        if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            continue
        key = (ends[0], ends[1], one.relationship_type)
        if isinstance(one, RelationshipNote):
            if key in found:
                found[key] = replace(found[key], notes=[*found[key].notes, one.note], client_id=None)
        elif one.deleted:
            found.pop(key, None)
        else:
            found[key] = _apply(found.get(key), key, one, f"{JOURNAL}{entry.number}")
    return [found[key] for key in sorted(found)]


def _apply(known: PersonRelationship | None, key: Key, said: StatedRelationship, ref: str) -> PersonRelationship:
    known = known or PersonRelationship(*key, source_ref=ref)
    told = {name: value for name in _FIELDS if (value := getattr(said, name)) is not None}
    earlier = [one for one in (known.source_ref, *known.further_source_refs) if one != ref]
    return replace(known, **told, source_ref=ref, further_source_refs=earlier, confidence=1.0, client_id=None)


def facts(rows: Iterable[PersonFact], said: Iterable[Entry], survivor: Survivor) -> list[PersonFact]:
    """The facts with what the owner says of people, ordered by their key."""
    found = {(row.person_id, row.predicate, row.value, row.source_ref): row for row in rows}
    for entry in said:
        one = entry.statement
        if isinstance(one, StatedFact) and (person_id := survivor(one.person_id)) is not None:
            key = (person_id, one.predicate, one.value, f"{JOURNAL}{entry.number}")
            found[key] = PersonFact(*key[:3], 1.0, key[3], None, one.valid_from, one.valid_to)
    return [found[key] for key in sorted(found)]


def embedded_text(row: PersonRelationship) -> str:
    """The text of a relationship that is embedded."""
    return relationship_text(row.description, row.relationship_type, row.attitude, row.proximity, row.notes)
