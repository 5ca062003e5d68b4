"""`relrag graphrag`: asks GraphRAG indexes, and traces their answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relrag_pipelines.errors import RelragError
from relrag_pipelines.stores.lock import LockedByOther
from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE, WITH_FAILURES
from relrag_query.cli.options import Config, Json, Words
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_query.graphrag.index import Index

app = typer.Typer(help="GraphRAG indexes: ask them, trace their answers to pages.", no_args_is_help=True)


@app.command("query", epilog='Example: relrag graphrag query archive "What is talked about?" --method global')
def query_command(
    collection: Annotated[str, typer.Argument(help="Name of an index; `archive` covers everything.")],
    question: Words,
    method: Annotated[
        str, typer.Option("--method", metavar="METHOD", help="local, global or basic; see docs/graphrag.md.")
    ] = "local",
    show_sources: Annotated[bool, typer.Option("--show-sources", help="Trace the citations to pages.")] = False,
    documents: Annotated[bool, typer.Option("--by-document", help="One line per document, not per page.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many documents and pages.")
    ] = 10,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Answer a question from a GraphRAG index, with citations."""
    words = " ".join(question)
    dispatch.run(
        query,
        collection,
        words,
        config,
        as_json=as_json,
        method=method,
        show_sources=show_sources,
        documents=documents,
        limit=limit,
    )


@app.command("add", epilog="Example: relrag graphrag add books ~/graphrag/output")
def add_command(
    name: Annotated[str, typer.Argument(help="The new name.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of its parquet files, or one above it.")],
    config: Config = None,
) -> None:
    """Name an index that any version of Microsoft's GraphRAG wrote."""
    dispatch.run(add, name, folder, config)


@app.command("remove", epilog="Example: relrag graphrag remove books")
def remove_command(name: Annotated[str, typer.Argument(help="Its name.")], config: Config = None) -> None:
    """Remove the name of an index stored elsewhere; its files stay."""
    dispatch.run(remove, name, config)


@app.command("list", epilog="Example: relrag graphrag list")
def listing_command(as_json: Json = False, config: Config = None) -> None:
    """List the indexes that can be asked."""
    dispatch.run(listing, config, as_json=as_json)


@app.command("status", epilog="Example: relrag graphrag status archive")
def status_command(
    name: Annotated[str, typer.Argument(help="Name of an index.")] = "archive",
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Show where an index is, what it contains and what is wrong."""
    dispatch.run(status, name, config, as_json=as_json)


@app.command("trace", epilog="Example: relrag graphrag trace answer.txt --index ~/graphrag/output")
def trace_command(
    answer: Annotated[Path, typer.Argument(help="A file with the text of an answer; - reads standard input.")],
    index: Annotated[
        Path,
        typer.Option(
            "--index", metavar="DIR", help="The folder with the parquet files that GraphRAG wrote, of any version."
        ),
    ],
    question: Annotated[
        str, typer.Option("--question", metavar="TEXT", help="The question; it helps to choose quotes.")
    ] = "",
    documents: Annotated[bool, typer.Option("--by-document", help="One line per document, not per page.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many documents and pages.")
    ] = 10,
    as_json: Json = False,
) -> None:
    """Trace the citations of a GraphRAG answer to documents and pages."""
    dispatch.run(trace, answer, index, question, documents=documents, limit=limit, as_json=as_json)


_MAX_ANSWER_BYTES = 10_000_000
"""no model writes an answer as long"""


class UnknownMethod(RelragError):
    """An unknown search method; the message lists the methods."""


class AnswerUnreadable(RelragError):
    """The answer to be traced could not be read."""


def trace(
    answer: Path, index: Path, question: str = "", *, documents: bool = False, limit: int = 10, as_json: bool = False
) -> int:
    """Prints the documents and pages that an answer cites; returns the exit code."""
    from relrag_query.cli import source_references
    from relrag_query.graphrag.index import open_index
    from relrag_query.graphrag.trace import trace as trace_citations
    from relrag_query.graphrag.trace_reply import trace_reply

    text = _read(answer)
    graph = _redact_index(open_index(index))
    citations = trace_citations(text, graph, question)
    if as_json:
        print(trace_reply(citations, graph).model_dump_json(indent=1, exclude={"next_cursor"}))
    else:
        print(source_references.as_text(citations, graph, documents=documents, limit=limit))
    return DONE


def _redact_index(index: Index) -> Index:
    """The index, redacted by the policies of the nearest archive; unchanged if there is no archive."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError
    from relrag_query.graphrag import collections

    try:
        config = settings_module.find_config()
    except SettingsError:
        return index
    return collections.redact_if_stale(settings_module.load(config), index)


def query(
    collection: str,
    question: str,
    config: Path | None = None,
    *,
    method: str = "local",
    show_sources: bool = False,
    documents: bool = False,
    limit: int = 10,
    as_json: bool = False,
) -> int:
    """Prints the answer of an index, with citations; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_query.cli import graph_answer, source_references
    from relrag_query.graphrag import service
    from relrag_query.graphrag.answer import METHODS
    from relrag_query.graphrag.answer_reply import answer_reply

    if method not in METHODS:
        raise UnknownMethod(f'"{method}" is not a method; methods: {", ".join(METHODS)}')
    answer = service.query(settings_module.load(config), collection, question, method)
    if as_json:
        print(answer_reply(answer, collection).model_dump_json(indent=1))
        return DONE
    print(graph_answer.as_text(answer))
    if show_sources:
        print()
        print(source_references.as_text(answer.trace, answer.index, documents=documents, limit=limit))
    return DONE


def add(name: str, folder: Path, config: Path | None = None) -> int:
    """Registers an index outside the archive, and embeds its entities; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.model_service import EmbeddingError
    from relrag_query.graphrag import collections, integrity

    settings, failure = settings_module.load(config), ""
    try:
        index = collections.add(settings, name, folder)
    except (EmbeddingError, LockedByOther) as error:
        failure, (_, index) = str(error), collections.load(settings, name)
    print(f'{name}: GraphRAG {index.layout}, {index.folder}. Ask it: relrag graphrag query {name} "..."')
    if vectors := len(index.tables["record_texts"]):
        print(f"{vectors} of {len(index.tables['entities'])} entities are found by meaning, too.")
    for problem in [*index.problems, *integrity.problems(index)]:
        print(f"problem: {problem}")
    if failure:
        print(f"It is searched by words only: {failure}. Add it again to try again.")
    return WITH_FAILURES if failure else DONE


def remove(name: str, config: Path | None = None) -> int:
    """Removes a registered name; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_query.graphrag import collections

    collections.remove(settings_module.load(config), name)
    print(f"{name} is no longer the name of an index; its files were not touched.")
    return DONE


def listing(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints all indexes that can be queried; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_query.graphrag import collections

    indexes = collections.list_indexes(settings_module.load(config))
    if as_json:
        rows = [{"name": index.name, "index_path": str(index.folder or ""), "own": index.own} for index in indexes]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return DONE
    for index in indexes:
        problems = "; ".join(collections.problems(index))
        location = "of this archive" if index.own else index.folder
        print(safe(f"{index.name}  {location}{f'  ({problems})' if problems else ''}"))
    if not indexes:
        print("There are no GraphRAG indexes: write [graphrag] into relrag.toml, or `relrag graphrag add NAME DIR`.")
    return DONE


def status(name: str, config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints where an index is, what it contains and what is wrong with it; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.stores import graph_indexes
    from relrag_query.cli import graph_answer
    from relrag_query.graphrag import collections, integrity

    settings = settings_module.load(config)
    registration, index = collections.load(settings, name)
    info = graph_indexes.current_info(settings.home_path, name) if registration.own else None
    problems = [*index.problems, *integrity.problems(index)]
    report = {
        "name": name,
        "index_path": str(index.folder),
        "schema_version": index.layout,
        "counts": index.counts,
        "made": {**info.figures, "index": info.number} if info else {},
        "problems": problems,
    }
    if as_json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print(graph_answer.status_text(report))
    return WITH_FAILURES if problems else DONE


def _read(answer: Path) -> str:
    try:
        if str(answer) == "-":
            return sys.stdin.read()
        if answer.stat().st_size > _MAX_ANSWER_BYTES:
            raise AnswerUnreadable(f"{answer}: larger than 10 MB; give the text of one answer")
        return answer.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise AnswerUnreadable(f"{answer}: not UTF-8 text; save the answer as plain text") from error
    except OSError as error:
        raise AnswerUnreadable(
            f"{answer}: {error.strerror or 'cannot be read'}; name a file, or - for input"
        ) from error
