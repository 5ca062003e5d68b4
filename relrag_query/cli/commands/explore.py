"""`relrag explore`: people, relationships, entities, concepts and records that a question is about."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, Person, Words
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_query.exploration import Exploration, GraphNode
    from relrag_query.people.relationship_search import RelationshipSearchResult

app = typer.Typer()


@app.command("explore", epilog='Example: relrag explore "the cabin" --person "Dana Levi"')
def explore_command(
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
    dispatch.run(
        explore, " ".join(query), config, person=person, relationships=relationships, limit=limit, as_json=as_json
    )


_EXCERPT_CHARACTERS = 120


def explore(
    query: str,
    config: Path | None = None,
    *,
    person: str = "",
    relationships: bool = True,
    limit: int = 5,
    as_json: bool = False,
) -> int:
    """Prints what a question is about; returns the exit code."""
    from relrag_query.archive import Archive, ArchiveError
    from relrag_query.graphrag.entity_exploration import explore as explore_entities
    from relrag_query.graphrag.entity_exploration import own_corpus

    if not query.strip():
        raise ArchiveError("the question is empty")
    with Archive.open(config) as archive:
        corpus = own_corpus(archive)
        exploration = explore_entities(
            archive, query, corpus, search_relationships=relationships, person=person, limit=limit
        )
    if as_json:
        print(json.dumps(asdict(exploration), indent=1, ensure_ascii=False))
        return 0
    _print(exploration)
    return 0


def _print(exploration: Exploration) -> None:
    names = {node.entity_key: node.name for node in exploration.nodes}
    for edge in exploration.edges:
        for line in _edge(edge, names):
            print(safe(line))
    _print_labels("People", [f"{node.name} ({node.entity_key})" for node in _of_kind(exploration, "person")])
    _print_labels("Entities", [node.name for node in _of_kind(exploration, "entity")])
    _print_labels("Concepts", [node.name for node in _of_kind(exploration, "concept")])
    for node in _of_kind(exploration, "source"):
        print(safe(f"{node.entity_key}  {node.name}"))
        print(safe(f"  {textwrap.shorten(str(node.data['text']), _EXCERPT_CHARACTERS, placeholder=' ...')}"))
    if not exploration.nodes:
        print("Nothing found.")


def _edge(edge: RelationshipSearchResult, names: dict[str, str]) -> list[str]:
    ends = names.get(edge.to_entity_key, edge.to_entity_key), names.get(edge.from_entity_key, edge.from_entity_key)
    lines = [f"{ends[0]}: {edge.relationship_type.replace('_', ' ')} of {ends[1]}"]
    if edge.description:
        lines.append(f"  {edge.description}")
    figures = [
        f"{name} {value}" for name, value in (("attitude", edge.attitude), ("proximity", edge.proximity)) if value
    ]
    lines.append(f"  {', '.join([*figures, f'similarity {edge.similarity:.2f}'])}")
    return [*lines, *(f"  - {note}" for note in edge.properties["notes"])]


def _of_kind(exploration: Exploration, kind: str) -> list[GraphNode]:
    return [node for node in exploration.nodes if node.kind == kind]


def _print_labels(heading: str, labels: Sequence[str]) -> None:
    if labels:
        print(safe(f"{heading}: {', '.join(labels)}"))
