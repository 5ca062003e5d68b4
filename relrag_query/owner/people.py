"""Who is one person and who is several, as the owner states it on the pages."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from relrag_pipelines import settings as settings_module
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import DistinctPair
from relrag_query import statements
from relrag_query.owner.switch import WAIT_SECONDS, changing, require_writes
from relrag_query.service import Service
from relrag_query.statements import StatementReceipt
from relrag_query.statements.suggestions import suggestions
from relrag_query.statements.wording import names_before_merges, statement_in_words

_MAX_SUGGESTIONS = 50
_MAX_STATEMENTS = 30


class StatementNotice(BaseModel):
    """A statement as it stands in the journal."""

    entry: int = Field(description="its number, for `undo`")
    people: list[str]
    notice: str = Field(description="what is still to be done")


class SuggestedPair(BaseModel):
    """Two people who may be one."""

    person_id: int
    name: str
    other_id: int
    other_name: str
    score: float
    evidence: list[str]


class StatedLine(BaseModel):
    """A statement that can be taken back."""

    entry: int
    what: str
    people: str


def merge(service: Service, into: str, others: Sequence[str]) -> StatementNotice:
    """States that these are one person. Raises PeopleError."""
    config = require_writes(service)
    return _notice(statements.merge(into, others, config=config, wait=WAIT_SECONDS))


def split(service: Service, person: str, aliases: Sequence[str]) -> StatementNotice:
    """States that these aliases of a person are somebody else's. Raises PeopleError."""
    config = require_writes(service)
    return _notice(statements.split(person, aliases, config=config, wait=WAIT_SECONDS))


def add_fact(service: Service, person: str, predicate: str, value: str, valid_from: str = "") -> StatementNotice:
    """States a fact of a person. Raises PeopleError for an unknown person and an invalid day."""
    config = require_writes(service)
    return _notice(statements.add_fact(person, predicate, value, valid_from or None, config=config, wait=WAIT_SECONDS))


def relate(service: Service, person: str, other: str, relationship_type: str, description: str = "") -> StatementNotice:
    """States what `other` is to `person`. Raises PeopleError, also if that is known already."""
    config = require_writes(service)
    return _notice(
        statements.create_relationship(
            person, other, relationship_type, description or None, config=config, wait=WAIT_SECONDS
        )
    )


def unrelate(service: Service, person: str, other: str, relationship_type: str) -> StatementNotice:
    """States that `other` is not that to `person`. Raises PeopleError if no such relationship is known."""
    config = require_writes(service)
    return _notice(
        statements.update_relationship(person, other, relationship_type, deleted=True, config=config, wait=WAIT_SECONDS)
    )


def undo(service: Service, entry: int) -> StatementNotice:
    """Takes back a statement about people. Raises PeopleError if no statement has that number."""
    config = require_writes(service)
    return _notice(statements.undo(entry, config=config, wait=WAIT_SECONDS))


def refuse(service: Service, person_id: int, other_id: int) -> StatementNotice:
    """States that two people are not one, so that they are no longer suggested."""
    pair = DistinctPair(min(person_id, other_id), max(person_id, other_id))
    with changing(service, "refuse", "") as config:
        (entry,) = journal.append(settings_module.load(config).home_path, [pair])
    return StatementNotice(entry=entry, people=[], notice="")


def suggested_pairs(service: Service) -> list[SuggestedPair]:
    """Pairs who may be one person, the surest first, without those that the owner has refused."""
    with service.reading() as archive, archive.people() as people:
        everybody = people.every()
        pairs = suggestions(archive.settings.home_path, everybody)[:_MAX_SUGGESTIONS]
    return [
        SuggestedPair(
            person_id=pair.person_id,
            name=everybody[pair.person_id].name,
            other_id=pair.other_id,
            other_name=everybody[pair.other_id].name,
            score=pair.score,
            evidence=list(pair.evidence),
        )
        for pair in pairs
    ]


def stated_lines(service: Service) -> list[StatedLine]:
    """The latest statements about people, the newest first."""
    stated = statements.list_statements(service.settings)
    with service.reading() as archive, archive.people() as people:
        former_names = names_before_merges(statement for _, statement in stated)
        lines = [(entry, *statement_in_words(statement, people, former_names)) for entry, statement in stated]
    latest = reversed(lines[-_MAX_STATEMENTS:])
    return [StatedLine(entry=entry, what=what, people=names) for entry, what, names in latest]


def _notice(receipt: StatementReceipt) -> StatementNotice:
    return StatementNotice(
        entry=receipt.number, people=[person.name for person in receipt.people], notice=receipt.notice
    )
