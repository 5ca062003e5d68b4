"""Stores the erasure rules in private/forgotten.json, as keyed hashes without text.

A rule names records by their ids, a person by the words of the name or by an address, a source, or a time before
which records are removed. It also holds hashes of the removed mails' texts, to match quotations. The hashes are keyed
by the id key, so that a copy of the archive alone reveals no name. rule_matching.py applies the rules; it is a module
of its own because it is slow to import, and every plan loads the rules.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.privacy.keys import Keys, KeysError
from relrag_pipelines.stores import private_manifest

PATH = Path("private", "forgotten.json")
"""within RELRAG_HOME"""
LIKE_FORGOTTEN = "like_forgotten"
"""fault of a record that is read although it may be a forgotten one"""

_VERSION = 3


class ForgettingError(SafeError):
    """The request to forget is unclear or cannot be carried out; the message says what to do."""


@dataclass(frozen=True)
class ErasureRule:
    """One decision of the owner to forget something."""

    number: int
    what: str
    """records, person, source or before"""
    at: str
    """when, ISO 8601, UTC"""
    records: int = 0
    """number of records that the rule removed when it was made"""
    source: str = ""
    """name of the source that is no longer read"""
    before: int | None = None
    """records of an earlier time are left out; seconds, UTC"""
    ids: list[str] = field(default_factory=list)
    """keyed hashes of records' ids, and fingerprints that recognise them under another id"""
    names: list[list[str]] = field(default_factory=list)
    """keyed hashes of the words of each name, in order"""
    addresses: list[str] = field(default_factory=list)
    """keyed hashes of addresses, phone numbers and accounts, normalised"""
    single_mails: list[str] = field(default_factory=list)
    """those of `ids` that name only the selected mail, although others have its Message-ID"""
    hints: list[str] = field(default_factory=list)
    """fingerprints that other records may have too"""
    said: str = ""
    """keyed hashes of forgotten mails' texts, to match quotations; encoded by `word_hashes.encode`"""


@dataclass(frozen=True)
class ErasureRules:
    """All rules of an archive."""

    rules: list[ErasureRule] = field(default_factory=list)
    last: int = 0
    """highest number ever given to a rule"""
    unfinished: bool = False
    """a kill interrupted the removal; private/ may still hold records that the rules name"""

    def sources(self) -> set[str]:
        """Names of sources that are no longer read."""
        return {rule.source for rule in self.rules if rule.source}


def load(home: Path, keys: Keys | None = None) -> ErasureRules:
    """The rules of an archive; empty if nothing was forgotten.

    Raises KeysError if they were made with other keys: the forgotten records would come back.
    """
    try:
        stored = json.loads((home / PATH).read_text())
    except FileNotFoundError:
        return ErasureRules()
    if stored["version"] > _VERSION:
        raise ForgettingError(f"{PATH} was written by a newer relrag; install that version")
    if keys and stored["keys"] != keys.id_fingerprint:
        raise KeysError(f"{PATH} was written with other keys than keys_file names; restore the keys of this archive")
    return ErasureRules([ErasureRule(**rule) for rule in stored["rules"]], stored["last"], stored["unfinished"])


def save(home: Path, rules: ErasureRules, keys: Keys) -> None:
    """Replaces the stored rules."""
    body = {"version": _VERSION, "keys": keys.id_fingerprint, **asdict(rules)}
    text = json.dumps(body) + "\n"
    private_manifest.expect(home, PATH.as_posix(), hashlib.sha256(text.encode()).hexdigest())
    write_text(home / PATH, text)


def add_rule(rules: ErasureRules, rule: ErasureRule) -> ErasureRules:
    """The rules with a new one, which gets the next number; marked as unfinished."""
    return ErasureRules([*rules.rules, replace(rule, number=rules.last + 1)], rules.last + 1, unfinished=True)
