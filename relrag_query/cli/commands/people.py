"""`relrag people`: who is who, what is known about them, and the owner's statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.json_output import print_json
from relrag_query.cli.options import Config, Json, PersonName, Wait
from relrag_query.cli.table import print_table
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_query.people.indexed_person import IndexedPerson
    from relrag_query.statements import StatementReceipt

app = typer.Typer(help="Who is who, what is known about them, and how they are related.", no_args_is_help=True)


@app.command("list", epilog="Example: relrag people list Dana")
def listing_command(
    name: Annotated[str | None, typer.Argument(help="Only those whom this name may mean.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List people with their other names and number of records."""
    dispatch.run(listing, name, config, as_json=as_json)


@app.command("show", epilog='Example: relrag people show "Dana Levi"')
def show_command(name: PersonName, as_json: Json = False, config: Config = None) -> None:
    """Print everything known about a person."""
    dispatch.run(show, name, config, as_json=as_json)


@app.command("suggestions", epilog="Example: relrag people suggestions -n 5")
def suggestions_command(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many pairs.")] = 20,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List people who may be the same, why, and how likely."""
    dispatch.run(suggestions, config, limit=limit, as_json=as_json)


@app.command("merge", epilog="Example: relrag people merge 7 12")
def merge_command(
    name: PersonName,
    others: Annotated[list[str], typer.Argument(help="The same person; the first one's number stays.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State that these are one person."""
    dispatch.run(merge, name, others, config, wait=wait)


@app.command("split", epilog="Example: relrag people split 7 dana@example.org")
def split_command(
    name: PersonName,
    aliases: Annotated[list[str], typer.Argument(help="Aliases that are somebody else's, as `show` prints them.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State that some aliases of a person are somebody else's."""
    dispatch.run(split, name, aliases, config, wait=wait)


@app.command("undo", epilog="Example: relrag people undo 3")
def undo_command(
    number: Annotated[int | None, typer.Argument(help="Number of the statement; without it, all are listed.")] = None,
    as_json: Json = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Withdraw a statement about people, or list all of them."""
    dispatch.run(undo, number, config, as_json=as_json, wait=wait)


@app.command("relate", epilog='Example: relrag people relate "Dana Levi" "Petr Kolar" mentor --attitude 5')
def relate_command(
    name: PersonName,
    other: PersonName,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="What the second is to the first: mentor, child ...")],
    description: Annotated[str | None, typer.Option("--description", metavar="TEXT", help="In a sentence.")] = None,
    attitude: Annotated[
        int | None,
        typer.Option("--attitude", metavar="N", min=1, max=5, help="From 1, very negative, to 5, very positive."),
    ] = None,
    proximity: Annotated[
        int | None, typer.Option("--proximity", metavar="N", min=1, max=5, help="From 1, distant, to 5, very close.")
    ] = None,
    note: Annotated[list[str] | None, typer.Option("--note", metavar="TEXT", help="May be repeated.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="State that there is no such relationship.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State how one person is related to another, or change it."""
    dispatch.run(
        relate,
        name,
        other,
        type_,
        config,
        description=description,
        attitude=attitude,
        proximity=proximity,
        notes=note or (),
        remove=remove,
        wait=wait,
    )


@app.command("note", epilog='Example: relrag people note "Dana Levi" "Petr Kolar" mentor "lent her the cello"')
def note_command(
    name: PersonName,
    other: PersonName,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Type of the relationship, as `show` prints it.")],
    text: Annotated[str, typer.Argument(help="In your words.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Add a note to a relationship."""
    dispatch.run(note, name, other, type_, text, config, wait=wait)


@app.command("fact", epilog='Example: relrag people fact "Dana Levi" birthday 1986-05-02')
def fact_command(
    name: PersonName,
    predicate: Annotated[str, typer.Argument(help="birthday, occupation, lives_in ...")],
    value: Annotated[str, typer.Argument(help="What it is; a date as 1986-05-02.")],
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="Since when: 2024, 2024-03 or 2024-03-15.")
    ] = None,
    valid_to: Annotated[str | None, typer.Option("--to", metavar="DATE", help="Until when.")] = None,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State a fact about a person."""
    dispatch.run(fact, name, predicate, value, config, valid_from=valid_from, valid_to=valid_to, wait=wait)


def listing(name: str | None = None, config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the people, or those whom a name may mean; returns the exit code."""
    from relrag_query.archive import Archive
    from relrag_query.cli.people_report import title

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
    from relrag_query.archive import Archive
    from relrag_query.cli.people_report import page_lines
    from relrag_query.service.person_replies import person_reply

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
    from relrag_query.archive import Archive
    from relrag_query.statements.suggestions import suggestions as suggested_pairs

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
    from relrag_query import statements
    from relrag_query.cli.people_report import numbered_names

    receipt = statements.merge(into, others, config=config, wait=wait)
    first, *rest = receipt.people
    if not rest:
        return _print_receipt(
            f"that number or address, which had no name, belongs to {numbered_names([first])[0]}", receipt
        )
    return _print_receipt(f"{', '.join(numbered_names(rest))} and {numbered_names([first])[0]} are one person", receipt)


def split(name: str, aliases: Sequence[str], config: Path | None = None, *, wait: float = 0) -> int:
    """States that aliases belong to somebody else; returns the exit code."""
    from relrag_query import statements
    from relrag_query.cli.people_report import numbered_names

    receipt = statements.split(name, aliases, config=config, wait=wait)
    return _print_receipt(f"{', '.join(aliases)}: somebody other than {numbered_names(receipt.people)[0]}", receipt)


def undo(entry: int | None, config: Path | None = None, *, as_json: bool = False, wait: float = 0) -> int:
    """Withdraws a statement, or lists the statements that can be withdrawn; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.journal.entry_kinds import kind_of
    from relrag_query import statements
    from relrag_query.archive import Archive
    from relrag_query.statements.wording import names_before_merges, statement_in_words

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
    from relrag_query import statements
    from relrag_query.archive import Archive
    from relrag_query.cli.people_report import numbered_names

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
    from relrag_query import statements
    from relrag_query.cli.people_report import numbered_names

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
    from relrag_query import statements
    from relrag_query.cli.people_report import numbered_names

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
