"""A conversation of ChatGPT: `mapping` holds its messages as a tree, `current_node` is the last message shown.

An edited question and an answer made again are branches; the branch that ends in `current_node` is read. A message has
an author with a role, and a content: `parts` of texts and pointers to pictures and recordings. What the assistant sends
to a tool, what a tool replies, and the instructions of the system are left out, but for documents of the canvas and
pictures that were made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from relrag_pipelines.records import Json
from relrag_pipelines.sources.chats.export_files import ExportFiles, sent_file
from relrag_pipelines.sources.chats.json_chats import identifier, mapping, objects, seconds, string
from relrag_pipelines.sources.chats.message import Message, SentFile
from relrag_pipelines.sources.formats.json_fields import WrongValueError
from relrag_pipelines.sources.formats.versions import changed

_MARKS = (re.compile(rb'"mapping"\s*:\s*\{'), re.compile(rb'"(?:children|parent)"\s*:'))
_CITATION = re.compile(r"\s?(?:\ue200[^\ue200\ue201]*\ue201|\u3010[^\u3010\u3011]*\u2020[^\u3010\u3011]*\u3011)")
"""marks of sources within an answer, which only its page resolves"""
_CANVAS = "canmore."
"""how the names of the canvas's functions begin"""


def is_export(head: bytes) -> bool:
    """Whether a file begins with conversations in this form."""
    return all(mark.search(head) for mark in _MARKS)


class Messages:
    """Reads the messages of conversations."""

    name = "ChatGPT"

    def __init__(self, files: ExportFiles, folder: str, owner: str) -> None:
        self._files, self._folder, self._owner = files, folder, owner
        self._changed: Json = {}
        self._question = ""
        self._ts: int | None = None

    def conversation_id(self, fields: Json) -> str:
        """The id of a conversation. Raises WrongValueError if it has none."""
        return identifier(fields, "conversation_id" if fields.get("conversation_id") else "id")

    def title(self, fields: Json) -> str:
        """The title of a conversation; empty if it has none."""
        return string(fields, "title")

    def messages(self, fields: Json) -> list[Json]:
        """The nodes of the branch that is shown, from the first."""
        nodes = fields.get("mapping")
        if type(nodes) is not dict:
            raise WrongValueError("mapping: missing, wanted the messages of the conversation")
        self._changed, self._question = changed(seconds(fields.get("update_time"))), ""
        self._ts = seconds(fields.get("create_time"))
        return _branch(nodes, fields.get("current_node"))

    def read(self, node: Json, position: int) -> Message | None:
        """The message of a node; None for one that is not shown."""
        item = mapping(node, "message")
        role, metadata = mapping(item, "author").get("role"), mapping(item, "metadata")
        if role not in ("user", "assistant", "tool") or metadata.get("is_visually_hidden_from_conversation") is True:
            return None
        text, files = _text(item), tuple(self._sent_files(item, metadata))
        if not (files if role == "tool" else text or files):
            return None
        self._ts = seconds(item.get("create_time")) or self._ts  # of old messages only the one before has a time
        sender = self._owner if role == "user" else self.name
        message = Message(identifier(item, "id"), text, sender, self._ts, f"M{position}", files=files)
        message.extra = dict(self._changed)
        if role == "user":
            self._question = message.id
        else:
            message.reply_to = self._question
            message.extra |= {"bot": True} | ({"model": model} if (model := string(metadata, "model_slug")) else {})
        return message

    def _sent_files(self, item: Json, metadata: Json) -> Iterator[SentFile]:
        """The files of a message: those that are named, then pictures and recordings without a name."""
        named = objects(metadata, "attachments")
        for row in named:
            name = string(row, "name") or string(row, "id")
            yield self._sent_file(string(row, "id"), name, string(row, "mime_type") or string(row, "mimeType"))
        ids = {row.get("id") for row in named}
        for part in objects(mapping(item, "content"), "parts"):
            own_id = string(part, "asset_pointer").rpartition("//")[2].partition("#")[0]
            if own_id and own_id not in ids:
                yield self._sent_file(own_id, own_id, "image/png" if "width" in part else "")

    def _sent_file(self, own_id: str, name: str, content_type: str) -> SentFile:
        """A file of the export is called by its id and its name."""
        return sent_file(self._files, f"{own_id}-{name}", self._folder, name, content_type)


def _branch(nodes: Json, last: Any) -> list[Json]:
    """The nodes that lead from the first to `last`; all nodes if `last` names none."""
    branch: list[Json] = []
    seen = set[str]()
    while type(last) is str and last not in seen and type(node := nodes.get(last)) is dict:
        branch.append(node)
        seen.add(last)
        last = node.get("parent")
    return branch[::-1] or [node for node in nodes.values() if type(node) is dict]


def _text(item: Json) -> str:
    """The text of a message to a person, or to the canvas; empty for a call of another tool."""
    content, recipient = mapping(item, "content"), string(item, "recipient")
    if recipient.startswith(_CANVAS):
        return _canvas_text(content)
    if recipient not in ("", "all"):
        return ""
    if content.get("content_type") == "code":
        return string(content, "text")
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    parts = content.get("parts")
    texts = [_part_text(part) for part in (parts if type(parts) is list else [])]
    return _CITATION.sub("", "\n".join(filter(None, texts)))


def _part_text(part: Any) -> str:
    """A text, the words of a recording, or what a picture was made from."""
    if type(part) is dict:
        return string(part, "text") or string(mapping(mapping(part, "metadata"), "dalle"), "prompt")
    return part if type(part) is str else ""


def _canvas_text(content: Json) -> str:
    """The name and the text of a new canvas document; empty for an edit of one."""
    parts = content.get("parts")
    written = string(content, "text") or "".join(part for part in parts or () if type(part) is str)
    try:
        document = json.loads(written)
    except (ValueError, RecursionError):
        return ""
    if type(document) is not dict or not document.get("content"):
        return ""
    return f"{string(document, 'name')}\n{string(document, 'content')}".strip()
