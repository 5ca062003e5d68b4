"""Every kind of entry that the journal may hold, declared once: its name and the row type of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from relrag_pipelines.identity import journal_statements
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stores.table_schema import columns


@dataclass(slots=True)
class CallWord:
    """What the owner decided about one recorded call."""

    asset_id: Annotated[str, "the call"]
    word: Annotated[str, "approve; or swap-speakers: the two stand for each other, a second time takes that back"]


@dataclass(slots=True)
class GraphRAGIndex:
    """A GraphRAG index stored elsewhere, and its name here."""

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
