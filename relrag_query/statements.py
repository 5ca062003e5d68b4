"""What the owner says of people: kept in the journal, visible to the next query, and in no need of a sync.

A person is named by a name, an alias or a number; whoever is not the one and only is asked for again (PeopleError).
`config` names a relrag.toml, else the nearest one is meant; a writer waits `wait` seconds for another one to end.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.identity import lookup
from relrag_pipelines.identity.participants import parse_identifiers
from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.identity.stated import key_of
from relrag_pipelines.identity.statements import (
    Allocation,
    Merge,
    RelationshipNote,
    Split,
    StatedFact,
    StatedIdentifier,
    StatedRelationship,
    Statement,
    Undo,
    holding,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.people import own_words, profiles, relationship_embeddings
from relrag_pipelines.people.stage import read_people
from relrag_pipelines.records import PersonRelationship
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import lock
from relrag_pipelines.text import kinship
from relrag_pipelines.workspace import Workspace
from relrag_query.archive import Archive
from relrag_query.people.indexed_person import IndexedPerson, PeopleError
from relrag_query.people.people import People
from relrag_query.people.relations import Relation

_DATE = re.compile(r"(?:\d{4}|\d{4}-\d\d|\d{4}-\d\d-\d\d)")
_DATED = ("birthday", "died", "anniversary")
_DAY = re.compile(r"(?:\d{4}-)?\d\d-\d\d")


@dataclass(frozen=True)
class Said:
    """A statement as it stands in the journal."""

    number: int
    """of the entry, for `undo`"""
    about: tuple[IndexedPerson, ...]
    notice: str = ""
    """what is still to be done, or could not be"""


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
) -> Said:
    """States that `to_person` is the `relationship_type` of `from_person`; it is embedded at once.

    Attitude and proximity are whole numbers from 1 to 5. Raises PeopleError where that relationship is there already.
    """
    with _writing(config, wait) as archive, archive.people() as people:
        ends = people.one(from_person), people.one(to_person)
        if _row(people, ends, relationship_type):
            raise PeopleError(f"{_told(ends, _type(relationship_type))} is known already; update it")
        type_, word = _type(relationship_type), kinship.type_of(relationship_type)[1]
        said = StatedRelationship(_id(ends[0]), _id(ends[1]), type_, description or word, attitude, proximity)
        added = [RelationshipNote(said.from_person_id, said.to_person_id, said.relationship_type, one) for one in notes]
        return _say(archive, ends, [_checked(said, ends), *added])


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
) -> Said:
    """Says more, or otherwise, of a relationship that is there; what is left out stays. `deleted`: there is none.

    It is embedded again if its text changes. Raises PeopleError where there is no such relationship.
    """
    with _writing(config, wait) as archive, archive.people() as people:
        ends, row = _known_relationship(people, from_person, to_person, relationship_type)
        said = StatedRelationship(*key_of(row), description, attitude, proximity, deleted=deleted)
        return _say(archive, ends, [_checked(said, ends)])


def add_note_to_relationship(
    from_person: str,
    to_person: str,
    relationship_type: str,
    note: str,
    *,
    config: Path | None = None,
    wait: float = 0,
) -> Said:
    """Adds a note to a relationship that is there, which is embedded again."""
    if not note.strip():
        raise PeopleError("the note is empty")
    with _writing(config, wait) as archive, archive.people() as people:
        ends, row = _known_relationship(people, from_person, to_person, relationship_type)
        return _say(archive, ends, [RelationshipNote(*key_of(row), note.strip())])


def add_fact(
    person: str,
    predicate: str,
    value: str,
    valid_from: str | None = None,
    valid_to: str | None = None,
    *,
    config: Path | None = None,
    wait: float = 0,
) -> Said:
    """States a fact of a person: birthday, occupation, lives_in ..."""
    predicate = _type(predicate)
    if predicate == "age":
        raise PeopleError("an age is worked out from the birthday; state that")
    if predicate in _DATED and not (_DAY.fullmatch(value) and _is_date(value if len(value) > 5 else f"2000-{value}")):
        raise PeopleError(f'{predicate} is "{value}"; write 1986-05-02, or 05-02 where the year is not known')
    for name, date in (("valid from", valid_from), ("valid to", valid_to)):
        if date is not None and not (_DATE.fullmatch(date) and _is_date(f"{date}-01-01"[:10])):
            raise PeopleError(f'{name} is "{date}"; write 2024, 2024-03 or 2024-03-15')
    with _writing(config, wait) as archive, archive.people() as people:
        about = people.one(person)
        return _say(archive, (about,), [StatedFact(_id(about), predicate, value, valid_from, valid_to)])


def _is_date(text: str) -> bool:
    """Whether the calendar has that day."""
    try:
        return bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def merge(into: str, others: Sequence[str], *, config: Path | None = None, wait: float = 0) -> Said:
    """States that these are one person, who keeps the number of the first.

    One of them may be a telephone number or an address that nobody named.
    """
    with _writing(config, wait) as archive, archive.people() as people:
        raw = [one for one in (into, *others) if not people.find(one)]
        if len(raw) == 1 and len(others) == 1 and (said := _identifier(archive, people, raw[0], (into, *others))):
            return said
        about = [people.one(one) for one in (into, *others)]
        ids = list(dict.fromkeys(map(_id, about)))
        if len(ids) < 2:
            raise PeopleError("that is one person already")
        said = _say(archive, tuple(about), [Merge(ids[0], tuple(ids[1:]))])
        return replace(said, notice="it counts now; the next `relrag sync` writes it to all passages")


def _identifier(archive: Archive, people: People, raw: str, ends: Sequence[str]) -> Said | None:
    """States that a number or address that nobody named is somebody's; None where the text is neither."""
    written = [one for one in parse_identifiers(raw) if one.kind != "name"]
    if len(written) != 1:
        return None
    about = people.one(*(one for one in ends if one != raw))
    workspace = Workspace(archive.settings)
    anchor = f"{written[0].kind}:{workspace.keys.pseudonym(written[0].kind, written[0].normalised)}"
    found, _ = read_people(workspace)
    if about.person_id not in found.people:
        raise PeopleError(f"{about.name} is not as in the last sync any more; run `relrag sync` first")
    said = StatedIdentifier(about.person_id, anchor, tuple(found.people[about.person_id].anchors))
    after, _ = read_people(workspace, said)
    if anchor not in after.people[after.redirects.get(about.person_id, about.person_id)].anchors:
        raise PeopleError(f'no record has "{raw}"; write it as records do, or run `relrag sync` first')
    return replace(_say(archive, (about,), [said]), notice="it counts from the next `relrag sync` on")


def split(person: str, aliases: Sequence[str], *, config: Path | None = None, wait: float = 0) -> Said:
    """States that these aliases of a person are somebody else's; it counts from the next sync on."""
    with _writing(config, wait) as archive, archive.people() as people:
        about = people.one(person)
        workspace = Workspace(archive.settings)
        found, keyed = read_people(workspace)
        if about.person_id not in found.people:
            raise PeopleError(f"{about.name} is not as in the last sync any more; run `relrag sync` first")
        try:
            said = lookup.split(found.people[about.person_id], set(aliases), keyed)
        except ValueError as wrong:
            raise PeopleError(str(wrong)) from None
        after, _ = read_people(workspace, said)
        _require_apart(about, after.people.get(about.person_id), aliases)
        return replace(_say(archive, (about,), [said]), notice="it counts from the next `relrag sync` on")


def _require_apart(about: IndexedPerson, after: ResolvedPerson | None, aliases: Sequence[str]) -> None:
    """Raises PeopleError for an alias that a split leaves where it is: it stands on one card with what stays."""
    entries = after.entries if after else []
    for alias in aliases:
        beside = [entry for entry in entries if alias in {claim.value for claim in entry.claims}]
        others = sorted({claim.value for entry in beside for claim in entry.claims} - {*aliases})
        if others:
            told = ", ".join(f'"{one}"' for one in others[:3])
            raise PeopleError(
                f'"{alias}" stands on one card, or in one header, with {told}, so it stays with {about.name}; '
                "change it there, or name all of these"
            )


def undo(number: int, *, config: Path | None = None, wait: float = 0) -> Said:
    """Takes back what was stated of people under that number, or takes back that."""
    with _writing(config, wait) as archive:
        entries = {entry.number: entry.said for entry in journal.entries(archive.settings.home_path)}
        said = entries.get(number)
        if not isinstance(
            said, Merge | Split | StatedIdentifier | Undo | StatedFact | StatedRelationship | RelationshipNote
        ):
            told = ", ".join(str(one) for one, what in stated(archive.settings)) or "none"
            raise PeopleError(f"nothing was stated of people under number {number}; numbers: {told}")
        since = number > archive.generation.manifest["journal"]
        later = (
            ""
            if since and not isinstance(said, Split | StatedIdentifier)
            else "it counts from the next `relrag sync` on"
        )
        return replace(_say(archive, (), [Undo(number)]), notice=later)


def is_known(people: People, person: IndexedPerson, other: IndexedPerson, relationship_type: str) -> bool:
    """Whether there is such a relationship, as it is stated or seen from the other side."""
    return _row(people, (person, other), relationship_type) is not None


def stated(settings: Settings) -> list[tuple[int, Statement]]:
    """What the owner stated of people and holds, by number, with its words redacted; not the ids that were given."""
    workspace = Workspace(settings)
    entries = [entry for entry in holding(journal.entries(workspace.home)) if not isinstance(entry.said, Allocation)]
    return [(entry.number, own_words.redacted(entry, lambda: workspace.redactor).said) for entry in entries]


@contextmanager
def _writing(config: Path | None, wait: float) -> Iterator[Archive]:
    """The archive as it stays until the statement is written.

    It is opened under the lock: whoever is forgotten while a statement waits for it is nobody then.
    """
    settings = settings_module.load(config)
    with lock.writing(settings.home_path, "relrag people", wait), Archive.of(settings) as archive:
        yield archive


def _say(archive: Archive, about: tuple[IndexedPerson, ...], said: Sequence[Statement]) -> Said:
    """Writes statements, and embeds the relationship that they are about."""
    settings = archive.settings
    numbers = journal.append(settings.home_path, said)
    notice = ""
    if isinstance(said[0], StatedRelationship | RelationshipNote):
        ends = said[0].from_person_id, said[0].to_person_id
        with archive.people() as people:
            row = _row_of(people, ends, said[0].relationship_type)
        notice = _embed(Workspace(settings), row) if row else ""
    return Said(numbers[0], about, notice)


def _embed(workspace: Workspace, row: PersonRelationship) -> str:
    hashed = replace(row, text_hash=profiles.text_hash(workspace.keys.content_hash, row))
    try:
        relationship_embeddings.embed(workspace, [hashed])
    except EmbeddingError as error:
        return f"it is found by its words; {error}"
    return ""


def _known_relationship(
    people: People, from_person: str, to_person: str, type_: str
) -> tuple[tuple[IndexedPerson, IndexedPerson], PersonRelationship]:
    ends = people.one(from_person), people.one(to_person)
    row = _row(people, ends, type_)
    if row is None:
        told = sorted({one.row.relationship_type for one in _between(people, (_id(ends[0]), _id(ends[1])))})
        also = f"; there is: {', '.join(told)}" if told else ""
        raise PeopleError(f"{_told(ends, type_)} is not known{also}")
    return ends, row


def _row(people: People, ends: tuple[IndexedPerson, IndexedPerson], type_: str) -> PersonRelationship | None:
    return _row_of(people, (_id(ends[0]), _id(ends[1])), _type(type_))


def _row_of(people: People, ends: tuple[int, int], type_: str) -> PersonRelationship | None:
    """The relationship as it is stated, from whichever side."""
    ends = people.survivor(ends[0]), people.survivor(ends[1])
    found = [one.row for one in _between(people, ends) if one.type == type_]
    exact = [row for row in found if key_of(row) == (*ends, type_)]
    return next(iter([*exact, *found]), None)


def _between(people: People, ends: tuple[int, int]) -> list[Relation]:
    return [one for one in people.relationships([ends[0]]) if one.other_id == ends[1]]


def _checked(said: StatedRelationship, ends: tuple[IndexedPerson, ...]) -> StatedRelationship:
    if said.from_person_id == said.to_person_id:
        raise PeopleError(f"{ends[0].name} cannot be related to themselves")
    for name in ("attitude", "proximity"):
        value = getattr(said, name)
        if value is not None and (isinstance(value, bool) or value not in range(1, 6)):
            raise PeopleError(f"{name} is {value}; give a whole number from 1 to 5")
    return said


def _type(written: str) -> str:
    name = re.sub(r"[^\w]+", "_", kinship.type_of(written)[0].strip().lower()).strip("_")
    if not name:
        raise PeopleError("the type is empty; write mentor, spouse, friend ...")
    return name


def _told(ends: tuple[IndexedPerson, IndexedPerson], type_: str) -> str:
    return f"{ends[1].name} as {type_} of {ends[0].name}"


def _id(person: IndexedPerson) -> int:
    return person.person_id
