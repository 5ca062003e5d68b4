"""The secret keys of an archive: one for ids, which never changes, and one for pseudonyms, which has a version.

They live in one owner-only file outside RELRAG_HOME, so that a copy of the home alone reverses nothing. A hash of a
short secret (a phone number, a name) can be found by trying all of them; under a key it cannot.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import sync_folder
from relrag_pipelines.files.failpoints import failpoint


class KeysError(SafeError):
    """The keys are missing or unusable; the message says which file and what to do."""


@dataclass(frozen=True)
class Keys:
    """The keys themselves; never printed."""

    ids: bytes
    pseudonyms: bytes
    version: str
    """name of the pseudonym key, which stands in every pseudonym: k1, k2, ..."""

    _keyed: Callable[[], hashlib.blake2b] = field(init=False, repr=False, compare=False)
    """a copy of the hash with the key already in it: it costs less than a new one, and ids are hashed by the million"""

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
        """The value encrypted (AES-GCM-SIV, RFC 8452), with the kind as further data; equal values give equal bytes.

        12 bytes of nonce, the text, and 16 bytes of tag. The nonce is a keyed hash of the value, so it repeats only
        where the value does, and the cipher bears even that.
        """
        plain = value.encode("utf-8", "surrogatepass")
        nonce = hashlib.blake2b(kind.encode() + b"\0" + plain, digest_size=12, key=self._vault).digest()
        sealed: bytes = _cipher(self._vault).encrypt(nonce, plain, kind.encode())
        return nonce + sealed

    def unseal(self, sealed: bytes, kind: str) -> str | None:
        """The value again; None where other keys sealed it, or somebody changed it."""
        from cryptography.exceptions import InvalidTag

        try:
            plain: bytes = _cipher(self._vault).decrypt(sealed[:12], sealed[12:], kind.encode())
        except (InvalidTag, ValueError):
            return None
        return plain.decode("utf-8", "surrogatepass")

    @property
    def _vault(self) -> bytes:
        """The key of what can be revealed, derived from that of the pseudonyms: a new one of those makes both anew."""
        return hashlib.blake2b(digest_size=32, key=self.pseudonyms, person=b"relrag-vault").digest()

    @property
    def fingerprint(self) -> str:
        """Tells these keys from others without revealing them: 16 hex digits."""
        return hashlib.blake2b(self.ids + self.pseudonyms, digest_size=8, person=b"relrag-keys").hexdigest()

    @property
    def id_fingerprint(self) -> str:
        """Tells the id key from others without revealing it: 16 hex digits."""
        return hashlib.blake2b(self.ids, digest_size=8, person=b"relrag-keys").hexdigest()


@functools.lru_cache(maxsize=2)
def _cipher(key: bytes) -> Any:
    # imported only where something is sealed or revealed
    from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

    return AESGCMSIV(key)


def load(path: Path) -> Keys:
    """The keys in that file; KeysError where it is missing, open to others, or no key file."""
    try:
        mode = path.stat().st_mode
        values = json.loads(path.read_text())
        keys = Keys(bytes.fromhex(values["ids"]), bytes.fromhex(values["pseudonyms"]), values["version"])
    except FileNotFoundError:
        raise KeysError(f"the archive's keys are missing: {path}; restore them from your backup") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise KeysError(f"{path} is no key file of relrag, or cannot be read") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeysError(f"{path} can be read by others; run: chmod 600 {path}")
    return keys


def create(path: Path) -> Keys:
    """New keys in a new owner-only file, whole or absent; where another process made it first, its keys."""
    keys = Keys(secrets.token_bytes(32), secrets.token_bytes(32), "k1")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    body = json.dumps({"version": keys.version, "ids": keys.ids.hex(), "pseudonyms": keys.pseudonyms.hex()})
    failpoint("keys.write", path)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.") as file:
        file.write(body + "\n")
        file.flush()
        failpoint("keys.fsync", path)
        os.fsync(file.fileno())
        failpoint("keys.link", path)
        try:
            os.link(file.name, path)  # unlike a rename it never takes the place of a file
        except FileExistsError:
            return load(path)
    sync_folder(path.parent)
    return keys


_REVEALING = re.compile(r"[@＠﹫]|%40|(?:\d[^\w\n]{0,3}){7}|(?<!\d)\d{3,4}_\d{3}_\d{3,4}(?!\d)")
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
"""a day, as names of files hold it: `meeting-2025-01-08.txt`"""
_OUR_OWN = re.compile(r"(?=\d*[a-f])[0-9a-f]{16,}|\d{8}T\d{6}")
"""hashes and local times, which connectors put into ids"""
_PART = rf"(?:[a-z_]*\d{{0,6}}|{_OUR_OWN.pattern})"
_HARMLESS = re.compile(rf"{_PART}(?::{_PART})*")
"""an id of nothing that could be replaced: those of a million messages are not worth a look at each part"""


def safe_native_id(native_id: str, keys: Keys) -> str:
    """The id with every part that could hold an address or a phone number replaced by its keyed hash.

    Parts are separated by colons; one that holds `@` or seven digits, or `777_123_456`, is replaced, unless it is a
    hash or a time; the digits of a day do not count. Ids stand in every table and must mean one record under any
    policy, so they are never redacted, only replaced by part. The rule is wider than a phone number on purpose.
    """
    return safe_id(native_id, keys.id_hash)


def safe_id(native_id: str, id_hash: Callable[[str], str]) -> str:
    """As `safe_native_id`, by the keyed hash of the ids itself."""
    if _HARMLESS.fullmatch(native_id) or not _REVEALING.search(native_id):
        return native_id
    return ":".join(
        f"h{id_hash(part)}" if _REVEALING.search(_DATE.sub("-", part)) and not _OUR_OWN.fullmatch(part) else part
        for part in native_id.split(":")
    )
