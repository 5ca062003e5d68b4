"""Replies of tools: the reply of an operation without fields that a model cannot use, cut to the budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relrag_query.mcp.reply_budget import DATA, MAX_BYTES, clip, compact, fit, size
from relrag_query.operations import requests
from relrag_query.operations.operation import Operation
from relrag_query.operations.table import BY_NAME
from relrag_query.service import Service
from relrag_query.service.cursors import cursor, offset_of
from relrag_query.service.record_replies import ShowReply

OMITTED_FIELDS = {
    *("trace", "intents", "score", "timestamp", "when", "source_role", "chunk_index", "chunk_count", "marks"),
    *("home", "path", "unread_files", "left_out"),
}
"""fields that a model cannot use, or that contain paths of this machine"""
_RESERVED_BYTES = 200
"""bytes reserved for the cursor and the JSON around a text"""
_MAX_MEMBERS = 50
"""records of a thread in a reply of `show`"""

Reply = dict[str, Any]


def reply_of(operation: Operation, service: Service, request: Any, after: str | None) -> Reply:
    """The reply of an operation, with its list from the cursor `after` on."""
    if operation.name == "show":
        return _show_reply(operation, service, request)
    reply = operation.call(service, request)
    fields = _fields(operation, reply)
    if not operation.entries:
        return {"note": DATA, **clip(fields, MAX_BYTES - _RESERVED_BYTES)}
    shorten = _SHORTENERS.get(operation.name)
    name = shorten(fields) if shorten else operation.entries
    # a page of the service begins where the cursor says; other lists are whole
    is_page = "cursor" in operation.request.model_fields
    return _page(fields, name, after, is_page=is_page)


def _shorten_answer(fields: Reply) -> str:
    """Drops text that the quotes repeat; returns the list to page through: sources, or else the closest passages."""
    if fields.get("quotes"):
        fields.pop("answer", None)
    return "sources" if fields.get("sources") else "closest"


def _shorten_graph_answer(fields: Reply) -> str:
    """Drops text that the themes and sources repeat; returns the list to page through."""
    fields.pop("citations", None)
    fields.pop("references", None)
    if fields.get("themes") and not fields.get("model"):
        fields.pop("answer", None)
    return "sources"


_SHORTENERS: dict[str, Callable[[Reply], str]] = {"ask": _shorten_answer, "graphrag": _shorten_graph_answer}


def _fields(operation: Operation, reply: Any) -> Reply:
    """The fields of a reply that are not empty."""
    fields: Reply = compact(_without_unsent(operation.adapter.dump_python(reply, mode="json", by_alias=True)))
    return fields


def _without_unsent(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_unsent(entry) for name, entry in value.items() if name not in OMITTED_FIELDS}
    return [_without_unsent(entry) for entry in value] if isinstance(value, list) else value


def _page(fields: Reply, name: str, after: str | None, *, is_page: bool) -> Reply:
    """A reply with as many entries of its list as fit, and the cursor of the next one."""
    generation = _generation(fields)
    entries = fields.pop(name, [])
    next_cursor = fields.pop("next_cursor", None)
    offset = offset_of(after, generation)
    entries = entries if is_page else entries[offset:]
    reply, count = fit({"note": DATA, **clip(fields, MAX_BYTES // 2)}, name, entries)
    if count < len(entries):
        next_cursor = cursor(generation, offset + count)
    return {**reply, "next_cursor": next_cursor} if next_cursor else reply


def _generation(fields: Reply) -> int:
    """The generation of a reply: a number, or the state of what is published; 1 for a reply of no generation."""
    generation = fields.get("generation", 1)
    return int(generation["number"] if isinstance(generation, dict) else generation)


def _show_reply(operation: Operation, service: Service, request: requests.ShowRequest) -> Reply:
    if request.ref.startswith("thread:"):
        members = requests.ThreadRequest(thread_id=request.ref, limit=_MAX_MEMBERS, cursor=request.cursor)
        return reply_of(BY_NAME["thread"], service, members, request.cursor)
    reply = service.show(request.ref, request.limit)
    if reply.person:
        return _page(_fields(BY_NAME["person"], reply.person), "latest", request.cursor, is_page=False)
    return _text_part(reply, _fields(operation, reply), request.cursor)


def _text_part(reply: ShowReply, fields: Reply, after: str | None) -> Reply:
    """The part of a text at the cursor. The first part includes as many relations as fit."""
    offset = offset_of(after, reply.generation)
    passages = fields.pop("passages", [])
    header = {**fields.pop("record", {}), **(passages[0] if passages else {})}
    text = "\n".join(passage.get("text", "") for passage in passages) or header.get("text", "")
    header.pop("text", None)
    related = [] if offset else [entry for entry in fields.pop("related", []) if not _is_own_passage(entry)]
    header = {"note": DATA, **clip({"ref": reply.ref, "generation": reply.generation, **header}, MAX_BYTES // 4)}
    header, _ = fit(header, "related", related, MAX_BYTES // 2)
    room = MAX_BYTES - size(header) - _RESERVED_BYTES
    part = _prefix(text[offset:], room) or text[offset : offset + 1]  # else the cursor would stay where it is
    reply_part = {**header, "text": part}
    if offset + len(part) < len(text):
        reply_part["next_cursor"] = cursor(reply.generation, offset + len(part))
    compact_reply: Reply = compact(reply_part)
    return compact_reply


def _is_own_passage(entry: Reply) -> bool:
    return (entry.get("relation_type"), entry.get("direction")) == ("chunk_of", "in")


def _prefix(text: str, room: int) -> str:
    """The longest prefix of a text that fits into `room` bytes as JSON."""
    while (byte_count := size(text)) > room and text:
        text = text[: max(0, min(len(text) - 1, len(text) * room // byte_count))]
    return text
