"""Reveals the values of pseudonyms to the archive's owner and nobody else.

Whoever calls this notes first who asks and why (stores/vault.py); what it returns goes to a terminal, never to a model,
a file or a log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.privacy import pseudonyms
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import vault


def originals(home: Path, keys: Keys, names: Collection[str]) -> Mapping[str, str]:
    """The values of these pseudonyms; those missing from the vault, or of other keys, are left out."""
    # encrypted pseudonyms too need the vault's entry, so that forgotten values stay hidden
    opened = ((name, keys.unseal(value, name)) for name, value in vault.read(home, names).items())
    return {name: value for name, value in opened if value is not None}


def known_values(home: Path, keys: Keys, allowed: Iterable[str], names: Collection[str] | None = None) -> KnownValues:
    """The values in the vault that these keys decrypt, or only those of `names`, for a search.

    `allowed` values are left out. Raises VaultError if the vault cannot be read.
    """
    # the vault may contain several spellings of one value, from different months
    sealed_values = set(vault.read_all(home)) if names is None else vault.read(home, names).items()
    opened = ((name, keys.unseal(sealed, name)) for name, sealed in sealed_values)
    values = ((pseudonyms.entity_of(name), value) for name, value in opened if value is not None)
    return KnownValues.from_pairs(values, allowed)


def in_text(text: str, values_by_name: Mapping[str, str]) -> str:
    """The text with the value before each pseudonym."""
    for name, value in values_by_name.items():
        text = text.replace(name, f"{value} {name}")
    return text
