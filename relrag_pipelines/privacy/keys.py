"""The secret keys of an archive: one for ids, which never changes, and one for pseudonyms, which has a version.

They are stored outside RELRAG_HOME, so that a copy of the home alone does not reveal any pseudonym. The plain hash of a
short secret (a phone number, a name) can be reversed by trying all values; a keyed hash cannot.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from relrag_pipelines.errors import SafeError


class KeysError(SafeError):
    """The keys are missing or unusable; the message says which file and what to do."""


@dataclass(frozen=True)
class Keys:
    """The keys of an archive; `repr` does not show them."""

    ids: bytes
    pseudonyms: bytes
    version: str
    """name of the pseudonym key, part of every pseudonym: k1, k2, ..."""

    _keyed: Callable[[], hashlib.blake2b] = field(init=False, repr=False, compare=False)
    """copies a hash that already includes the key: faster than a new one, and ids are hashed by the million"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keyed", hashlib.blake2b(digest_size=8, key=self.ids).copy)

    def __reduce__(self) -> tuple[type[Keys], tuple[bytes, bytes, str]]:
        return Keys, (self.ids, self.pseudonyms, self.version)

    def __repr__(self) -> str:
        return f"Keys(version={self.version!r})"

    def id_hash(self, text: str) -> str:
        """Keyed hash for use inside ids: 16 hex digits."""
        keyed = self._keyed()
        keyed.update(text.encode("utf-8", "surrogatepass"))
        return keyed.hexdigest()

    def content_hash(self, data: bytes) -> str:
        """Keyed hash of a row's content: 32 hex digits."""
        return hashlib.blake2b(data, digest_size=16, key=self.ids).hexdigest()

    def pseudonym(self, kind: str, normalised: str) -> str:
        """Keyed hash of a normalised value of that kind: 12 hex digits, equal for equal values."""
        text = f"{kind}\0{normalised}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=6, key=self.pseudonyms).hexdigest()

    def seal(self, value: str, kind: str) -> bytes:
        """The value encrypted (AES-GCM-SIV, RFC 8452), with the kind as associated data; equal values give equal bytes.

        12 bytes of nonce, the ciphertext, and 16 bytes of tag. The nonce is a keyed hash of the value, so it repeats
        only if the value does, and the cipher resists nonce reuse.
        """
        return self.seal_bytes(value.encode("utf-8", "surrogatepass"), kind)

    def unseal(self, sealed: bytes, kind: str) -> str | None:
        """The decrypted value; None if other keys sealed it or the bytes were changed."""
        plain = self.unseal_bytes(sealed, kind)
        return None if plain is None else plain.decode("utf-8", "surrogatepass")

    def seal_bytes(self, plain: bytes, kind: str) -> bytes:
        """As `seal`, of bytes."""
        nonce = hashlib.blake2b(kind.encode() + b"\0" + plain, digest_size=12, key=self._vault).digest()
        sealed: bytes = _cipher(self._vault).encrypt(nonce, plain, kind.encode())
        return nonce + sealed

    def unseal_bytes(self, sealed: bytes, kind: str) -> bytes | None:
        """As `unseal`, of what `seal_bytes` gave."""
        from cryptography.exceptions import InvalidTag

        try:
            plain: bytes = _cipher(self._vault).decrypt(sealed[:12], sealed[12:], kind.encode())
        except (InvalidTag, ValueError):
            return None
        return plain

    @property
    def _vault(self) -> bytes:
        """The key of the vault, derived from the pseudonym key: rotating that one changes both."""
        return hashlib.blake2b(digest_size=32, key=self.pseudonyms, person=b"relrag-vault").digest()

    @property
    def fingerprint(self) -> str:
        """Identifies these keys without revealing them: 16 hex digits."""
        return hashlib.blake2b(self.ids + self.pseudonyms, digest_size=8, person=b"relrag-keys").hexdigest()

    @property
    def id_fingerprint(self) -> str:
        """Identifies the id key without revealing it: 16 hex digits."""
        return hashlib.blake2b(self.ids, digest_size=8, person=b"relrag-keys").hexdigest()


@functools.lru_cache(maxsize=2)
def _cipher(key: bytes) -> Any:
    # imported only when a value is sealed or revealed
    from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

    return AESGCMSIV(key)


def new_keys() -> Keys:
    """New random keys."""
    return Keys(secrets.token_bytes(32), secrets.token_bytes(32), "k1")


def next_keys(keys: Keys) -> Keys:
    """The same id key with a new pseudonym key of the next version."""
    return Keys(keys.ids, secrets.token_bytes(32), f"k{int(keys.version[1:]) + 1}")


def to_text(keys: Keys) -> str:
    """The keys as JSON, as stores hold them: a secret."""
    return json.dumps({"version": keys.version, "ids": keys.ids.hex(), "pseudonyms": keys.pseudonyms.hex()})


def parse(text: str, origin: str) -> Keys:
    """Keys as `to_text` wrote them; KeysError where they are not, `origin` says where they stand."""
    try:
        values = json.loads(text)
        keys = Keys(bytes.fromhex(values["ids"]), bytes.fromhex(values["pseudonyms"]), values["version"])
        if _VERSION.fullmatch(keys.version):
            return keys
    except (ValueError, KeyError, TypeError):
        pass
    raise KeysError(f"{origin} holds no keys of relrag, or cannot be read")


_VERSION = re.compile(r"k\d+")


_KEY = (
    r"(?<![0-9A-Za-z])(?:A(?:KI|SI)A|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|AIza|ya29\.|sk-|[rs]k_(?:live|test)_"
    r"|whsec_|npm_|pypi-|SG\.|hf_|dop_v1_|eyJ)[\w.-]{16,}"
)
"""prefixes of keys of well-known services"""
_REVEALING = re.compile(rf"[@＠﹫]|%40|(?:\d[^\w\n]{{0,3}}){{7}}|(?<!\d)\d{{3,4}}_\d{{3}}_\d{{3,4}}(?!\d)|{_KEY}")
_MAC = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![0-9A-Za-z])")
"""the address of a network card, whose colons would separate it into parts"""
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
"""a date in a file name: `meeting-2025-01-08.txt`"""
_HASH_OR_TIME = re.compile(r"(?=\d*[a-f])[0-9a-f]{16,}|\d{8}T\d{6}")
"""hashes and local times, which sources put into ids"""
_PART = rf"(?:[a-z_]*\d{{0,6}}|{_HASH_OR_TIME.pattern})"
_HARMLESS = re.compile(rf"{_PART}(?::{_PART})*")
"""an id without any part that could be replaced; a fast path for the ids of a million messages"""


def safe_native_id(native_id: str, keys: Keys) -> str:
    """The id with every part that could hold an address or a phone number replaced by its keyed hash.

    Parts are separated by colons. A part with `@` or seven digits, or `777_123_456`, or a key of a well-known service,
    is replaced, unless it is a hash or a time; the digits of a date do not count. Ids occur in every table and must
    identify a record under any policy, so they are never redacted, only replaced in part. The rule covers more than
    phone numbers on purpose. If a part ends with `~` and a hash, the text before counts as a part of its own.
    """
    return safe_id(native_id, keys.id_hash)


def safe_id(native_id: str, id_hash: Callable[[str], str]) -> str:
    """As `safe_native_id`, with `id_hash` as the keyed hash."""
    if _HARMLESS.fullmatch(native_id):
        return native_id
    native_id = _MAC.sub(lambda match: f"h{id_hash(match[0])}", native_id)
    if not _REVEALING.search(native_id):
        return native_id
    return ":".join(_safe_part(part, id_hash) for part in native_id.split(":"))


def _safe_part(part: str, id_hash: Callable[[str], str]) -> str:
    value, mark, suffix = part.rpartition("~")
    if not mark or not _HASH_OR_TIME.fullmatch(suffix):
        value, mark, suffix = part, "", ""
    revealing = _REVEALING.search(_DATE.sub("-", value)) and not _HASH_OR_TIME.fullmatch(value)
    return f"h{id_hash(value)}{mark}{suffix}" if revealing else part
