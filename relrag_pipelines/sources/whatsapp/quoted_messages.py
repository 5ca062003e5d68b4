"""Which message of a chat an exported one quotes: an export holds no reply data, but people quote with `> `."""

from __future__ import annotations

import re
from collections import deque

from relrag_pipelines.records import Record

_REMEMBERED = 2_000
"""messages before a quote among which the quoted one is looked for: people answer what they have just read"""
_MIN_PART = 8
"""characters of a quote that is only a part of the quoted message"""
_QUOTE = re.compile(r"(?:> ?[^\n]*(?:\n|$))+")
_ELLIPSIS = ("…", "...")


class QuotedMessages:
    """The last messages of one chat."""

    def __init__(self) -> None:
        self._messages: deque[tuple[str, str, str]] = deque(maxlen=_REMEMBERED)

    def link(self, message: Record, source_id: str, sender: str | None, text: str) -> None:
        """Notes which earlier message a message answers, and remembers it; a notice without a sender answers none."""
        if text[:1] == ">" and sender and (quoted := self.quoted_by(text)):
            message.parent_asset_id = f"whatsapp:{quoted}"
        self.add(source_id, sender or "", text)

    def add(self, source_id: str, sender: str, text: str) -> None:
        """Remembers a message, to be called in the chat's order."""
        self._messages.append((source_id, sender, text))

    def quoted_by(self, text: str) -> str:
        """The source_id of the latest message that a text begins by quoting; empty if it quotes none.

        The quote is a whole message or a part of one, with its sender in front or without.
        """
        quote = _quote_of(text)
        if not quote:
            return ""
        part = ""
        for source_id, sender, message in reversed(self._messages):
            words = quote.removeprefix(f"{sender}: ")
            message = _plain(message)
            if message == words:
                return source_id
            if not part and len(words) >= _MIN_PART and _holds(message, words):
                part = source_id
        return part


def _quote_of(text: str) -> str:
    """What a text quotes at its beginning, without the marks; empty if nothing."""
    quoted = _QUOTE.match(text)
    if quoted is None:
        return ""
    lines = [line.removeprefix(">") for line in quoted[0].split("\n")]
    shortened = _plain(" ".join(lines))
    return next((shortened.removesuffix(mark).rstrip() for mark in _ELLIPSIS if shortened.endswith(mark)), shortened)


def _holds(message: str, words: str) -> bool:
    """Whether a message has these words as a part, and no part of a word."""
    start = message.find(words)
    if start < 0:
        return False
    around = message[max(0, start - 1) : start] + message[start + len(words) : start + len(words) + 1]
    return not any(letter.isalnum() for letter in around)


def _plain(text: str) -> str:
    return " ".join(text.split())
