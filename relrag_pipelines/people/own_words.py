"""Redacts the words of the owner's statements about people as those of any document are redacted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relrag_pipelines.identity.journal_statements import Entry, Merge

if TYPE_CHECKING:
    from relrag_pipelines.pii import PIIRedactor

_TEXT_FIELDS = ("description", "note", "value")


def redact_entry(entry: Entry, redactor: Callable[[], PIIRedactor]) -> Entry:
    """The entry with its words redacted; a text that cannot be redacted becomes empty.

    The redactor is loaded only if there are words: it needs the archive's keys.
    """
    statement: Any = entry.statement
    texts = {name: text for name in _TEXT_FIELDS if isinstance(text := getattr(statement, name, None), str)}
    if not texts:
        return entry
    redacted = {name: _redact(text, redactor()) for name, text in texts.items()}
    return replace(entry, statement=replace(statement, **redacted))


def redact_names(entry: Entry, redactor: Callable[[], PIIRedactor]) -> Entry:
    """The entry with the names of merged people redacted: the journal has them as an earlier policy left them."""
    merge = entry.statement
    if not isinstance(merge, Merge) or not any(merge.names):
        return entry
    return replace(entry, statement=replace(merge, names=tuple(_redact(name, redactor()) for name in merge.names)))


def _redact(text: str, redactor: PIIRedactor) -> str:
    from relrag_pipelines.pii import RedactionError

    try:
        return redactor.redact(text, "default")
    except RedactionError:
        return ""
