"""Input and output schemas of a tool, derived from the models of its operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from relrag_query.mcp.reply_budget import DATA
from relrag_query.mcp.tool_replies import OMITTED_FIELDS
from relrag_query.operations import parameters
from relrag_query.operations.operation import Operation, add_choices
from relrag_query.service.person_replies import PersonReply
from relrag_query.service.record_replies import PassageReply, RecordReply, ShowReply, ThreadReply

CURSOR: TypeAdapter[str | None] = TypeAdapter(parameters.Cursor)
_SHOW_MODELS = (RecordReply, PassageReply, ThreadReply, PersonReply, ShowReply)
"""models whose fields a reply of `show` may have, depending on the id"""
_OMITTED_ENTRIES = {"type": "string", "pattern": "^and [0-9]+ more$"}
"""the last entry of a shortened list"""


def input_schema(operation: Operation, names: Mapping[str, list[str]]) -> dict[str, Any]:
    """The arguments of a tool: the operation's request, and a cursor, since a budget limits each reply."""
    schema = add_choices(operation.request.model_json_schema(), names)
    properties = schema.setdefault("properties", {})
    properties.setdefault("cursor", {**CURSOR.json_schema(), "default": None})
    return {name: _without_titles(value) for name, value in schema.items() if name not in ("title", "description")}


def output_schema(operation: Operation) -> dict[str, Any]:
    """The reply of a tool: the operation's reply without empty fields, with lists that may be shortened."""
    schema: dict[str, Any] = {"type": "object", "properties": {}, "$defs": {}}
    for model in _SHOW_MODELS if operation.name == "show" else (operation.reply,):
        described = TypeAdapter(model).json_schema(mode="serialization")
        schema["$defs"] |= described.get("$defs", {})
        for name, value in described.get("properties", {}).items():
            other = schema["properties"].get(name, value)
            schema["properties"][name] = value if other == value else {"anyOf": [other, value]}
    schema = _relax(_without_titles(schema))
    schema["properties"] |= {"note": {"type": "string", "const": DATA}, "next_cursor": {"type": "string"}}
    return schema


def _without_titles(schema: Any) -> Any:
    """The schema without the titles that repeat names."""
    if isinstance(schema, dict):
        return {
            name: _without_titles(value)
            for name, value in schema.items()
            if not (name == "title" and isinstance(value, str))
        }
    return [_without_titles(value) for value in schema] if isinstance(schema, list) else schema


def _relax(schema: Any) -> Any:
    """The schema of a compacted and clipped value: no field is required, and a list may end in a count."""
    if isinstance(schema, list):
        return [_relax(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "array":
        return _relax_list(schema)
    if "properties" in schema and isinstance(schema["properties"], dict):
        sent = {name: value for name, value in schema["properties"].items() if name not in OMITTED_FIELDS}
        schema = {**schema, "properties": sent}
    return {name: _relax(value) for name, value in schema.items() if name != "required"}


def _relax_list(schema: dict[str, Any]) -> dict[str, Any]:
    shortened: dict[str, Any] = {"type": "array"}
    if "description" in schema:
        shortened["description"] = schema["description"]
    if schema.get("items") and "prefixItems" not in schema:
        shortened["items"] = {"anyOf": [_relax(schema["items"]), _OMITTED_ENTRIES]}
    return shortened
