"""Pseudonyms: `<PHONE_NUMBER:k1:ab12cd34ef56>` stands for one value, the same in every channel.

The letters say what it was, `k1` names the key, the rest is the keyed hash of the normalised value. A policy may have
values encrypted instead: `<IBAN_CODE:k1:e...>`, which the keys turn back. In a text that is
redacted already they are left alone, so redacting twice changes nothing. A text that comes from outside and holds
something that looks like one is disarmed before it is redacted, so that nobody can plant or imitate one.
"""

from __future__ import annotations

import re

from relrag_pipelines.privacy.keys import Keys

PATTERN = r"<([A-Z][A-Z0-9_]*):k\d+:(?:[0-9a-f]{12}|e[0-9a-f]{56,})>"
"""what a pseudonym looks like, for both Python and RE2"""

_PSEUDONYM = re.compile(PATTERN)
TYPE = re.compile(r"<[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+>")
"""what stands for a value that was replaced by its type, such as <PHONE_NUMBER>"""
_SEALED = re.compile(r"(<[A-Z][A-Z0-9_]*:k\d+:)e[0-9a-f]{56,}>")
_ARMED = re.compile(PATTERN.replace("<", "<(?=").replace(">", ">)"))


def pseudonym(entity: str, keyed_as: str, normalised: str, keys: Keys) -> str:
    """The pseudonym of a normalised value."""
    return f"<{entity}:{keys.version}:{keys.pseudonym(keyed_as, normalised)}>"


def is_pseudonym(text: str) -> bool:
    """Whether the text is one, and nothing else."""
    return _PSEUDONYM.fullmatch(text) is not None


def entity_of(name: str) -> str:
    """What kind of value a pseudonym stands for, `PHONE_NUMBER`."""
    return name[1:].partition(":")[0]


def all_in(text: str) -> list[str]:
    """The pseudonyms in a text, each once, in order."""
    return list(dict.fromkeys(match[0] for match in _PSEUDONYM.finditer(text))) if ":k" in text else []


def encrypt(entity: str, value: str, keys: Keys) -> str:
    """What stands for a value that the keys can turn back; the same for the same value."""
    return f"<{entity}:{keys.version}:e{keys.seal(value, entity).hex()}>"


def for_log(name: str, keys: Keys) -> str:
    """A pseudonym as a log may keep it: of an encrypted value its keyed hash alone, which nobody can turn back."""
    match = _SEALED.fullmatch(name)
    return f"{match[1]}{keys.pseudonym('encrypted', name)}>" if match else name


def to_entity_type(text: str) -> str:
    """The text with each pseudonym reduced to its type, `<PHONE_NUMBER>`."""
    return _PSEUDONYM.sub(r"<\1>", text) if ":k" in text else text


def mask_pseudonyms(text: str) -> str:
    """The text with each pseudonym covered, every offset unchanged."""
    return _PSEUDONYM.sub(lambda match: "\ufffc" * len(match[0]), text) if ":k" in text else text


def escape_lookalikes(text: str) -> str:
    """The text with what only looks like a pseudonym made to look like none; its length does not change."""
    return _ARMED.sub("‹", text) if ":k" in text else text
