"""`relrag people`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, PersonName, Wait

app = typer.Typer(help="Who is who, what is known about them, and how they are related.", no_args_is_help=True)


@app.command("list", epilog="Example: relrag people list Dana")
def listing(
    name: Annotated[str | None, typer.Argument(help="Only those whom this name may mean.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List people with their other names and number of records."""
    dispatch.run("people", "listing", name, config, as_json=as_json)


@app.command("show", epilog='Example: relrag people show "Dana Levi"')
def show(name: PersonName, as_json: Json = False, config: Config = None) -> None:
    """Print everything known about a person."""
    dispatch.run("people", "show", name, config, as_json=as_json)


@app.command("suggestions", epilog="Example: relrag people suggestions -n 5")
def suggestions(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many pairs.")] = 20,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List people who may be the same, why, and how likely."""
    dispatch.run("people", "suggestions", config, limit=limit, as_json=as_json)


@app.command("merge", epilog="Example: relrag people merge 7 12")
def merge(
    name: PersonName,
    others: Annotated[list[str], typer.Argument(help="The same person; the first one's number stays.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State that these are one person."""
    dispatch.run("people", "merge", name, others, config, wait=wait)


@app.command("split", epilog="Example: relrag people split 7 dana@example.org")
def split(
    name: PersonName,
    aliases: Annotated[list[str], typer.Argument(help="Aliases that are somebody else's, as `show` prints them.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State that some aliases of a person are somebody else's."""
    dispatch.run("people", "split", name, aliases, config, wait=wait)


@app.command("undo", epilog="Example: relrag people undo 3")
def undo(
    number: Annotated[int | None, typer.Argument(help="Number of the statement; without it, all are listed.")] = None,
    as_json: Json = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Withdraw a statement about people, or list all of them."""
    dispatch.run("people", "undo", number, config, as_json=as_json, wait=wait)


@app.command("relate", epilog='Example: relrag people relate "Dana Levi" "Petr Kolar" mentor --attitude 5')
def relate(
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
    fields: dict[str, Any] = {"description": description, "attitude": attitude, "proximity": proximity}
    dispatch.run("people", "relate", name, other, type_, config, **fields, notes=note or (), remove=remove, wait=wait)


@app.command("note", epilog='Example: relrag people note "Dana Levi" "Petr Kolar" mentor "lent her the cello"')
def note(
    name: PersonName,
    other: PersonName,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Type of the relationship, as `show` prints it.")],
    text: Annotated[str, typer.Argument(help="In your words.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Add a note to a relationship."""
    dispatch.run("people", "note", name, other, type_, text, config, wait=wait)


@app.command("fact", epilog='Example: relrag people fact "Dana Levi" birthday 1986-05-02')
def fact(
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
    dispatch.run("people", "fact", name, predicate, value, config, valid_from=valid_from, valid_to=valid_to, wait=wait)
