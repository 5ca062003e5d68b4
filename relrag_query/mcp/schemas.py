"""Schemas of what a tool takes and replies, derived from the models of its operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from relrag_query.mcp.reply_budget import DATA
from relrag_query.mcp.tool_replies import NOT_SENT
from relrag_query.operations import parameters
from relrag_query.operations.operation import Operation, add_choices
from relrag_query.service.person_replies import PersonReply
from relrag_query.service.record_replies import PassageReply, RecordReply, ShowReply, ThreadReply

CURSOR: TypeAdapter[str | None] = TypeAdapter(parameters.Cursor)
_SHOWN = (RecordReply, PassageReply, ThreadReply, PersonReply, ShowReply)
"""the fields of whatever an id names, in one object"""
_SHORTENED = {"type": "string", "pattern": "^and [0-9]+ more$"}
"""the last entry of a list that did not fit"""


def input_schema(operation: Operation, names: Mapping[str, list[str]]) -> dict[str, Any]:
    """What a tool takes: the operation's request, and a cursor, since a budget cuts each reply."""
    schema = add_choices(operation.request.model_json_schema(), names)
    properties = schema.setdefault("properties", {})
    properties.setdefault("cursor", {**CURSOR.json_schema(), "default": None})
    return {name: _untitled(value) for name, value in schema.items() if name not in ("title", "description")}


def output_schema(operation: Operation) -> dict[str, Any]:
    """What a tool replies: the operation's reply without empty fields, with lists that may be shortened."""
    schema: dict[str, Any] = {"type": "object", "properties": {}, "$defs": {}}
    for model in _SHOWN if operation.name == "show" else (operation.reply,):
        described = TypeAdapter(model).json_schema(mode="serialization")
        schema["$defs"] |= described.get("$defs", {})
        for name, value in described.get("properties", {}).items():
            other = schema["properties"].get(name, value)
            schema["properties"][name] = value if other == value else {"anyOf": [other, value]}
    schema = _shortened(_untitled(schema))
    schema["properties"] |= {"note": {"type": "string", "const": DATA}, "next_cursor": {"type": "string"}}
    return schema


def _untitled(schema: Any) -> Any:
    """The schema without the titles that repeat names."""
    if isinstance(schema, dict):
        return {
            name: _untitled(value) for name, value in schema.items() if not (name == "title" and isinstance(value, str))
        }
    return [_untitled(value) for value in schema] if isinstance(schema, list) else schema


def _shortened(schema: Any) -> Any:
    """The schema of a value that was compacted and clipped: nothing is required, a list may end in a count."""
    if isinstance(schema, list):
        return [_shortened(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "array":
        return _shortened_list(schema)
    if "properties" in schema and isinstance(schema["properties"], dict):
        kept = {name: value for name, value in schema["properties"].items() if name not in NOT_SENT}
        schema = {**schema, "properties": kept}
    return {name: _shortened(value) for name, value in schema.items() if name != "required"}


def _shortened_list(schema: dict[str, Any]) -> dict[str, Any]:
    shortened: dict[str, Any] = {"type": "array"}
    if "description" in schema:
        shortened["description"] = schema["description"]
    if schema.get("items") and "prefixItems" not in schema:
        shortened["items"] = {"anyOf": [_shortened(schema["items"]), _SHORTENED]}
    return shortened
