"""Makes pseudonyms with the keys of an archive; `pseudonyms.py` describes their form."""

from __future__ import annotations

import re

from relrag_pipelines.privacy.keys import Keys

_SEALED = re.compile(r"(<[A-Z][A-Z0-9_]*:k\d+:)e[0-9a-f]{56,}>")


def pseudonym(entity: str, keyed_as: str, normalised: str, keys: Keys) -> str:
    """The pseudonym of a normalised value."""
    return f"<{entity}:{keys.version}:{keys.pseudonym(keyed_as, normalised)}>"


def encrypt(entity: str, value: str, keys: Keys) -> str:
    """The encrypted form of a value, which the keys decrypt; equal for equal values."""
    return f"<{entity}:{keys.version}:e{keys.seal(value, entity).hex()}>"


def for_log(name: str, keys: Keys) -> str:
    """A pseudonym safe for a log: an encrypted value is replaced by its keyed hash, which cannot be decrypted."""
    match = _SEALED.fullmatch(name)
    return f"{match[1]}{keys.pseudonym('encrypted', name)}>" if match else name
