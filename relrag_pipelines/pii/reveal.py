"""What pseudonyms stand for, for the archive's owner and nobody else.

Whoever calls this notes first who asks and why (stores/vault.py); what it returns goes to a terminal, never to a model,
a file or a log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from relrag_pipelines.pii import pseudonyms
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import vault


def originals(home: Path, keys: Keys, names: Collection[str]) -> Mapping[str, str]:
    """What these pseudonyms stand for, by pseudonym; what is not in the vault, or of other keys, is left out."""
    # encrypted ones too, though the keys alone would open them: what was forgotten stays closed
    opened = ((name, keys.unseal(value, name)) for name, value in vault.read(home, names).items())
    return {name: value for name, value in opened if value is not None}


def known_values(home: Path, keys: Keys, allowed: Iterable[str], names: Collection[str] | None = None) -> KnownValues:
    """Everything in the vault that these keys read, to be looked for, or what these pseudonyms stand for.

    `allowed` are nobody's secret. Raises VaultError where the vault cannot be read.
    """
    # of one value the vault may hold several spellings, each of another month
    sealed_values = set(vault.read_all(home)) if names is None else vault.read(home, names).items()
    opened = ((name, keys.unseal(sealed, name)) for name, sealed in sealed_values)
    values = ((pseudonyms.entity_of(name), value) for name, value in opened if value is not None)
    return KnownValues.from_pairs(values, allowed)


def in_text(text: str, values_by_name: Mapping[str, str]) -> str:
    """The text with each pseudonym followed by what it stands for."""
    for name, value in values_by_name.items():
        text = text.replace(name, f"{value} {name}")
    return text
