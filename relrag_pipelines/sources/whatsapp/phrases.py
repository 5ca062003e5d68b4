"""The phrases of phrases.toml, which WhatsApp writes into exports; system_messages.py says where.

Sources: the app's own strings, of iOS 22.24 and Android 2.8, as public parsers of exports have collected them in some
60 languages, and exports shown in their issues. A language has several wordings, of older and newer versions.
"""

from __future__ import annotations

import tomllib
from pathlib import Path


def _table(text: str) -> tuple[str, ...]:
    lines = (line.split(" | ") for line in text.splitlines())
    return tuple(phrase.strip() for phrases in lines for phrase in phrases if phrase.strip())


_PHRASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MORNING = _table(_PHRASES["morning"])
"""The first half of the day, as Unicode CLDR has it; points, quotes and spaces within are left out by many phones."""
AFTERNOON = _table(_PHRASES["afternoon"])
"""The second half of the day, likewise."""
JOINING = _table(_PHRASES["joining"])
"""What may stand between date and time."""
ATTACHED = _table(_PHRASES["attached"])
"""Says that a file is attached: in brackets after its name (Android), or before it between < and > (iOS)."""
OMITTED = {kind: _table(text) for kind, text in _PHRASES["omitted"].items()}
"""Says that media was left out, by its kind; Android doesn't tell the kind."""
DELETED = _table(_PHRASES["deleted"])
"""Says that the message was deleted, by its author, the phone's owner or an admin."""
EDITED = _table(_PHRASES["edited"])
"""Says that the message was edited."""
NOTICES = _table(_PHRASES["notices"])
"""Parts of notices that iOS shows as a message of the other person or of the group; regular expressions.

A missed call is one: nobody wrote it.
"""
TITLES: tuple[str, ...] = tuple(_PHRASES["titles"])
"""Names of exported files; {} stands for the name of the chat."""
UNTRANSLATED: tuple[str, ...] = tuple(_PHRASES["untranslated"])
"""Every English phrase above contains one of them."""
MONTH_FIRST: tuple[str, ...] = tuple(_PHRASES["month_first"])
"""Phrases of languages that write the month before the day: the half of the day in American English, and Filipino."""
