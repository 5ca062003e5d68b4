"""`relrag graphrag`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, Words

app = typer.Typer(help="GraphRAG indexes: ask them, trace their answers to pages.", no_args_is_help=True)


@app.command("query", epilog='Example: relrag graphrag query archive "What is talked about?" --method global')
def query(
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
    options = {"method": method, "show_sources": show_sources, "documents": documents, "limit": limit}
    dispatch.run("graphrag", "query", collection, words, config, as_json=as_json, **options)


@app.command("add", epilog="Example: relrag graphrag add books ~/graphrag/output")
def add(
    name: Annotated[str, typer.Argument(help="The new name.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of its parquet files, or one above it.")],
    config: Config = None,
) -> None:
    """Name an index that any version of Microsoft's GraphRAG wrote."""
    dispatch.run("graphrag", "add", name, folder, config)


@app.command("remove", epilog="Example: relrag graphrag remove books")
def remove(name: Annotated[str, typer.Argument(help="Its name.")], config: Config = None) -> None:
    """Remove the name of an index stored elsewhere; its files stay."""
    dispatch.run("graphrag", "remove", name, config)


@app.command("list", epilog="Example: relrag graphrag list")
def listing(as_json: Json = False, config: Config = None) -> None:
    """List the indexes that can be asked."""
    dispatch.run("graphrag", "listing", config, as_json=as_json)


@app.command("status", epilog="Example: relrag graphrag status archive")
def status(
    name: Annotated[str, typer.Argument(help="Name of an index.")] = "archive",
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Show where an index is, what it contains and what is wrong."""
    dispatch.run("graphrag", "status", name, config, as_json=as_json)


@app.command("trace", epilog="Example: relrag graphrag trace answer.txt --index ~/graphrag/output")
def trace(
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
    dispatch.run("graphrag", "trace", answer, index, question, documents=documents, limit=limit, as_json=as_json)
