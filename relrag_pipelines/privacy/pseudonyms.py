"""Pseudonyms: `<PHONE_NUMBER:k1:ab12cd34ef56>` stands for one value, the same in every channel.

`PHONE_NUMBER` is the entity, `k1` the version of the key, the rest the keyed hash of the normalised value. A policy may
encrypt values instead: `<IBAN_CODE:k1:e...>`, which the keys decrypt. `keyed_pseudonyms.py` makes both. Redaction skips
pseudonyms, so redacting twice changes nothing. Lookalikes in a text from outside are escaped before it is redacted, so
that nobody can forge one.
"""

from __future__ import annotations

import re

PATTERN = r"<([A-Z][A-Z0-9_]*):k\d+:(?:[0-9a-f]{12}|e[0-9a-f]{56,})>"
"""pattern of a pseudonym, for both Python and RE2"""

_PSEUDONYM = re.compile(PATTERN)
TYPE = re.compile(r"<[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+>")
"""pattern of a value that was replaced by its type, such as <PHONE_NUMBER>"""
_LOOKALIKE_START = re.compile(PATTERN.replace("<", "<(?=").replace(">", ">)"))


def is_pseudonym(text: str) -> bool:
    """Whether the whole text is a pseudonym."""
    return _PSEUDONYM.fullmatch(text) is not None


def entity_of(name: str) -> str:
    """The entity of a pseudonym, `PHONE_NUMBER`."""
    return name[1:].partition(":")[0]


def all_in(text: str) -> list[str]:
    """The pseudonyms in a text, each once, in order."""
    return list(dict.fromkeys(match[0] for match in _PSEUDONYM.finditer(text))) if ":k" in text else []


def to_entity_type(text: str) -> str:
    """The text with each pseudonym reduced to its type, `<PHONE_NUMBER>`."""
    return _PSEUDONYM.sub(r"<\1>", text) if ":k" in text else text


def mask_pseudonyms(text: str) -> str:
    """The text with each pseudonym masked, offsets unchanged."""
    return _PSEUDONYM.sub(lambda match: "\ufffc" * len(match[0]), text) if ":k" in text else text


def escape_lookalikes(text: str) -> str:
    """The text with lookalikes of pseudonyms escaped; its length stays the same."""
    return _LOOKALIKE_START.sub("‹", text) if ":k" in text else text
