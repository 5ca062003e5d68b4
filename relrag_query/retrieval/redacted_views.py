"""An open catalog of older policies, redacted as it is read.

Policies may have become stricter since a generation was published, and the next sync has not come yet. Every table
that readers ask becomes a view whose texts go through the policies of now, so that nothing shows what they hide. It
costs time in each query, until the next sync. Ids are left alone: they are safe whatever the policies.
"""

from __future__ import annotations

import functools

import duckdb
import orjson
import pyarrow as pa

from relrag_pipelines.pii import json_values
from relrag_pipelines.pii.record_strings import redact_json
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.records import TABLES
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages import redaction_policy
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.table_schema import Column, columns
from relrag_pipelines.workspace import Workspace

WITHHELD = "[withheld: it could not be redacted]"
DEFAULT = "default"
"""the channel of what no source holds, such as facts about people"""
_HEADERS = ("text", "from", "to", "participants", "subject", "file_name", "source_uri")
_TEXTS = {
    "records": (*_HEADERS, "locations", "numbers", "people", "extra"),
    "chunks": _HEADERS,
    "identifiers": ("value",),
    "asset_asset_edges": ("provenance",),
    "failures": ("unit", "location", "message"),
    "persons": ("name",),
    "person_aliases": ("alias",),
    "person_facts": ("value", "source_quote"),
    "person_relationships": ("description", "notes", "source_quote"),
}
"""columns that hold text of the archive"""
_OF_RECORDS = {"records", "chunks"}
"""tables whose rows tell their channel"""


def redact(connection: duckdb.DuckDBPyConnection, settings: Settings, generation: Generation) -> None:
    """Redacts what the catalog of a generation shows from now on, its cursors too; what cannot be is withheld.

    Nothing changes where the generation was published under the policies of now. Raises KeysError where the keys are
    missing, PolicyError and SettingsError where the policies are wrong.
    """
    workspace = Workspace(settings)
    if settings.pii_redaction_enabled:
        settings.key_store.load()  # reading makes no new ones
    if redaction_policy.is_current(workspace, generation.manifest.get("policy")):
        return
    channels = {one.name: workspace.channel(one) for one in workspace.settings.sources}
    redactor = workspace.redactor

    def channel(rag_source_type: str, source: str) -> str:
        return channel_of(rag_source_type, channels.get(source, DEFAULT))

    def string(text: str, rag_source_type: str, source: str) -> str:
        try:
            return redactor.redact(text, channel(rag_source_type, source))
        except Exception:  # noqa: BLE001  raised, it would end a query that reads other texts, and may hold this one
            return WITHHELD

    def json(text: str, rag_source_type: str, source: str) -> str:
        try:
            said = functools.partial(redactor.redact, channel=channel(rag_source_type, source))
            return orjson.dumps(redact_json(json_values.parse(text), said, json_values.LONG_NUMBER)).decode()
        except Exception:  # noqa: BLE001  as above
            return "{}"

    connection.create_function("redacted", string, ["VARCHAR"] * 3, "VARCHAR")
    connection.create_function("redacted_json", json, ["VARCHAR"] * 3, "VARCHAR")
    for table, names in _TEXTS.items():
        row = {column.name: column for column in columns(TABLES[table].row)}
        of = "rag_source_type, source" if table in _OF_RECORDS else "'', ''"
        shown = ", ".join(f'{_expression(row[name], of)} AS "{name}"' for name in names)
        connection.execute(f"ALTER VIEW {table} RENAME TO indexed_{table}")
        connection.execute(f"CREATE VIEW {table} AS SELECT * REPLACE ({shown}) FROM indexed_{table}")  # noqa: S608


def _expression(column: Column, of: str) -> str:
    return f'redacted_json("{column.name}", {of})' if column.json else _redacted(f'"{column.name}"', column.type, of)


def _redacted(value: str, kind: pa.DataType, of: str) -> str:
    """SQL that gives a value of a type with each string in it redacted."""
    if pa.types.is_string(kind):
        return f"redacted({value}, {of})"
    if pa.types.is_list(kind):
        return f"list_transform({value}, lambda one: {_redacted('one', kind.value_type, of)})"
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{one.name}" := {_redacted(f"{value}.{one.name}", one.type, of)}' for one in kind)
        return f"struct_pack({fields})"
    return value
