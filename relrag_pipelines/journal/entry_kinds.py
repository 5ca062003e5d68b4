"""Declares every kind of journal entry: its name and the type of its statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from relrag_pipelines.identity import journal_statements
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stores.table_schema import columns


@dataclass(slots=True)
class CallDecision:
    """The owner's decision about a recorded call."""

    asset_id: Annotated[str, "the call"]
    word: Annotated[
        str, "approve; leave-out; or swap-speakers: the two stand for each other, a second time takes that back"
    ]


@dataclass(slots=True)
class GraphRAGIndex:
    """A GraphRAG index outside the archive, and its name here."""

    name: Annotated[str, "its name; what was said of it last counts"]
    folder: Annotated[str, "where its parquet files lie, absolute; empty: the name is taken back"]


@dataclass(slots=True)
class DistinctPair:
    """Two people who are not one, so that they are no longer suggested as a pair."""

    person_id: Annotated[int, "the smaller id"]
    other_id: Annotated[int, "the greater id"]


@dataclass(slots=True)
class PageAction:
    """What the owner did on the pages, apart from statements, which are entries of their own."""

    action: Annotated[str, "the operation: sync, add_source, upload ..."]
    about: Annotated[str, "names of sources, or counts; no text of the archive, and empty for all of it"]


KINDS: Mapping[str, type] = {
    "link": ManualLink,
    "call": CallDecision,
    "graphrag_index": GraphRAGIndex,
    "distinct": DistinctPair,
    "page_action": PageAction,
    **journal_statements.KINDS,
}
"""name in the journal -> row type. A name must stay while journals have entries of it; a new field needs a default"""
FORGOTTEN = "forgotten"
"""kind of a forgotten entry, of which only the number remains, so that no other entry gets it"""
_NAMES = {row: name for name, row in KINDS.items()}


def kind_of(statement: object) -> str:
    """The kind's name for a statement; KeyError if its type is not declared in KINDS."""
    return _NAMES[type(statement)]


def parse(kind: str, fields: Mapping[str, Any]) -> Any:
    """The statement of an entry. Raises KeyError for an unknown kind, TypeError if a field is missing."""
    row = KINDS[kind]
    names = {column.name: column.attribute for column in columns(row)}
    return row(**{attribute: fields[name] for name, attribute in names.items() if name in fields})


def to_fields(statement: object) -> dict[str, Any]:
    """The fields of a statement by their declared names, as the journal stores them."""
    row: type = type(statement)
    return {column.name: getattr(statement, column.attribute) for column in columns(row)}
