"""What tools reply: the reply of an operation without what a model has no use for, as much as fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relrag_query.mcp.reply_budget import DATA, MOST_BYTES, clip, compact, fit, size
from relrag_query.operations import requests
from relrag_query.operations.operation import Operation
from relrag_query.operations.table import BY_NAME
from relrag_query.service import Service
from relrag_query.service.cursors import cursor, offset_of
from relrag_query.service.record_replies import ShowReply

NOT_SENT = {
    *("trace", "intents", "score", "timestamp", "when", "source_role", "chunk_index", "chunk_count"),
    *("home", "path", "unread_files", "left_out"),
}
"""fields of replies that a model has no use for, or that hold paths of this machine"""
_SPARE = 200
"""bytes for the cursor and the marks around a text"""
_MEMBERS = 50
"""records of a thread that `show` gives at once"""

Reply = dict[str, Any]


def reply_of(operation: Operation, service: Service, request: Any, after: str | None) -> Reply:
    """The reply of an operation, its list from the entry on that the cursor `after` names."""
    if operation.name == "show":
        return _shown(operation, service, request)
    reply = operation.call(service, request)
    fields = _fields(operation, reply)
    if not operation.entries:
        return {"note": DATA, **clip(fields, MOST_BYTES - _SPARE)}
    shorten = _SHORTER.get(operation.name)
    name = shorten(fields) if shorten else operation.entries
    # a page of the service begins where the cursor says; other lists are whole
    is_page = "cursor" in operation.request.model_fields
    return _page(fields, name, after, is_page=is_page)


def _shorter_answer(fields: Reply) -> str:
    """Drops what the quotes say already; the list to page through is the closest passages if there are no sources."""
    if fields.get("quotes"):
        fields.pop("answer", None)
    return "sources" if fields.get("sources") else "closest"


def _shorter_graph_answer(fields: Reply) -> str:
    """Drops what the themes and sources say already."""
    fields.pop("citations", None)
    fields.pop("references", None)
    if fields.get("themes") and not fields.get("model"):
        fields.pop("answer", None)
    return "sources"


_SHORTER: dict[str, Callable[[Reply], str]] = {"ask": _shorter_answer, "graphrag": _shorter_graph_answer}


def _fields(operation: Operation, reply: Any) -> Reply:
    """The fields of a reply that are not empty."""
    fields: Reply = compact(_without(operation.adapter.dump_python(reply, mode="json", by_alias=True)))
    return fields


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(entry) for name, entry in value.items() if name not in NOT_SENT}
    return [_without(entry) for entry in value] if isinstance(value, list) else value


def _page(fields: Reply, name: str, after: str | None, *, is_page: bool) -> Reply:
    """A reply with as many entries of its list as fit, and the cursor of the next one."""
    generation = _generation(fields)
    entries = fields.pop(name, [])
    further = fields.pop("next_cursor", None)
    offset = offset_of(after, generation)
    entries = entries if is_page else entries[offset:]
    reply, count = fit({"note": DATA, **clip(fields, MOST_BYTES // 2)}, name, entries)
    if count < len(entries):
        further = cursor(generation, offset + count)
    return {**reply, "next_cursor": further} if further else reply


def _generation(fields: Reply) -> int:
    """The generation of a reply: a number, or the state of what is published; 1 for a reply of no generation."""
    generation = fields.get("generation", 1)
    return int(generation["number"] if isinstance(generation, dict) else generation)


def _shown(operation: Operation, service: Service, request: requests.ShowRequest) -> Reply:
    if request.ref.startswith("thread:"):
        members = requests.ThreadRequest(thread_id=request.ref, limit=_MEMBERS, cursor=request.cursor)
        return reply_of(BY_NAME["thread"], service, members, request.cursor)
    reply = service.show(request.ref, request.limit)
    if reply.person:
        return _page(_fields(BY_NAME["person"], reply.person), "latest", request.cursor, is_page=False)
    return _text_part(reply, _fields(operation, reply), request.cursor)


def _text_part(reply: ShowReply, fields: Reply, after: str | None) -> Reply:
    """The part of a text that begins at the cursor; with the first part what it is related to, as far as it fits."""
    offset = offset_of(after, reply.generation)
    passages = fields.pop("passages", [])
    about = {**fields.pop("record", {}), **(passages[0] if passages else {})}
    text = "\n".join(passage.get("text", "") for passage in passages) or about.get("text", "")
    about.pop("text", None)
    related = [] if offset else [entry for entry in fields.pop("related", []) if not _is_own_passage(entry)]
    about = {"note": DATA, **clip({"ref": reply.ref, "generation": reply.generation, **about}, MOST_BYTES // 4)}
    about, _ = fit(about, "related", related, MOST_BYTES // 2)
    room = MOST_BYTES - size(about) - _SPARE
    part = _beginning(text[offset:], room) or text[offset : offset + 1]  # else the cursor would stay where it is
    shown = {**about, "text": part}
    if offset + len(part) < len(text):
        shown["next_cursor"] = cursor(reply.generation, offset + len(part))
    compacted: Reply = compact(shown)
    return compacted


def _is_own_passage(entry: Reply) -> bool:
    return (entry.get("relation_type"), entry.get("direction")) == ("chunk_of", "in")


def _beginning(text: str, room: int) -> str:
    """As much of a text as takes that many bytes as JSON."""
    while (taken := size(text)) > room and text:
        text = text[: max(0, min(len(text) - 1, len(text) * room // taken))]
    return text
