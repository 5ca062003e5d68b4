"""The text of a message in Slack's mrkdwn: that of its field `text`, of its blocks, attachments and file comments.

`text` repeats what the blocks hold, with other marks, or is a short substitute for them; so a line of a block is added
only where `text` does not have its words. The same holds for the text and the blocks of an attachment. Formats:
https://docs.slack.dev/reference/block-kit/blocks (blocks) and
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments (attachments).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from relrag_pipelines.records import Json
from relrag_pipelines.sources.chats.json_chats import mapping, objects, string

_MARK = re.compile(r"<[@#!][^<>]*>|[*_~`\u200b]")
"""what `text` and blocks write differently: references, and the marks of mrkdwn"""
_WORD = re.compile(r"[^\W_]+")
_LINES = frozenset({"rich_text_section", "rich_text_quote", "rich_text_preformatted"})
"""blocks whose elements are parts of one text"""
_PARTS = ("title", "text", "description", "alt_text", "fields", "rows", "elements")
"""what holds the texts of a block"""
_INLINE: dict[str, Callable[[Json], str]] = {
    "link": lambda part: _link(_value(part, "url"), _value(part, "text")),
    "user": lambda part: f"<@{_value(part, 'user_id')}>",
    "channel": lambda part: f"<#{_value(part, 'channel_id')}>",
    "usergroup": lambda part: f"<!subteam^{_value(part, 'usergroup_id')}>",
    "broadcast": lambda part: f"<!{_value(part, 'range')}>",
    "emoji": lambda part: f":{_value(part, 'name')}:",
    "date": lambda part: _escape(_value(part, "fallback")),
    "color": lambda part: _value(part, "value"),
}
"""elements of a rich text beside plain text"""


def message_text(item: Json) -> str:
    """The text of a message in mrkdwn; empty if it has none. Raises WrongValueError where `text` is no string."""
    text = string(item, "text")
    attachments = [row for row in objects(item, "attachments") if not text or not _is_preview(row)]
    files = [mapping(item, "file"), *objects(item, "files")]
    comments = dict.fromkeys(_value(mapping(row, "initial_comment"), "comment") for row in files)
    lines = [
        *_block_lines(objects(item, "blocks")),
        *(line for row in attachments for line in _attachment_lines(row)),
        *comments,
    ]
    return "\n".join([*filter(None, [text]), *_further_lines(text, lines)])


def is_shared(attachment: Json) -> bool:
    """Whether an attachment is a message of another conversation."""
    return bool(attachment.get("is_msg_unfurl") or attachment.get("is_share"))


def _is_preview(attachment: Json) -> bool:
    """Whether Slack made an attachment of a page that the text links."""
    return "from_url" in attachment and not is_shared(attachment)


def _further_lines(text: str, lines: Iterable[str]) -> Iterator[str]:
    """The lines whose words a text does not have in a row; all that are not blank where the text is empty.

    Only a line whose pairs of words are all in the text is searched for, from the end of the last such line: lines that
    repeat a text do so in its order. So the time grows with the number of lines, and not with its square.
    """
    words, end = _words(text) if text else "", 0
    pairs = _pairs(words)
    for line in filter(str.strip, "\n".join(lines).split("\n")):
        repeated = _words(line)
        start = _position(words, repeated, end) if _pairs(repeated) <= pairs else -1
        if start >= 0:
            end = start + len(repeated) - 1
        elif repeated.strip() or not text:
            yield line


def _position(words: str, repeated: str, end: int) -> int:
    """Where words stand in others, first looked for behind `end`; -1 where they do not."""
    start = words.find(repeated, end)
    return start if start >= 0 else words.find(repeated, 0, end + len(repeated))


def _pairs(words: str) -> set[object]:
    """The words, and each with the next."""
    in_order = words.split()
    return {*in_order, *pairwise(in_order)}


def _words(text: str) -> str:
    """The words of a text, a blank before and after each."""
    return f" {'  '.join(_WORD.findall(html.unescape(_MARK.sub('', text))))} "


def _attachment_lines(attachment: Json) -> Iterator[str]:
    """The lines of an attachment; its substitute text if it has none."""
    framed = [] if is_shared(attachment) else ["author_name"]
    lines = [_value(attachment, name) for name in ("pretext", *framed, "title", "text")]
    fields = objects(attachment, "fields")
    lines += [": ".join(filter(None, (_value(row, "title"), _value(row, "value")))) for row in fields]
    shared = [mapping(row, "message") for row in objects(attachment, "message_blocks")]
    for holder in (attachment, *shared):
        lines += _further_lines(_value(attachment, "text"), _block_lines(objects(holder, "blocks")))
    lines += [] if is_shared(attachment) else [_value(attachment, "footer")]
    lines = [line for line in lines if line.strip()]
    yield from lines or [_value(attachment, "fallback")]


def _block_lines(parts: Iterable[Any]) -> Iterator[str]:
    """The lines of blocks and of what they hold, in order."""
    for part in parts:
        if type(part) is list:  # a row of a table
            yield " | ".join(_block_lines(part))
        elif type(part) is dict and part.get("type") in _LINES:
            yield "".join(map(_inline, objects(part, "elements")))
        elif type(part) is dict:
            yield from _own_lines(part)


def _own_lines(block: Json) -> Iterator[str]:
    for name in _PARTS:
        value = block.get(name)
        if type(value) is str:
            yield value if block.get("type") in ("mrkdwn", "markdown") else _escape(value)
        else:
            yield from _block_lines(value if type(value) is list else [value])


def _inline(part: Json) -> str:
    write = _INLINE.get(_value(part, "type"))
    return write(part) if write else _escape(_value(part, "text"))


def _link(address: str, label: str) -> str:
    target = _escape(address).replace("|", "%7C")
    return f"<{target}|{_escape(label)}>" if label else f"<{target}>"


def _value(part: Json, name: str) -> str:
    """A field that is a string or a number; empty for anything else."""
    value = part.get(name)
    return str(value) if type(value) in (str, int, float) else ""


def _escape(text: str) -> str:
    return html.escape(text, quote=False)
