"""Applies the owner's statements about people to rows that were read: facts, relationships, notes, in order.

It works for rows of a published generation too, so that later statements take effect without a sync.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from relrag_pipelines.identity.journal_statements import Entry, RelationshipNote, StatedFact, StatedRelationship
from relrag_pipelines.identity.relationship_text import relationship_text
from relrag_pipelines.records import PersonFact, PersonRelationship

JOURNAL = "journal:"
"""prefix of the source_ref of the owner's statements, before the number of the entry"""
Survivor = Callable[[int], int | None]
"""id of a person -> the person's present id; None if there is none"""
_FIELDS = ("description", "attitude", "proximity", "valid_from", "valid_to")
Key = tuple[int, int, str]
"""from_person_id, to_person_id, relationship_type"""


def key_of(row: PersonRelationship) -> Key:
    """The key of a relationship."""
    return row.from_person_id, row.to_person_id, row.relationship_type


def merge_duplicates(rows: Iterable[PersonRelationship]) -> list[PersonRelationship]:
    """One row for each relationship: the first of several, with the fields and notes that only the others have."""
    merged: dict[Key, PersonRelationship] = {}
    for row in rows:
        first = merged.get(key_of(row))
        if first is None:
            merged[key_of(row)] = replace(row, notes=[*row.notes], further_source_refs=[*row.further_source_refs])
        else:
            _add_to(first, row)
    return [merged[key] for key in sorted(merged)]


def _add_to(first: PersonRelationship, row: PersonRelationship) -> None:
    """Adds to the first row of a relationship what only another has."""
    for name in (*_FIELDS, "source_quote"):
        if getattr(first, name) is None:
            setattr(first, name, getattr(row, name))
    first.notes += [note for note in row.notes if note not in first.notes]
    if first.client_id != row.client_id:  # a relationship in records of two clients belongs to neither alone
        first.client_id = None
    if row.source_ref not in (first.source_ref, *first.further_source_refs):
        first.further_source_refs.append(row.source_ref)


def _present_key(statement: StatedRelationship | RelationshipNote, survivor: Survivor) -> Key | None:
    """The key of a statement's relationship by present ids; None if it is not between two people."""
    from_, to = survivor(statement.from_person_id), survivor(statement.to_person_id)
    if from_ is None or to is None or from_ == to:
        return None
    return from_, to, statement.relationship_type


def relationships(
    rows: Iterable[PersonRelationship], entries: Iterable[Entry], survivor: Survivor
) -> list[PersonRelationship]:
    """The relationships with the owner's statements applied, ordered by key."""
    by_key = {key_of(row): row for row in rows}
    for entry in entries:
        statement = entry.statement
        if not isinstance(statement, StatedRelationship | RelationshipNote):
            continue
        key = _present_key(statement, survivor)
        if key is None:
            continue
        if isinstance(statement, RelationshipNote):
            if key in by_key:
                by_key[key] = replace(by_key[key], notes=[*by_key[key].notes, statement.note], client_id=None)
        elif statement.deleted:
            by_key.pop(key, None)
        else:
            by_key[key] = _apply(by_key.get(key), key, statement, f"{JOURNAL}{entry.number}")
    return [by_key[key] for key in sorted(by_key)]


def _apply(row: PersonRelationship | None, key: Key, statement: StatedRelationship, ref: str) -> PersonRelationship:
    row = row or PersonRelationship(*key, source_ref=ref)
    stated = {name: value for name in _FIELDS if (value := getattr(statement, name)) is not None}
    earlier = [source for source in (row.source_ref, *row.further_source_refs) if source != ref]
    return replace(row, **stated, source_ref=ref, further_source_refs=earlier, confidence=1.0, client_id=None)


def facts(rows: Iterable[PersonFact], entries: Iterable[Entry], survivor: Survivor) -> list[PersonFact]:
    """The facts with the owner's statements added, ordered by key."""
    by_key = {(row.person_id, row.predicate, row.value, row.source_ref): row for row in rows}
    for entry in entries:
        fact = entry.statement
        if isinstance(fact, StatedFact) and (person_id := survivor(fact.person_id)) is not None:
            key = (person_id, fact.predicate, fact.value, f"{JOURNAL}{entry.number}")
            by_key[key] = PersonFact(*key[:3], 1.0, key[3], None, fact.valid_from, fact.valid_to)
    return [by_key[key] for key in sorted(by_key)]


def embedded_text(row: PersonRelationship) -> str:
    """The text of a relationship that is embedded."""
    return relationship_text(row.description, row.relationship_type, row.attitude, row.proximity, row.notes)
