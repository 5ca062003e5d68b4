"""`relrag search` and `relrag ask`: read the published archive."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import (
    Added,
    Attachment,
    Config,
    Json,
    Kinds,
    Limit,
    Person,
    SearchWords,
    ShowSources,
    Since,
    Sources,
    Trace,
    Until,
    Who,
    Why,
    Words,
)
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from pydantic import BaseModel

    from relrag_pipelines.settings import Settings

app = typer.Typer()


@app.command("ask", epilog='Example: relrag ask "Who has the key of the cabin?" --from 2024')
def ask_command(
    question: Words,
    source: Sources = None,
    kind: Kinds = None,
    person: Person = "",
    since: Since = None,
    until: Until = None,
    attachment: Attachment = None,
    added: Added = None,
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
    limits = SearchOptions(source or (), kind or (), person, since, until, attachment, added, limit)
    dispatch.run(
        ask,
        " ".join(question),
        limits,
        config,
        as_json=as_json,
        trace=trace,
        show_sources=show_sources,
        follow_up=follow_up,
        reveal=reveal,
        who=who,
        why=why,
    )


@app.command("search", epilog="Example: relrag search invoice --source mail --from 2024-03")
def search_command(
    query: SearchWords = None,
    source: Sources = None,
    kind: Kinds = None,
    person: Person = "",
    since: Since = None,
    until: Until = None,
    attachment: Attachment = None,
    added: Added = None,
    limit: Limit = None,
    as_json: Json = False,
    trace: Trace = False,
    show_sources: ShowSources = False,
    config: Config = None,
) -> None:
    """List the passages that fit best, or the newest records; `relrag show 1` prints the first in full."""
    limits = SearchOptions(source or (), kind or (), person, since, until, attachment, added, limit)
    dispatch.run(search, " ".join(query or ()), limits, config, as_json=as_json, trace=trace, show_sources=show_sources)


@dataclass(frozen=True)
class SearchOptions:
    """The filters of a query."""

    sources: Sequence[str] = ()
    kinds: Sequence[str] = ()
    person: str = ""
    since: str | None = None
    until: str | None = None
    attachment: str | None = None
    added: str | None = None
    limit: int | None = None

    def options(self) -> dict[str, Any]:
        """The filters as `Archive.search` and `Archive.ask` take them."""
        return {option.name: getattr(self, option.name) for option in fields(self)}


def search(
    query: str,
    limits: SearchOptions,
    config: Path | None = None,
    *,
    as_json: bool = False,
    trace: bool = False,
    show_sources: bool = False,
) -> int:
    """Prints the passages that fit best, without words the newest records, and stores their ids for `show NUMBER`.

    Returns the exit code.
    """
    from relrag_query.archive import Archive
    from relrag_query.cli import conversation, render
    from relrag_query.service import replies

    with Archive.open(config) as archive:
        results = archive.search(query, **limits.options())
        conversation.keep_hits(archive.settings.home_path, results, archive.generation.number)
        zone = ZoneInfo(archive.settings.timezone)
    if as_json:
        _print_json(replies.search_reply(results, zone, archive.generation.number))
    else:
        print(render.search_text(results, zone, show_sources))
        _print_trace(results.trace if trace else [])
    return 0


def ask(
    question: str,
    limits: SearchOptions,
    config: Path | None = None,
    *,
    as_json: bool = False,
    trace: bool = False,
    show_sources: bool = False,
    follow_up: bool = False,
    reveal: bool = False,
    who: str = "",
    why: str = "",
) -> int:
    """Prints the answer with its sources; returns the exit code. A `follow_up` continues from the last question.

    With `reveal`, each pseudonym is followed by its original value, on a terminal only.
    """
    from relrag_query.archive import Archive, ArchiveError
    from relrag_query.cli import conversation, render
    from relrag_query.service import replies

    if reveal and (as_json or not sys.stdout.isatty()):
        raise ArchiveError("--reveal shows originals on a terminal only, not to a file, a program or as JSON")
    pieces: list[str] = []

    def print_piece(piece: str) -> None:
        pieces.append(piece)
        print(safe(piece), end="", flush=True)

    with Archive.open(config) as archive:
        home = archive.settings.home_path
        earlier_questions = _earlier_questions(home) if follow_up else []
        on_text = None if as_json or reveal else print_piece
        answer = archive.ask(_require_text(question), **limits.options(), follows=earlier_questions, on_text=on_text)
        conversation.keep(home, answer, earlier_questions, archive.generation.number)
        zone = ZoneInfo(archive.settings.timezone)
        settings = archive.settings
    if pieces:
        print("\n")
    if as_json:
        _print_json(replies.answer_reply(answer, zone, archive.generation.number))
    else:
        terminal = sys.stdout.isatty() and not reveal
        text = render.answer_text(answer, zone, show_sources, printed=bool(pieces), terminal=terminal)
        print(_reveal_pseudonyms(text, settings, who, why) if reveal else text)
        _print_hint(text if not reveal and sys.stdout.isatty() else "")
        _print_trace(answer.trace if trace else [])
    return 0


def _earlier_questions(home: Path) -> list[str]:
    """The questions that a follow-up continues from. Raises ArchiveError where there are none."""
    from relrag_query.archive import ArchiveError
    from relrag_query.cli import conversation

    if questions := conversation.load(home).questions:
        return questions
    raise ArchiveError("there is no question to follow up; ask one without --continue first")


def _reveal_pseudonyms(text: str, settings: Settings, who: str, why: str) -> str:
    """The text with the original values of its pseudonyms, after recording who asks and why."""
    from relrag_pipelines.pii import reveal as pii_reveal
    from relrag_pipelines.privacy import pseudonyms
    from relrag_query.cli.commands.reveal import note

    if names := pseudonyms.all_in(text):
        note(settings, who, why, names)
        text = pii_reveal.in_text(text, pii_reveal.originals(settings.home_path, settings.key_store.load(), names))
    return text


def _print_hint(text: str) -> None:
    """Prints how to reveal the redacted values of an answer, if it has any."""
    from relrag_pipelines.privacy import pseudonyms

    if pseudonyms.all_in(text):
        print("\nValues in <...> are hidden; `relrag ask --reveal` shows them, and records who asked and why.")
    elif pseudonyms.TYPE.search(text):
        print("\nValues in <...> are hidden; `relrag reveal ID` shows a record before redaction (ids: --show-sources).")


def _require_text(text: str) -> str:
    from relrag_query.archive import ArchiveError

    if not text.strip():
        raise ArchiveError("the question is empty")
    return text


def _print_json(reply: BaseModel) -> None:
    sys.stdout.write(reply.model_dump_json(indent=2, exclude={"next_cursor"}) + "\n")


def _print_trace(lines: list[str]) -> None:
    if lines:
        print("\nTrace:")
    for line in lines:
        print(f"  {safe(line)}")
