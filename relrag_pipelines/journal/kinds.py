"""Every kind of entry that the journal may hold, declared once: its name and the row type of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from relrag_pipelines.identity import journal_statements
from relrag_pipelines.records import ManualLink, columns, field_table


@dataclass(slots=True)
class CallWord:
    """What the owner said of one recorded call."""

    asset_id: Annotated[str, "the call"]
    word: Annotated[str, "approve; or swap-speakers: the two stand for each other, a second time takes that back"]


@dataclass(slots=True)
class GraphRAGIndex:
    """A GraphRAG index that lies elsewhere, and what it is called here."""

    name: Annotated[str, "its name; what was said of it last counts"]
    folder: Annotated[str, "where its parquet files lie, absolute; empty: the name is taken back"]


KINDS: Mapping[str, type] = {
    "link": ManualLink,
    "call": CallWord,
    "graphrag_index": GraphRAGIndex,
    **journal_statements.KINDS,
}
"""name in the journal -> row type. A name stays as long as there are entries of it; a new field needs a default"""
FORGOTTEN = "forgotten"
"""kind of what is left of an entry that was forgotten: its number, so that no other gets it"""
_NAMES = {row: name for name, row in KINDS.items()}


_ABOUT = """\
`private/journal.jsonl` holds what the owner states. Nothing else does, so it is in every backup. Each line is an entry:
`{"entry": number, "at": time, "kind": name, "said": fields}`. Entries are appended under the writer's lock and are on
disk before a command ends; a last line that a power cut tore counts for nothing. Numbers rise and are never given
twice: of an entry that was forgotten the number stays, with the kind `forgotten`. A generation's MANIFEST names the
last entry that it was made with (`journal`), so that a reader can lay later ones over it.
"""


def kind_of(said: object) -> str:
    """The name of the kind that a row is an entry of; KeyError where its type is declared nowhere above."""
    return _NAMES[type(said)]


def parse(kind: str, fields: Mapping[str, Any]) -> Any:
    """The row that an entry says. Raises KeyError for an unknown kind, TypeError where a field is missing."""
    row = KINDS[kind]
    names = {column.name: column.attribute for column in columns(row)}
    return row(**{attribute: fields[name] for name, attribute in names.items() if name in fields})


def to_fields(said: object) -> dict[str, Any]:
    """The fields of a row by their declared names, as the journal keeps them."""
    row: type = type(said)
    return {column.name: getattr(said, column.attribute) for column in columns(row)}


def markdown() -> str:
    """docs/journal.md."""
    lines = ["# The journal", "", "Generated from `relrag_pipelines/journal/` by `make docs`; do not edit.", ""]
    lines += [_ABOUT]
    for name, row in KINDS.items():
        lines += [f"## {name}", "", " ".join((row.__doc__ or "").split()), "", *field_table(row)]
    return "\n".join(lines)
