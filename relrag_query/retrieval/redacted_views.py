"""An open catalog of older policies, redacted as it is read.

Policies may have become stricter since a generation was published. Until the next sync, every table that readers query
is replaced by a view whose texts are redacted by the current policies. A record is searched once, as a whole: a value
found anywhere in it is redacted in all its columns. This costs time for each row that a query returns. Ids are not
redacted: they contain no personal data under any policy.
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
_NO_RECORD_IDS = "[]::VARCHAR[]"
_RECORD_IDS = {
    "records": "[asset_id]",
    "chunks": "list_append(members, asset_id)",
    "identifiers": "[asset_id]",
    "person_facts": "[source_ref]",
    "person_relationships": "[source_ref]",
}
"""ids of the records that a row consists of; a chat window adds its own id, which belongs to no record"""
_IS_PHONE = {"identifiers": "kind = 'phone'", "person_aliases": "kind = 'phone'"}
"""SQL condition under which a text is a phone number, whatever its format"""


def redact(connection: duckdb.DuckDBPyConnection, settings: Settings, generation: Generation) -> None:
    """Makes the catalog of a generation, and its cursors, return redacted texts; withholds those that fail.

    Only `indexed_records` keeps the indexed texts: they are compared with questions, and never shown. Nothing changes
    if the generation was published under the current policies. Raises KeysError where the keys are missing,
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
        record_ids = _RECORD_IDS.get(table, _NO_RECORD_IDS)
        phone = _IS_PHONE.get(table, "false")
        shown = ", ".join(f'{_expression(row[name], record_ids, phone)} AS "{name}"' for name in names)
        connection.execute(f"ALTER VIEW {table} RENAME TO indexed_{table}")
        connection.execute(f"CREATE VIEW {table} AS SELECT * REPLACE ({shown}) FROM indexed_{table}")  # noqa: S608


def _redacted_json(text: str, redactor: PIIRedactor, channel: str, values: RecordValues) -> Any:
    """JSON redacted; if no values are known, short numbers are kept, else each number may be one of the values."""
    min_digits = 0 if values else json_values.LONG_NUMBER
    return redact_json(
        json_values.parse(text), lambda string: redactor.redact(string, channel, values=values), min_digits
    )


def _expression(column: Column, arguments: str, phone: str) -> str:
    if column.json:
        return f'redacted_json("{column.name}", {arguments})'
    return _redact_sql(f'"{column.name}"', column.type, f"{arguments}, {phone}")


def _redact_sql(value: str, kind: pa.DataType, arguments: str) -> str:
    """SQL expression of a value of this type with each string in it redacted."""
    if pa.types.is_string(kind):
        return f"redacted({value}, {arguments})"
    if pa.types.is_list(kind):
        return f"list_transform({value}, lambda element: {_redact_sql('element', kind.value_type, arguments)})"
    if pa.types.is_struct(kind):
        fields = ", ".join(
            f'"{field.name}" := {_redact_sql(f"{value}.{field.name}", field.type, arguments)}' for field in kind
        )
        return f"struct_pack({fields})"
    return value
