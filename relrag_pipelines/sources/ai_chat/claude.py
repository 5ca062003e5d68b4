"""A conversation of Claude: `chat_messages` holds its messages, with sender, `text` and blocks of `content`.

A block is a text, the use of a tool, or its result; a document that the assistant wrote (an artifact) is the use of a
tool. Files are only named, but for the text that was taken from them. Conversations that other programs save have all
branches, with `parent_message_uuid` and `current_leaf_message_uuid`; the branch that is shown is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relrag_pipelines.records import Json
from relrag_pipelines.sources.chats.export_files import ExportFiles
from relrag_pipelines.sources.chats.json_chats import identifier, iso_seconds, mapping, objects, string
from relrag_pipelines.sources.chats.message import Message, SentFile
from relrag_pipelines.sources.formats.json_fields import WrongValueError
from relrag_pipelines.sources.formats.versions import changed

_MARKS = (re.compile(rb'"chat_messages"\s*:\s*\['), re.compile(rb'"uuid"\s*:'))


def is_export(head: bytes) -> bool:
    """Whether a file begins with conversations in this form."""
    return all(mark.search(head) for mark in _MARKS)


class Messages:
    """Reads the messages of conversations."""

    name = "Claude"

    def __init__(self, files: ExportFiles, folder: str, owner: str) -> None:
        self._owner = owner
        self._changed: Json = {}
        self._question = ""

    def conversation_id(self, fields: Json) -> str:
        """The id of a conversation. Raises WrongValueError if it has none."""
        return identifier(fields, "uuid")

    def title(self, fields: Json) -> str:
        """The title of a conversation; empty if it has none."""
        return string(fields, "name")

    def messages(self, fields: Json) -> list[Json]:
        """The messages of the branch that is shown, in their order, and those without an id, which `read` refuses."""
        if type(fields.get("chat_messages")) is not list:
            raise WrongValueError("chat_messages: missing, wanted the messages of the conversation")
        self._changed, self._question = changed(iso_seconds(fields, "updated_at")), ""
        messages = objects(fields, "chat_messages")
        with_ids = {uuid: message for message in messages if type(uuid := message.get("uuid")) is str}
        shown = _branch(with_ids, fields.get("current_leaf_message_uuid"))
        hidden = with_ids.keys() - shown if shown else set[str]()
        return [message for message in messages if type(uuid := message.get("uuid")) is not str or uuid not in hidden]

    def read(self, item: Json, position: int) -> Message | None:
        """One message; None for one without words and files."""
        text, files = _text(item), tuple(_files(item))
        if not text and not files:
            return None
        is_human = string(item, "sender") == "human"
        sender = self._owner if is_human else self.name
        message = Message(identifier(item, "uuid"), text, sender, iso_seconds(item, "created_at"), f"M{position}")
        message.files, message.extra = files, dict(self._changed)
        if is_human:
            self._question = message.id
        else:
            message.reply_to = self._question
            message.extra["bot"] = True
        return message


def _branch(messages: dict[str, Json], last: object) -> set[str]:
    """The ids of the messages that lead to `last`; empty if `last` names none."""
    branch = set[str]()
    while type(last) is str and last in messages and last not in branch:
        branch.add(last)
        last = messages[last].get("parent_message_uuid")
    return branch


def _text(item: Json) -> str:
    """The texts and documents of a message; its whole text where it has no blocks."""
    blocks = [_block_text(block) for block in objects(item, "content")]
    return "\n\n".join(filter(None, blocks)) or string(item, "text")


def _block_text(block: Json) -> str:
    if block.get("type") == "text":
        return string(block, "text")
    written = mapping(block, "input") if block.get("type") == "tool_use" else {}
    if block.get("name") != "artifacts" or type(written.get("content")) is not str:
        return ""
    return f"{string(written, 'title')}\n{written['content']}".strip()


def _files(item: Json) -> Iterator[SentFile]:
    """Files with the text that was taken from them, then those of which only the name is left."""
    attachments = objects(item, "attachments")
    for row in attachments:
        yield SentFile(string(row, "file_name") or "pasted text.txt", text=string(row, "extracted_content"))
    named = {row.get("file_name") for row in attachments}
    for row in objects(item, "files"):
        if (name := string(row, "file_name")) and name not in named:
            yield SentFile(name)
