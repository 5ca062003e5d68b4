"""The rules of erasure as they are stored: private/forgotten.json, keyed hashes and no text.

A rule names records by their ids, a person by the words of the name or by an address, a source, or a time before
which nothing is kept; and it knows what the mails that went by it say, wherever others quote them. The hashes are keyed
by the id key, so that a copy of the archive alone gives no name away. rule_matching.py says what rules mean; it takes
long to import, and every plan looks whether there are any rules.
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

PLACE = Path("private", "forgotten.json")
"""within RELRAG_HOME"""
LIKE_FORGOTTEN = "like_forgotten"
"""fault word of a record that is read and may be one that was forgotten"""

_VERSION = 3


class ForgettingError(SafeError):
    """What is to be forgotten is not named clearly, or cannot be; the message says what to do."""


@dataclass(frozen=True)
class ErasureRule:
    """One thing that the owner had forgotten."""

    number: int
    what: str
    """records, person, source or before"""
    at: str
    """when, ISO 8601, UTC"""
    records: int = 0
    """how many records went when it was made"""
    source: str = ""
    """name of the source that is read no more"""
    before: int | None = None
    """records of an earlier time are left out; seconds, UTC"""
    ids: list[str] = field(default_factory=list)
    """keyed hashes of records' ids, and marks by which they are known again under another"""
    names: list[list[str]] = field(default_factory=list)
    """keyed hashes of the words of each name, in order"""
    addresses: list[str] = field(default_factory=list)
    """keyed hashes of addresses, phone numbers and accounts, normalised"""
    single_mails: list[str] = field(default_factory=list)
    """of `ids` those that name only the mail that was chosen, though others bear its Message-ID"""
    hints: list[str] = field(default_factory=list)
    """keyed marks of records that something else may have as well"""
    said: str = ""
    """keyed hashes of what forgotten mails say, by which quotations of them are found, as `hashes.packed`"""


@dataclass(frozen=True)
class ErasureRules:
    """All rules of an archive."""

    rules: list[ErasureRule] = field(default_factory=list)
    last: int = 0
    """highest number that was ever given"""
    unfinished: bool = False
    """what the rules name may still stand in private/: a kill came between"""

    def sources(self) -> set[str]:
        """Names of sources that are read no more."""
        return {rule.source for rule in self.rules if rule.source}


def load(home: Path, keys: Keys | None = None) -> ErasureRules:
    """The rules of an archive; none where nothing was forgotten.

    Raises KeysError where they were made with other keys: what they name would come back.
    """
    try:
        stored = json.loads((home / PLACE).read_text())
    except FileNotFoundError:
        return ErasureRules()
    if stored["version"] > _VERSION:
        raise ForgettingError(f"{PLACE} was written by a newer relrag; install that version")
    if keys and stored["keys"] != keys.id_fingerprint:
        raise KeysError(f"{PLACE} was written with other keys than keys_file names; restore the keys of this archive")
    return ErasureRules([ErasureRule(**rule) for rule in stored["rules"]], stored["last"], stored["unfinished"])


def save(home: Path, rules: ErasureRules, keys: Keys) -> None:
    """Stores the rules in place of those that are there."""
    body = {"version": _VERSION, "keys": keys.id_fingerprint, **asdict(rules)}
    text = json.dumps(body) + "\n"
    private_manifest.expect(home, PLACE.as_posix(), hashlib.sha256(text.encode()).hexdigest())
    write_text(home / PLACE, text)


def add_rule(rules: ErasureRules, rule: ErasureRule) -> ErasureRules:
    """The rules with one more, whose number is given here; to be carried out."""
    return ErasureRules([*rules.rules, replace(rule, number=rules.last + 1)], rules.last + 1, unfinished=True)
