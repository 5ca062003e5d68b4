"""States relationships between people; each is embedded at once, so that search finds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.identity.journal_statements import RelationshipNote, StatedRelationship
from relrag_pipelines.identity.statement_overlay import key_of
from relrag_pipelines.people import profiles, relationship_embeddings
from relrag_pipelines.records import PersonRelationship
from relrag_pipelines.text import kinship
from relrag_pipelines.workspace import Workspace
from relrag_query.archive import Archive
from relrag_query.people.indexed_person import IndexedPerson, PeopleError
from relrag_query.people.people import People
from relrag_query.statements.record import StatementReceipt, record, writable_archive
from relrag_query.statements.type_names import require_no_misspelling, type_name
from relrag_query.understanding.people_question import Relation

_Ends = tuple[IndexedPerson, IndexedPerson]


def create_relationship(
    from_person: str,
    to_person: str,
    relationship_type: str,
    description: str | None = None,
    attitude: int | None = None,
    proximity: int | None = None,
    notes: Sequence[str] = (),
    *,
    config: Path | None = None,
    wait: float = 0,
) -> StatementReceipt:
    """States that `to_person` is the `relationship_type` of `from_person`.

    Attitude and proximity are whole numbers from 1 to 5. Raises PeopleError if the relationship exists already.
    """
    with writable_archive(config, wait) as archive, archive.people() as people:
        ends = people.find_one(from_person), people.find_one(to_person)
        if is_known(people, *ends, relationship_type):
            what = _in_words(ends, type_name(relationship_type))
            raise PeopleError(f"{what} is known already; update it", code="relation_known", what=what)
        require_no_misspelling(relationship_type)
        key = *_ids(ends), type_name(relationship_type)
        word = kinship.type_of(relationship_type)[1]
        statement = StatedRelationship(*key, description or word, attitude, proximity)
        return _record(archive, ends, [_checked(statement, ends), *(RelationshipNote(*key, text) for text in notes)])


def update_relationship(
    from_person: str,
    to_person: str,
    relationship_type: str,
    description: str | None = None,
    attitude: int | None = None,
    proximity: int | None = None,
    *,
    deleted: bool = False,
    config: Path | None = None,
    wait: float = 0,
) -> StatementReceipt:
    """Changes an existing relationship; values that are None stay. `deleted` states that there is none.

    It is embedded again if its text changes. Raises PeopleError if there is no such relationship.
    """
    with writable_archive(config, wait) as archive, archive.people() as people:
        ends, row = _known_relationship(people, from_person, to_person, relationship_type)
        statement = StatedRelationship(*key_of(row), description, attitude, proximity, deleted=deleted)
        return _record(archive, ends, [_checked(statement, ends)])


def add_note_to_relationship(
    from_person: str,
    to_person: str,
    relationship_type: str,
    note: str,
    *,
    config: Path | None = None,
    wait: float = 0,
) -> StatementReceipt:
    """Adds a note to an existing relationship and embeds it again. Raises PeopleError for an empty note."""
    if not note.strip():
        raise PeopleError("the note is empty", code="note_empty")
    with writable_archive(config, wait) as archive, archive.people() as people:
        ends, row = _known_relationship(people, from_person, to_person, relationship_type)
        return _record(archive, ends, [RelationshipNote(*key_of(row), note.strip())])


def is_known(people: People, person: IndexedPerson, other: IndexedPerson, relationship_type: str) -> bool:
    """Whether the relationship exists, in either direction."""
    return _row(people, _ids((person, other)), type_name(relationship_type)) is not None


def _record(
    archive: Archive, ends: _Ends, statements: Sequence[StatedRelationship | RelationshipNote]
) -> StatementReceipt:
    """Writes statements about one relationship, and embeds its new text."""
    receipt = record(archive, ends, statements)
    first = statements[0]
    with archive.people() as people:
        row = _row(people, (first.from_person_id, first.to_person_id), first.relationship_type)
    return replace(receipt, notice=_embed(Workspace(archive.settings), row)) if row else receipt


def _embed(workspace: Workspace, row: PersonRelationship) -> str:
    """Stores the vector of a relationship; returns a notice if that fails."""
    hashed = replace(row, text_hash=profiles.text_hash(workspace.keys.content_hash, row))
    try:
        relationship_embeddings.embed(workspace, [hashed])
    except EmbeddingError as error:
        return f"it is only found by its words: {error}"
    return ""


def _known_relationship(
    people: People, from_person: str, to_person: str, type_: str
) -> tuple[_Ends, PersonRelationship]:
    ends = people.find_one(from_person), people.find_one(to_person)
    row = _row(people, _ids(ends), type_name(type_))
    if row is None:
        types = sorted({relation.row.relationship_type for relation in _between(people, _ids(ends))})
        also = f"; there is: {', '.join(types)}" if types else ""
        what = _in_words(ends, type_)
        raise PeopleError(f"{what} is not known{also}", code="relation_absent", what=what)
    return ends, row


def _row(people: People, ids: tuple[int, int], type_: str) -> PersonRelationship | None:
    """The stated relationship, in either direction."""
    ids = people.survivor(ids[0]), people.survivor(ids[1])
    rows = [relation.row for relation in _between(people, ids) if relation.type == type_]
    exact = [row for row in rows if key_of(row) == (*ids, type_)]
    return next(iter([*exact, *rows]), None)


def _between(people: People, ids: tuple[int, int]) -> list[Relation]:
    return [relation for relation in people.relationships([ids[0]]) if relation.other_id == ids[1]]


def _checked(statement: StatedRelationship, ends: _Ends) -> StatedRelationship:
    if statement.from_person_id == statement.to_person_id:
        raise PeopleError(
            f"{ends[0].name} cannot be related to themselves", code="relation_to_oneself", name=ends[0].name
        )
    for name in ("attitude", "proximity"):
        value = getattr(statement, name)
        if value is not None and (isinstance(value, bool) or value not in range(1, 6)):
            raise PeopleError(f"{name} is {value}; give a whole number from 1 to 5", code="level_wrong")
    return statement


def _in_words(ends: _Ends, type_: str) -> str:
    return f"{ends[1].name} as {type_} of {ends[0].name}"


def _ids(ends: _Ends) -> tuple[int, int]:
    return ends[0].person_id, ends[1].person_id
