"""Statements about relationships by programs, allowed by `web_writes_enabled`.

Each function returns when the statement is in the journal and embedded, so the next query uses it. Raises PeopleError
if a name is ambiguous, or the relationship already exists or does not exist; NotServed if the service only reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from relrag_query import statements
from relrag_query.service.errors import NotServed
from relrag_query.service.person_replies import RelationshipReply
from relrag_query.service.service import Service
from relrag_query.statements import StatementReceipt

_WAIT_SECONDS = 10
"""how long to wait for a running sync or another statement"""


class StatementReply(BaseModel):
    """A statement as it stands in the journal, and what is known of the two from now on."""

    entry: int = Field(description="its number in the journal; `relrag people undo NUMBER` takes it back")
    from_person_id: int
    from_person: str
    to_person_id: int
    to_person: str
    relationships: list[RelationshipReply] = Field(description="what the second person is to the first")
    notice: str = Field(description="what is still to be done, or could not be")


def create_relationship(
    service: Service,
    from_person: str,
    to_person: str,
    relationship_type: str,
    description: str | None = None,
    attitude: int | None = None,
    proximity: int | None = None,
    notes: Sequence[str] = (),
) -> StatementReply:
    """States that `to_person` is the `relationship_type` of `from_person`."""
    arguments = _number(from_person), _number(to_person), relationship_type, description, attitude, proximity, notes
    receipt = statements.create_relationship(*arguments, config=_config(service), wait=_WAIT_SECONDS)
    return _reply(service, receipt)


def update_relationship(
    service: Service,
    from_person: str,
    to_person: str,
    relationship_type: str,
    description: str | None = None,
    attitude: int | None = None,
    proximity: int | None = None,
    deleted: bool = False,
) -> StatementReply:
    """Changes a relationship; omitted fields keep their values. `deleted` states that there is no such relationship."""
    arguments = _number(from_person), _number(to_person), relationship_type, description, attitude, proximity
    receipt = statements.update_relationship(*arguments, deleted=deleted, config=_config(service), wait=_WAIT_SECONDS)
    return _reply(service, receipt)


def add_note_to_relationship(
    service: Service, from_person: str, to_person: str, relationship_type: str, note: str
) -> StatementReply:
    """Adds a note to a relationship."""
    arguments = _number(from_person), _number(to_person), relationship_type, note
    receipt = statements.add_note_to_relationship(*arguments, config=_config(service), wait=_WAIT_SECONDS)
    return _reply(service, receipt)


def _config(service: Service) -> Path | None:
    """The relrag.toml of a service that may write. Raises NotServed for a read-only service."""
    if not service.writes:
        raise NotServed("this service only reads; web_writes_enabled = true in relrag.toml lets programs state things")
    return service.config


def _number(person: str) -> str:
    """The name or number of a person, without the prefix of person:7."""
    return person.removeprefix("person:")


def _reply(service: Service, receipt: StatementReceipt) -> StatementReply:
    person, other = receipt.people
    person_page = service.person(str(person.person_id))
    return StatementReply(
        entry=receipt.number,
        from_person_id=person.person_id,
        from_person=person.name,
        to_person_id=other.person_id,
        to_person=other.name,
        relationships=[relation for relation in person_page.relationships if relation.other_id == other.person_id],
        notice=receipt.notice,
    )
