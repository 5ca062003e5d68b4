"""Stores for the keys of an archive, always outside of it: a file, the environment, or the system's keyring.

A copy of RELRAG_HOME alone does not reveal any pseudonym.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from relrag_pipelines.files.atomic import replace_file, sync_folder
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.privacy import keys as key_texts
from relrag_pipelines.privacy.keys import Keys, KeysError

VARIABLE = "RELRAG_KEYS"
"""the environment's keys, as `relrag pii new-keys` prints them"""
_SERVICE = "relrag"


class KeyStore(Protocol):
    """A store for the keys of one archive."""

    def exists(self) -> bool:
        """Whether there are keys, valid or not."""

    def load(self) -> Keys:
        """The keys; KeysError if they are missing, readable by others, or invalid."""

    def create(self) -> Keys:
        """Stores new keys atomically and returns them; if another process stored keys first, returns those."""

    def replace(self, keys: Keys) -> None:
        """Replaces the keys atomically. KeysError if this process cannot."""

    def __hash__(self) -> int:
        """Equal stores have equal hashes."""


@dataclass(frozen=True)
class KeyFile:
    """An owner-only file."""

    path: Path

    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    def load(self) -> Keys:
        """The keys in the file; KeysError if it is missing, readable by others, or no key file."""
        try:
            mode = self.path.stat().st_mode
            keys = key_texts.parse(self.path.read_text(), str(self.path))
        except FileNotFoundError:
            raise KeysError(f"the archive's keys are missing: {self.path}; restore them from your backup") from None
        except (OSError, UnicodeDecodeError):
            raise KeysError(f"{self.path} holds no keys of relrag, or cannot be read") from None
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise KeysError(f"{self.path} can be read by others; run: chmod 600 {self.path}")
        return keys

    def create(self) -> Keys:
        """Writes new keys to a new file atomically; if another process wrote it first, returns its keys."""
        keys, path = key_texts.new_keys(), self.path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        failpoint("keys.write", path)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.") as file:
            file.write(key_texts.to_text(keys) + "\n")
            file.flush()
            failpoint("keys.fsync", path)
            os.fsync(file.fileno())
            failpoint("keys.link", path)
            try:
                os.link(file.name, path)  # unlike a rename, it never replaces a file
            except FileExistsError:
                return self.load()
        sync_folder(path.parent)
        return keys

    def replace(self, keys: Keys) -> None:
        """Replaces the file's keys by one rename."""
        with replace_file(self.path) as temporary:
            temporary.write_text(key_texts.to_text(keys) + "\n")


@dataclass(frozen=True)
class KeyVariable:
    """The environment variable RELRAG_KEYS, which is set outside relrag, for example by a secrets manager."""

    def exists(self) -> bool:
        """Whether the variable is set."""
        return bool(os.environ.get(VARIABLE))

    def load(self) -> Keys:
        """The keys in the variable; KeysError if it is not set or holds no keys."""
        if not self.exists():
            raise KeysError(
                f"the archive's keys are missing: {VARIABLE} is not set; for a new archive make some by "
                "`relrag pii new-keys`"
            )
        return key_texts.parse(os.environ[VARIABLE], VARIABLE)

    def create(self) -> Keys:
        """Returns the keys in the variable; KeysError if there are none, because relrag cannot set the variable."""
        return self.load()

    def replace(self, keys: Keys) -> None:
        """Raises KeysError: relrag cannot set the variable."""
        raise KeysError(f"{VARIABLE} is set outside of relrag; set it to what `relrag pii rotate-key` printed")


@dataclass(frozen=True)
class Keyring:
    """The system's keyring, through the library keyring, which is an extra: relrag[keyring]."""

    archive: str
    """name of the keys in the keyring"""
    lock: Path
    """file to lock while keys are created, because a keyring has no atomic create"""

    def exists(self) -> bool:
        """Whether the keyring has keys of the archive."""
        return self._stored() is not None

    def load(self) -> Keys:
        """The keys in the keyring; KeysError if there are none, or the keyring cannot be used."""
        stored = self._stored()
        if stored is None:
            raise KeysError(f"the archive's keys are missing: {self}; restore them from your backup")
        return key_texts.parse(stored, str(self))

    def create(self) -> Keys:
        """Stores new keys in the keyring and returns them; if it already has keys, returns those."""
        self.lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not self.exists():
                self.replace(key_texts.new_keys())
            return self.load()

    def replace(self, keys: Keys) -> None:
        """Replaces the keys in the keyring."""
        self._ask("set_password", key_texts.to_text(keys))

    def __str__(self) -> str:
        return f'"{self.archive}" of {_SERVICE} in the keyring'

    def _stored(self) -> str | None:
        password = self._ask("get_password")
        return None if password is None else str(password)

    def _ask(self, method: str, *arguments: str) -> Any:
        try:
            import keyring
        except ImportError:
            problem = 'keys_store is "keyring", which needs the library of that name'
            raise KeysError(f"{problem}; install relrag[keyring]") from None
        try:
            return getattr(keyring, method)(_SERVICE, self.archive, *arguments)
        except Exception as error:  # noqa: BLE001  each backend has its own errors, which may quote the keys
            fault = type(error).__name__
        raise KeysError(f"the keyring cannot be used ({fault}); see that it is unlocked, or set keys_store to file")
