"""An open catalog of older policies, redacted as it is read.

Policies may have become stricter since a generation was published, and the next sync has not come yet. Every table
that readers ask becomes a view whose texts go through the policies of now, so that nothing shows what they hide. A
record is looked at as a whole, once: what is found anywhere in it goes from all that is shown of it. It costs time for
each row that a query shows, until the next sync. Ids are left alone: they are safe whatever the policies.
"""

from __future__ import annotations

from typing import Any

import duckdb
import orjson
import pyarrow as pa

from relrag_pipelines.pii import PIIRedactor, json_values
from relrag_pipelines.pii.record_strings import redact_json
from relrag_pipelines.pii.record_values import RecordValues
from relrag_pipelines.records import TABLES
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages import redaction_policy
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.table_schema import Column, columns
from relrag_pipelines.workspace import Workspace
from relrag_query.retrieval.indexed_records import IndexedRecords

WITHHELD = "[withheld: it could not be redacted]"
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
_OF_NO_RECORD = "[]::VARCHAR[]"
_RECORDS = {
    "records": "[asset_id]",
    "chunks": "list_append(members, asset_id)",
    "identifiers": "[asset_id]",
    "person_facts": "[source_ref]",
    "person_relationships": "[source_ref]",
}
"""ids of the records that a row is made of; of a window over a chat also its own, which is no record's"""
_PHONE = {"identifiers": "kind = 'phone'", "person_aliases": "kind = 'phone'"}
"""where a text is a phone, however it looks"""


def redact(connection: duckdb.DuckDBPyConnection, settings: Settings, generation: Generation) -> None:
    """Redacts what the catalog of a generation shows from now on, its cursors too; what cannot be is withheld.

    Only `indexed_records` stay as they were indexed: to be compared with what is asked, and never shown. Nothing
    changes where the generation was published under the policies of now. Raises KeysError where the keys are missing,
    PolicyError and SettingsError where the policies are wrong.
    """
    workspace = Workspace(settings)
    if settings.pii_redaction_enabled:
        settings.key_store.load()  # reading makes no new ones
    if redaction_policy.is_current(workspace, generation.manifest.get("policy")):
        connection.execute("CREATE VIEW indexed_records AS FROM records")
        return
    redactor, records = workspace.redactor, IndexedRecords(connection, workspace, _TEXTS["records"])

    def string(text: str, asset_ids: list[str], is_phone: bool) -> str:
        try:
            channel, values = records.channel_and_values(asset_ids)
            return redactor.redact(text, channel, [text] if is_phone else (), values)
        except Exception:  # noqa: BLE001  raised, it would end a query that reads other texts, and may hold this one
            return WITHHELD

    def json(text: str, asset_ids: list[str]) -> str:
        try:
            channel, values = records.channel_and_values(asset_ids)
            return orjson.dumps(_redacted_json(text, redactor, channel, values)).decode()
        except Exception:  # noqa: BLE001  as above
            return "{}"

    connection.create_function("redacted", string, ["VARCHAR", "VARCHAR[]", "BOOLEAN"], "VARCHAR")
    connection.create_function("redacted_json", json, ["VARCHAR", "VARCHAR[]"], "VARCHAR")
    for table, names in _TEXTS.items():
        row = {column.name: column for column in columns(TABLES[table].row)}
        of = _RECORDS.get(table, _OF_NO_RECORD)
        phone = _PHONE.get(table, "false")
        shown = ", ".join(f'{_expression(row[name], of, phone)} AS "{name}"' for name in names)
        connection.execute(f"ALTER VIEW {table} RENAME TO indexed_{table}")
        connection.execute(f"CREATE VIEW {table} AS SELECT * REPLACE ({shown}) FROM indexed_{table}")  # noqa: S608


def _redacted_json(text: str, redactor: PIIRedactor, channel: str, values: RecordValues) -> Any:
    """JSON redacted, of numbers only long ones where no value is known, since a short one may be it."""
    least = 0 if values else json_values.LONG_NUMBER
    return redact_json(json_values.parse(text), lambda one: redactor.redact(one, channel, values=values), least)


def _expression(column: Column, of: str, phone: str) -> str:
    if column.json:
        return f'redacted_json("{column.name}", {of})'
    return _redact_sql(f'"{column.name}"', column.type, f"{of}, {phone}")


def _redact_sql(value: str, kind: pa.DataType, of: str) -> str:
    """SQL that gives a value of a type with each string in it redacted."""
    if pa.types.is_string(kind):
        return f"redacted({value}, {of})"
    if pa.types.is_list(kind):
        return f"list_transform({value}, lambda one: {_redact_sql('one', kind.value_type, of)})"
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{one.name}" := {_redact_sql(f"{value}.{one.name}", one.type, of)}' for one in kind)
        return f"struct_pack({fields})"
    return value
