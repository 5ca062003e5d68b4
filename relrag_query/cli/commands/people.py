"""`relrag people`: who is who, what is known about them, and the owner's statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.journal.entry_kinds import kind_of
from relrag_query import statements
from relrag_query.archive import Archive
from relrag_query.cli.commands.people_report import (
    numbered_names,
    page_lines,
    title,
)
from relrag_query.cli.json_output import print_json
from relrag_query.cli.table import print_table
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.service.person_replies import person_reply
from relrag_query.statements import StatementReceipt
from relrag_query.statements.suggestions import suggestions as suggested_pairs
from relrag_query.statements.wording import names_before_merges, statement_in_words


def listing(name: str | None = None, config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the people, or those whom a name may mean; returns the exit code."""
    with Archive.open(config) as archive, archive.people() as people:
        matches = list(people.every().values()) if name is None else people.find(name)
        record_counts = archive.records_of_people()
    if as_json:
        return print_json(
            [_person_json(person) | {"records": record_counts.get(person.person_id, 0)} for person in matches]
        )
    rows = [
        (
            str(person.person_id),
            title(person),
            ", ".join(_other_names(person)),
            str(record_counts.get(person.person_id, 0)),
        )
        for person in matches
    ]
    print_table(("id", "name", "also", "records"), rows)
    print(f"{number(len(matches), 'person', 'people')}.")
    return 0


def show(name: str, config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the page about a person; returns the exit code."""
    with Archive.open(config) as archive:
        page = archive.person(name)
        zone, generation = ZoneInfo(archive.settings.timezone), archive.generation.number
    if as_json:
        return print_json(person_reply(page, zone, generation).model_dump(mode="json"))
    for line in page_lines(page, zone):
        print(safe(line))
    return 0


def suggestions(config: Path | None = None, *, limit: int = 20, as_json: bool = False) -> int:
    """Prints pairs that may be one person, the surest first; returns the exit code."""
    with Archive.open(config) as archive, archive.people() as people:
        people_by_id = people.every()
        pairs = suggested_pairs(archive.settings.home_path, people_by_id)[:limit]
    if as_json:
        names = [[people_by_id[pair.person_id].name, people_by_id[pair.other_id].name] for pair in pairs]
        return print_json(
            [pair._asdict() | {"names": pair_names} for pair, pair_names in zip(pairs, names, strict=True)]
        )
    rows = [
        (
            f"{pair.score:.2f}",
            *(
                cell
                for person_id in (pair.person_id, pair.other_id)
                for cell in (str(person_id), people_by_id[person_id].name)
            ),
            "; ".join(pair.evidence),
        )
        for pair in pairs
    ]
    print_table(("score", "id", "name", "id", "name", "why"), rows)
    if pairs:
        first = pairs[0]
        print(f"`relrag people merge {first.person_id} {first.other_id}` states that the first two are one.")
    else:
        print("No two people look like one person.")
    return 0


def merge(into: str, others: Sequence[str], config: Path | None = None, *, wait: float = 0) -> int:
    """States that these are one person; returns the exit code."""
    receipt = statements.merge(into, others, config=config, wait=wait)
    first, *rest = receipt.people
    if not rest:
        return _print_receipt(
            f"that number or address, which had no name, belongs to {numbered_names([first])[0]}", receipt
        )
    return _print_receipt(f"{', '.join(numbered_names(rest))} and {numbered_names([first])[0]} are one person", receipt)


def split(name: str, aliases: Sequence[str], config: Path | None = None, *, wait: float = 0) -> int:
    """States that aliases belong to somebody else; returns the exit code."""
    receipt = statements.split(name, aliases, config=config, wait=wait)
    return _print_receipt(f"{', '.join(aliases)}: somebody other than {numbered_names(receipt.people)[0]}", receipt)


def undo(entry: int | None, config: Path | None = None, *, as_json: bool = False, wait: float = 0) -> int:
    """Withdraws a statement, or lists the statements that can be withdrawn; returns the exit code."""
    if entry is not None:
        return _print_receipt(f"number {entry} is withdrawn", statements.undo(entry, config=config, wait=wait))
    stated = statements.list_statements(settings_module.load(config))
    if as_json:
        return print_json(
            [
                {"number": entry_number, "kind": kind_of(statement), **asdict(statement)}
                for entry_number, statement in stated
            ]
        )
    with Archive.open(config) as archive, archive.people() as people:
        former_names = names_before_merges(statement for _, statement in stated)
        rows = [
            (str(entry_number), *statement_in_words(statement, people, former_names))
            for entry_number, statement in stated
        ]
    print_table(("number", "what", "of whom"), rows)
    print("`relrag people undo NUMBER` withdraws one." if stated else "Nothing was stated about people.")
    return 0


def relate(
    name: str,
    other: str,
    type_: str,
    config: Path | None = None,
    *,
    description: str | None = None,
    attitude: int | None = None,
    proximity: int | None = None,
    notes: Sequence[str] = (),
    remove: bool = False,
    wait: float = 0,
) -> int:
    """States, changes or removes a relationship; returns the exit code."""
    fields: dict[str, Any] = {"description": description, "attitude": attitude, "proximity": proximity}
    with Archive.open(config) as archive, archive.people() as people:
        pair = [people.find_one(name), people.find_one(other)]
        exists = statements.is_known(people, pair[0], pair[1], type_)
    if exists or remove:
        receipt = statements.update_relationship(name, other, type_, **fields, deleted=remove, config=config, wait=wait)
        for note in notes:
            receipt = statements.add_note_to_relationship(name, other, type_, note, config=config, wait=wait)
    else:
        receipt = statements.create_relationship(name, other, type_, **fields, notes=notes, config=config, wait=wait)
    verb = "is no" if remove else "is the"
    return _print_receipt(
        f"{numbered_names(receipt.people)[1]} {verb} {type_} of {numbered_names(receipt.people)[0]}", receipt
    )


def note(name: str, other: str, type_: str, text: str, config: Path | None = None, *, wait: float = 0) -> int:
    """Adds a note to a relationship; returns the exit code."""
    receipt = statements.add_note_to_relationship(name, other, type_, text, config=config, wait=wait)
    return _print_receipt(
        f"noted of {numbered_names(receipt.people)[1]} as {type_} of {numbered_names(receipt.people)[0]}", receipt
    )


def fact(
    name: str,
    predicate: str,
    value: str,
    config: Path | None = None,
    *,
    valid_from: str | None = None,
    valid_to: str | None = None,
    wait: float = 0,
) -> int:
    """States a fact; returns the exit code."""
    receipt = statements.add_fact(name, predicate, value, valid_from, valid_to, config=config, wait=wait)
    return _print_receipt(f"{numbered_names(receipt.people)[0]}: {predicate} {value}", receipt)


def _print_receipt(what: str, receipt: StatementReceipt) -> int:
    notice = f"; {receipt.notice}" if receipt.notice else ""
    print(safe(f"Stated as number {receipt.number}: {what}{notice}."))
    return 0


def _other_names(person: IndexedPerson) -> list[str]:
    names = dict.fromkeys(
        alias["alias"] for alias in person.aliases if alias["kind"] == "name" and alias["alias"] != person.name
    )
    return list(names)


def _person_json(person: IndexedPerson) -> dict[str, Any]:
    aliases = [{name: alias[name] for name in ("alias", "script", "kind", "stated")} for alias in person.aliases]
    return {"person_id": person.person_id, "name": person.name, "is_owner": person.is_owner, "aliases": aliases}
