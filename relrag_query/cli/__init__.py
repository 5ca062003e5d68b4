"""The `relrag` command. What a command needs is imported when it runs, so that `relrag --help` stays quick.

Exit codes: 0 done, 1 done with failures that are listed, 2 could not run. A failure that the last `sync` or `backfill`
told of does not count any more, unless with --strict.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import access
from relrag_pipelines.privacy.output_guard import install_exception_hooks, suppress_library_output

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    # rich help pages take four times as long as all the rest
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

calls = typer.Typer(help="Recorded calls: list them, approve transcripts, swap speakers.", no_args_is_help=True)
app.add_typer(calls, name="calls")
graphrag = typer.Typer(help="GraphRAG indexes: ask them, trace their answers to pages.", no_args_is_help=True)
app.add_typer(graphrag, name="graphrag")
people = typer.Typer(help="Who is who, what is known of them, and what they are to one another.", no_args_is_help=True)
app.add_typer(people, name="people")
pii = typer.Typer(help="Personal data: how much was replaced, and what is found in a text.", no_args_is_help=True)
app.add_typer(pii, name="pii")

Config = Annotated[Path | None, typer.Option("--config", "-c", help="relrag.toml to use; else the nearest one.")]
Sources = Annotated[list[str] | None, typer.Option("--source", help="Only this source; may be given again.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only this kind; may be given again.")]
Since = Annotated[str | None, typer.Option("--from", help="Nothing earlier: 2024, 2024-03 or 2024-03-15.")]
Until = Annotated[str | None, typer.Option("--to", help="Nothing later: 2024, 2024-03 or 2024-03-15.")]
_MOST_SAID = "How many sentences and sources at most."
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, max=100, help="How many passages at most.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Trace = Annotated[bool, typer.Option("--trace", help="Say what each step did.")]
Wait = Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait for another sync to end.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 for failures that were told before, too.")]
CallIds = Annotated[list[str] | None, typer.Argument(help="Ids, or how they begin; `relrag calls list` shows them.")]
PersonName = Annotated[str, typer.Argument(help="A name, an alias or a number of `relrag people list`.")]
ServedIndex = Annotated[
    Path | None, typer.Option("--index", help="A folder with GraphRAG's parquet files, for traces of citations.")
]
Who = Annotated[str, typer.Option("--who", help="Who asks to see originals; noted in private/reveals.jsonl.")]
Why = Annotated[str, typer.Option("--why", help="What for; noted with it.")]
Words = Annotated[list[str], typer.Argument(help="In any of the archive's languages.")]


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"relrag {version('relrag')}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Answers from your own written memory: chats, mail, documents, calls, commits."""


@app.command()
def ask(
    question: Words,
    source: Sources = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=100, help=_MOST_SAID)] = None,
    as_json: Json = False,
    trace: Trace = False,
    show_sources: Annotated[bool, typer.Option("--show-sources", help="Print ids and text of each source.")] = False,
    follow_up: Annotated[bool, typer.Option("--continue", help="Go on from the last question.")] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Say what pseudonyms stand for; noted.")] = False,
    who: Who = "",
    why: Why = "",
    config: Config = None,
) -> None:
    """Answer a question with sentences of the archive and their sources."""
    limits = _load("ask").SearchOptions(source or (), kind or (), since, until, limit)
    flags = {"as_json": as_json, "trace": trace, "show_sources": show_sources, "follow_up": follow_up}
    _run("ask", "ask", " ".join(question), limits, config, **flags, reveal=reveal, who=who, why=why)


@app.command()
def search(
    query: Words,
    source: Sources = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    as_json: Json = False,
    trace: Trace = False,
    config: Config = None,
) -> None:
    """List the passages that fit best."""
    limits = _load("ask").SearchOptions(source or (), kind or (), since, until, limit)
    _run("ask", "search", " ".join(query), limits, config, as_json=as_json, trace=trace)


@app.command()
def explore(
    query: Words,
    relationships: Annotated[bool, typer.Option(help="Search what people are to one another, too.")] = True,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=20, help="How many of each at most.")] = 5,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Say which people, relationships and records a question is about."""
    _run("explore", "explore", " ".join(query), config, relationships=relationships, limit=limit, as_json=as_json)


@app.command()
def show(
    ref: Annotated[
        str,
        typer.Argument(help="A record, passage (chunk:...) or thread (thread:...), or a number of the last answer."),
    ],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many related records at most.")] = 50,
    config: Config = None,
) -> None:
    """Print one record, passage or thread, and what it is related to."""
    _run("show", "show", ref, config, limit=limit)


@app.command()
def thread(
    ref: Annotated[str, typer.Argument(help="A thread, a record of it, or a number of the last answer.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many records, the last ones, at most.")] = 50,
    config: Config = None,
) -> None:
    """Print a conversation in order: a thread of mails, or a chat."""
    _run("show", "thread", ref, config, limit=limit)


@app.command()
def reveal(
    what: Annotated[str, typer.Argument(help="A pseudonym, such as <PHONE_NUMBER:k1:...>, or the id of a record.")],
    who: Who = "",
    why: Why = "",
    config: Config = None,
) -> None:
    """Show what a pseudonym stands for, or a record unredacted; who asks and why is noted first."""
    _run("reveal", "reveal", what, who, why, config)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Where your exports are; else the current folder.")] = Path(),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where relrag.toml is written.")] = None,
    owner: Annotated[str, typer.Option("--owner", help="Whose archive it is, by the name in chats and mails.")] = "",
    redaction: Annotated[str, typer.Option("--redaction", help="How much is hidden: balanced, strict or off.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a relrag.toml that is there; a copy is kept.")
    ] = False,
) -> None:
    """Look into a folder, show what was recognised, and write relrag.toml."""
    _run("init", "init", folder, output=output, owner=owner, redaction=redaction, yes=yes, force=force)


@app.command()
def sync(
    full: Annotated[bool, typer.Option("--full", help="Read everything again, not only what changed.")] = False,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Go on even if much of a source has vanished.")
    ] = False,
    strict: Strict = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Bring the index up to date with the sources."""
    _run("sync", "sync", config, full=full, accept_deletions=accept_deletions, strict=strict, wait=wait)


@app.command()
def plan(as_json: Json = False, config: Config = None) -> None:
    """Say what a sync would do, and why."""
    _run("plan", "plan", config, as_json=as_json)


@app.command()
def backfill(
    source: Annotated[str, typer.Option("--source", help="Name of the source.")],
    first: Annotated[str, typer.Option("--from", help="First month, YYYY-MM.")],
    last: Annotated[str, typer.Option("--to", help="Last month, YYYY-MM.")],
    strict: Strict = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Make months of one source again."""
    _run("sync", "backfill", source, first, last, config, strict=strict, wait=wait)


@app.command("eval")
def evaluate(
    corpus_questions: Annotated[
        Path | None, typer.Option("--corpus-questions", help="JSON Lines of question and gold, the ids of records.")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option("--sources", help="JSON of questions and the sources that an answer must show.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="JSON Lines of questions, what answers and what must not."),
    ] = None,
    k: Annotated[str, typer.Option("--k", help="Depths at which recall is measured.")] = "2,5,10",
    history: Annotated[bool, typer.Option("--history", help="Show what was measured so far.")] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Measure how well the archive answers questions whose answers are known."""
    if history:
        _run("evaluate", "history", config, as_json=as_json)
    given = [path for path in (corpus_questions, sources, answers) if path]
    _run("evaluate", "evaluate", given, k, config, as_json=as_json)


@app.command()
def forget(
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="REF", help="Ids of records, passages or threads (thread:...).")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", help="All of this source, which is read no more.")] = None,
    person: Annotated[
        str | None, typer.Option("--person", help="Whatever names them: a name, an address or a phone number.")
    ] = None,
    before: Annotated[str | None, typer.Option("--before", help="Older than 2024, 2024-03 or 2024-03-15.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    list_rules: Annotated[bool, typer.Option("--list", help="Say what was forgotten so far.")] = False,
    undo: Annotated[
        int | None, typer.Option("--undo", metavar="RULE", help="Take back the rule of that number.")
    ] = None,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Remove records everywhere, keep them out for good, and show that nothing is left."""
    if list_rules:
        _run("forget", "listed", config)
    if undo is not None:
        _run("forget", "undo", undo, config, wait=wait)
    wanted = _load("forget").ForgetRequest(refs or (), source, person, before)
    _run("forget", "forget", wanted, config, yes=yes, wait=wait)


@app.command()
def status(
    as_json: Json = False,
    failures: Annotated[bool, typer.Option("--failures", help="List what could not be read.")] = False,
    config: Config = None,
) -> None:
    """Say what is indexed, per source, and what failed."""
    _run("status", "status", config, as_json=as_json, failures=failures)


@calls.command("list")
def calls_list(
    state: Annotated[str | None, typer.Option("--state", help="Only pending, transcribed, approved or error.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List recorded calls with their states, ids, speakers and files."""
    _run("calls", "listing", state, config, as_json=as_json)


@calls.command("approve")
def calls_approve(
    ids: CallIds = None,
    everything: Annotated[bool, typer.Option("--all", help="All that are transcribed.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Approve transcripts, so that the next sync indexes them."""
    _run("calls", "approve", ids or [], config, everything=everything, wait=wait)


@calls.command("swap-speakers")
def calls_swap_speakers(ids: CallIds, wait: Wait = 0, config: Config = None) -> None:
    """Let the two speakers of a call stand for each other; a second time takes it back."""
    _run("calls", "swap_speakers", ids or [], config, wait=wait)


@people.command("list")
def people_list(
    name: Annotated[str | None, typer.Argument(help="Only those whom this name may mean.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List the people, with their other names and how many records they have to do with."""
    _run("people", "listing", name, config, as_json=as_json)


@people.command("show")
def people_show(name: PersonName, as_json: Json = False, config: Config = None) -> None:
    """Print all that is known of a person."""
    _run("people", "show", name, config, as_json=as_json)


@people.command("suggestions")
def people_suggestions(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")] = 20,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Say who may be one person, why, and how surely."""
    _run("people", "suggestions", config, limit=limit, as_json=as_json)


@people.command("merge")
def people_merge(
    name: PersonName,
    others: Annotated[list[str], typer.Argument(help="Who is the same; the first one's number stays.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Say that these are one person."""
    _run("people", "merge", name, others, config, wait=wait)


@people.command("split")
def people_split(
    name: PersonName,
    aliases: Annotated[list[str], typer.Argument(help="Aliases that are somebody else's, as `show` prints them.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Say that some aliases of a person are somebody else's."""
    _run("people", "split", name, aliases, config, wait=wait)


@people.command("undo")
def people_undo(
    number: Annotated[int | None, typer.Argument(help="Of the statement; without it, list them.")] = None,
    as_json: Json = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Take back what was said of people, or list what was said."""
    _run("people", "undo", number, config, as_json=as_json, wait=wait)


@people.command("relate")
def people_relate(
    name: PersonName,
    other: PersonName,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="What the second is to the first: mentor, child ...")],
    description: Annotated[str | None, typer.Option("--description", help="In a sentence.")] = None,
    attitude: Annotated[int | None, typer.Option("--attitude", min=1, max=5, help="5: very positive.")] = None,
    proximity: Annotated[int | None, typer.Option("--proximity", min=1, max=5, help="5: very close.")] = None,
    note: Annotated[list[str] | None, typer.Option("--note", help="May be given again.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="There is no such relationship.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Say what one person is to another; what is there already is changed."""
    about: dict[str, Any] = {"description": description, "attitude": attitude, "proximity": proximity}
    _run("people", "relate", name, other, type_, config, **about, notes=note or (), remove=remove, wait=wait)


@people.command("note")
def people_note(
    name: PersonName,
    other: PersonName,
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Of the relationship, as `show` prints it.")],
    text: Annotated[str, typer.Argument(help="In your words.")],
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Add a note to a relationship."""
    _run("people", "note", name, other, type_, text, config, wait=wait)


@people.command("fact")
def people_fact(
    name: PersonName,
    predicate: Annotated[str, typer.Argument(help="birthday, occupation, lives_in ...")],
    value: Annotated[str, typer.Argument(help="Dates as 1986-05-02.")],
    valid_from: Annotated[str | None, typer.Option("--from", help="Since when: 2024, 2024-03 or 2024-03-15.")] = None,
    valid_to: Annotated[str | None, typer.Option("--to", help="Until when.")] = None,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """State a fact of a person."""
    _run("people", "fact", name, predicate, value, config, valid_from=valid_from, valid_to=valid_to, wait=wait)


@graphrag.command("query")
def graphrag_query(
    collection: Annotated[str, typer.Argument(help="Name of an index; `archive` is that of everything.")],
    question: Words,
    method: Annotated[str, typer.Option("--method", help="local, global or basic; see docs/graphrag.md.")] = "local",
    show_sources: Annotated[bool, typer.Option("--show-sources", help="Trace the citations to pages.")] = False,
    documents: Annotated[bool, typer.Option("--by-document", help="One line a document, not one a page.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many documents and pages at most.")] = 10,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Answer a question from a GraphRAG index, with citations."""
    asked = " ".join(question)
    shown = {"method": method, "show_sources": show_sources, "documents": documents, "limit": limit}
    _run("graphrag", "query", collection, asked, config, as_json=as_json, **shown)


@graphrag.command("add")
def graphrag_add(
    name: Annotated[str, typer.Argument(help="What it is called from now on.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where its parquet files lie, or a folder above.")],
    config: Config = None,
) -> None:
    """Give an index that Microsoft's GraphRAG wrote, of any version, a name."""
    _run("graphrag", "add", name, folder, config)


@graphrag.command("remove")
def graphrag_remove(name: Annotated[str, typer.Argument(help="Its name.")], config: Config = None) -> None:
    """Take the name of an index that lies elsewhere back; its files stay."""
    _run("graphrag", "remove", name, config)


@graphrag.command("list")
def graphrag_list(as_json: Json = False, config: Config = None) -> None:
    """List the indexes that can be asked."""
    _run("graphrag", "listing", config, as_json=as_json)


@graphrag.command("status")
def graphrag_status(
    name: Annotated[str, typer.Argument(help="Name of an index.")] = "archive",
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Say where an index lies, what it holds and what is wrong with it."""
    _run("graphrag", "status", name, config, as_json=as_json)


@pii.command("report")
def pii_report(as_json: Json = False, config: Config = None) -> None:
    """Count what was replaced, by entity, channel and month; no values."""
    _run("pii", "report", config, as_json=as_json)


@pii.command("test")
def pii_test(
    text: Annotated[str, typer.Argument(help="Any text; it is looked at on this machine and not kept.")],
    channel: Annotated[str, typer.Option("--channel", help="Whose policy; docs/settings.md lists them.")] = "default",
    config: Config = None,
) -> None:
    """Show what is found in a text, why, and what becomes of it."""
    _run("pii", "test", text, channel, config)


@graphrag.command("trace")
def graphrag_trace(
    answer: Annotated[Path, typer.Argument(help="A file with the text of an answer; - reads standard input.")],
    index: Annotated[
        Path, typer.Option("--index", help="The folder with the parquet files that GraphRAG wrote, of any version.")
    ],
    question: Annotated[str, typer.Option("--question", help="What was asked; it helps to choose what to quote.")] = "",
    documents: Annotated[bool, typer.Option("--by-document", help="One line a document, not one a page.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many documents and pages at most.")] = 10,
    as_json: Json = False,
) -> None:
    """Trace the citations of a GraphRAG answer to documents and pages."""
    _run("graphrag", "trace", answer, index, question, documents=documents, limit=limit, as_json=as_json)


@app.command()
def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Make again what differs, where that is possible.")] = False,
    pii: Annotated[
        bool, typer.Option("--pii", help="Look outside private/ for the values that were replaced, instead.")
    ] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Read everything that is stored again, and name what differs."""
    if pii and repair:
        raise typer.BadParameter("--pii only looks; it goes without --repair")
    _run("verify", "scan_pii" if pii else "verify", config, wait=wait, **({} if pii else {"repair": repair}))


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder, on another disk if there is one.")],
    everything: Annotated[bool, typer.Option("--all", help="Also what can be made again.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Copy what cannot be made again: settings, keys, and records whose files may be gone."""
    _run("backup", "backup", folder, config, everything=everything, wait=wait)


@app.command()
def restore(
    folder: Annotated[Path, typer.Argument(help="A folder that `relrag backup` wrote.")],
    to: Annotated[Path | None, typer.Option("--to", help="Where relrag.toml goes; else the current folder.")] = None,
    keys: Annotated[Path | None, typer.Option("--keys", help="The keys, where they are kept apart.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Check a backup and put it back."""
    _run("backup", "restore", folder, to=to, keys=keys, force=force)


@app.command()
def doctor(config: Config = None) -> None:
    """Say what is wrong with this machine, folder or configuration."""
    _run("doctor", "doctor", config)


@app.command()
def ui(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 3000,
    read_only: Annotated[bool, typer.Option("--read-only", help="For looking only.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    login: Annotated[bool, typer.Option("--login", help="Only print a link to one that is running.")] = False,
    config: Config = None,
) -> None:
    """Serve Dagster's UI and daemon on the archive's own instance.

    Whoever opens the link that is printed is logged in; it works once. --login prints another one.
    """
    _run("ui", "ui", config, port=port, read_only=read_only, host=host, login=login)


@app.command()
def serve(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 3100,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    login: Annotated[bool, typer.Option("--login", help="Only print a link to one that is running.")] = False,
    token: Annotated[bool, typer.Option("--token", help="Only print the token that programs show.")] = False,
    new_token: Annotated[bool, typer.Option("--new-token", help="Make another token, and print it.")] = False,
    index: ServedIndex = None,
    config: Config = None,
) -> None:
    """Serve pages, an API and MCP for this archive.

    Whoever opens the link that is printed is logged in; it works once. --login prints another one.
    """
    _run("serve", "serve", config, port=port, host=host, login=login, token=token, new_token=new_token, index=index)


@app.command()
def mcp(index: ServedIndex = None, config: Config = None) -> None:
    """Serve the archive as tools to a language model, on standard input and output (MCP)."""
    _run("serve", "mcp", config, index=index)


def main() -> NoReturn:
    """The console script."""
    # when it is done nothing is left to do, and taking apart all that was imported would take 0.7 s after a sync
    os._exit(command())


def command() -> int:
    """Runs the command that the arguments name; returns its exit code, with all output written."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    install_exception_hooks()
    access.owner_only()
    code: object = 0
    try:
        try:
            with suppress_library_output():
                app()
        except SystemExit as end:
            code = end.code
        if isinstance(code, str):  # no command ends like that, but what it calls may
            code = _fail("unexpected end; this is a fault of relrag, please report it")
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        code = _fail(f"{os.strerror(error.errno) if error.errno else type(error).__name__}{_place(error.filename)}")
    except Exception as error:  # noqa: BLE001 - the last place to turn a fault into one line without private text
        code = _fail(_said(error))
    return code if isinstance(code, int) else int(code is not None)


def _run(module: str, name: str, *args: Any, **options: Any) -> NoReturn:
    try:
        code = getattr(_load(module), name)(*args, **options)
    except KeyboardInterrupt:
        code = 130
    raise typer.Exit(code)


def _load(module: str) -> Any:
    return importlib.import_module(f"relrag_query.cli.commands.{module}")


def _said(error: Exception) -> str:
    """Foreseen errors are written for the reader; others may hold text of the archive, and are not shown."""
    if isinstance(error, RelragError):
        return str(error)
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "unknown"
    return f"unexpected {type(error).__name__} at {place}; this is a fault of relrag, please report it"


def _place(filename: object) -> str:
    """The file that an error is about, unless it is an export: the name of a chat can be that of a person."""
    path = Path(str(filename or ""))
    ours = any((folder / "private").is_dir() for folder in path.parents) or str(path) in sys.argv
    return f": {path}" if filename and (ours or path.name == "relrag.toml") else ""


def _fail(message: str) -> int:
    print(f"relrag: {message}", file=sys.stderr, flush=True)
    return 2


if __name__ == "__main__":
    main()
