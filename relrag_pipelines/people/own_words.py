"""What the owner says of people in words of his own, redacted as any document is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relrag_pipelines.identity.statements import Entry

if TYPE_CHECKING:
    from relrag_pipelines.pii import PIIRedactor

_WORDS = ("description", "note", "value")


def redact_entry(entry: Entry, redactor: Callable[[], PIIRedactor]) -> Entry:
    """The entry with its words redacted; what cannot be redacted is left out.

    The redactor is asked for only where there are words: it needs the archive's keys.
    """
    told = {name: text for name in _WORDS if isinstance(text := getattr(entry.statement, name, None), str)}
    if not told:
        return entry
    from relrag_pipelines.pii import RedactionError

    chosen, clean = redactor(), {}
    for name, text in told.items():
        try:
            clean[name] = chosen.redact(text, "default")
        except RedactionError:
            clean[name] = ""
    said: Any = entry.statement
    return replace(entry, statement=replace(said, **clean))
