"""Commands that ask an archive: `ask`, `search`, `explore`, `show`, `thread`, `original`, `reveal`, `eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import (
    Config,
    Json,
    Kinds,
    Limit,
    Person,
    ShowSources,
    Since,
    Sources,
    Trace,
    Until,
    Wait,
    Who,
    Why,
    Words,
)

app = typer.Typer()


@app.command(epilog='Example: relrag ask "Who has the key of the cabin?" --from 2024')
def ask(
    question: Words,
    source: Sources = None,
    kind: Kinds = None,
    person: Person = "",
    since: Since = None,
    until: Until = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, max=100, help="At most this many sentences and sources."),
    ] = None,
    as_json: Json = False,
    trace: Trace = False,
    show_sources: ShowSources = False,
    follow_up: Annotated[bool, typer.Option("--continue", help="Ask a follow-up to the last question.")] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show what pseudonyms stand for; this is recorded.")] = False,
    who: Who = "",
    why: Why = "",
    config: Config = None,
) -> None:
    """Answer a question with cited sentences of the archive."""
    limits = dispatch.load("ask").SearchOptions(source or (), kind or (), person, since, until, limit)
    flags = {"as_json": as_json, "trace": trace, "show_sources": show_sources, "follow_up": follow_up}
    dispatch.run("ask", "ask", " ".join(question), limits, config, **flags, reveal=reveal, who=who, why=why)


@app.command(epilog="Example: relrag search invoice --source mail --from 2024-03")
def search(
    query: Words,
    source: Sources = None,
    kind: Kinds = None,
    person: Person = "",
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    as_json: Json = False,
    trace: Trace = False,
    show_sources: ShowSources = False,
    config: Config = None,
) -> None:
    """List the passages that fit best; `relrag show 1` prints the first in full."""
    limits = dispatch.load("ask").SearchOptions(source or (), kind or (), person, since, until, limit)
    dispatch.run(
        "ask", "search", " ".join(query), limits, config, as_json=as_json, trace=trace, show_sources=show_sources
    )


@app.command(epilog='Example: relrag explore "the cabin" --person "Dana Levi"')
def explore(
    query: Words,
    relationships: Annotated[bool, typer.Option(help="Also search relationships between people.")] = True,
    person: Person = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=20, help="At most this many of each.")
    ] = 5,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Show the people, things and records that a question is about.

    Things are the entities and concepts of the archive's GraphRAG index.
    """
    flags = {"relationships": relationships, "limit": limit, "as_json": as_json}
    dispatch.run("explore", "explore", " ".join(query), config, person=person, **flags)


@app.command(epilog="Example: relrag show 1")
def show(
    ref: Annotated[
        str,
        typer.Argument(
            help="A record, passage (chunk:...) or thread (thread:...), or a number of the last answer or search."
        ),
    ],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many related records.")
    ] = 50,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Print one record, passage or thread, and what it is related to."""
    dispatch.run("show", "show", ref, config, limit=limit, as_json=as_json)


@app.command(epilog="Example: relrag thread 1 --limit 20")
def thread(
    ref: Annotated[str, typer.Argument(help="A thread, a record of it, or a number of the last answer or search.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many records, the latest ones.")
    ] = 50,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Print a conversation in order: a thread of mails, or a chat."""
    dispatch.run("show", "thread", ref, config, limit=limit, as_json=as_json)


@app.command(epilog="Example: relrag original photo:IMG_2041.jpg -o photo.jpg")
def original(
    ref: Annotated[str, typer.Argument(help="Id of a record, as `relrag search --show-sources` prints it.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write, or its folder.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    config: Config = None,
) -> None:
    """Copy the file that a record was read from, as it lies among the exports. This is recorded."""
    dispatch.run("original", "original", ref, output, config, force=force)


@app.command(epilog='Example: relrag reveal jsonl:notes:n1 --who Dana --why "tax return"')
def reveal(
    what: Annotated[str, typer.Argument(help="A pseudonym, such as <PHONE_NUMBER:k1:...>, or the id of a record.")],
    who: Who = "",
    why: Why = "",
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Show what a pseudonym stands for, or a record before redaction.

    Who asks and why is recorded first.
    """
    dispatch.run("reveal", "reveal", what, who, why, config, wait=wait)


@app.command("eval", epilog="Example: relrag eval --corpus-questions questions.jsonl --k 5,10")
def evaluate(
    corpus_questions: Annotated[
        Path | None,
        typer.Option("--corpus-questions", metavar="FILE", help="JSON Lines of question and gold, the ids of records."),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option("--sources", metavar="FILE", help="JSON of questions and the sources that an answer must show."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="FILE", help="JSON Lines of questions with right and wrong answers."),
    ] = None,
    k: Annotated[str, typer.Option("--k", metavar="DEPTHS", help="Depths at which recall is measured.")] = "2,5,10",
    history: Annotated[bool, typer.Option("--history", help="Show earlier measurements.")] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Measure the answers to questions whose answers are known."""
    if history:
        dispatch.run("evaluate", "history", config, as_json=as_json)
    files = [path for path in (corpus_questions, sources, answers) if path]
    dispatch.run("evaluate", "evaluate", files, k, config, as_json=as_json)
