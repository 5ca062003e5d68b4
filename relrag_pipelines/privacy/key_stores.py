"""Where the keys of an archive are kept, always outside of it: a file, the environment, or the system's keyring.

A copy of RELRAG_HOME alone reverses nothing.
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
    """A place that holds the keys of one archive."""

    def exists(self) -> bool:
        """Whether there are keys, sound or not."""

    def load(self) -> Keys:
        """The keys; KeysError where they are missing, open to others, or no keys."""

    def create(self) -> Keys:
        """New keys, whole or absent; where another process made them first, its keys."""

    def replace(self, keys: Keys) -> None:
        """Puts these in place of the keys, at once or not at all. KeysError where this process cannot."""


@dataclass(frozen=True)
class KeyFile:
    """One owner-only file."""

    path: Path

    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def load(self) -> Keys:
        """The keys in the file; KeysError where it is missing, open to others, or no key file."""
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
        """New keys in a new file, whole or absent; where another process made it first, its keys."""
        keys, path = key_texts.new(), self.path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        failpoint("keys.write", path)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.") as file:
            file.write(key_texts.to_text(keys) + "\n")
            file.flush()
            failpoint("keys.fsync", path)
            os.fsync(file.fileno())
            failpoint("keys.link", path)
            try:
                os.link(file.name, path)  # unlike a rename it never takes the place of a file
            except FileExistsError:
                return self.load()
        sync_folder(path.parent)
        return keys

    def replace(self, keys: Keys) -> None:
        """Puts these in place of the file's keys by one rename."""
        with replace_file(self.path) as beside:
            beside.write_text(key_texts.to_text(keys) + "\n")


@dataclass(frozen=True)
class KeyVariable:
    """The environment: RELRAG_KEYS, which whoever starts relrag sets, such as a manager of secrets."""

    def exists(self) -> bool:
        """Whether the variable is set."""
        return bool(os.environ.get(VARIABLE))

    def load(self) -> Keys:
        """The keys in the variable; KeysError where it is not set, or holds none."""
        if not self.exists():
            raise KeysError(
                f"the archive's keys are missing: {VARIABLE} is not set; for a new archive make some by "
                "`relrag pii new-keys`"
            )
        return key_texts.parse(os.environ[VARIABLE], VARIABLE)

    def create(self) -> Keys:
        """Raises KeysError: nobody can set a variable for the process that comes next."""
        return self.load()

    def replace(self, keys: Keys) -> None:
        """Raises KeysError, as `create`."""
        raise KeysError(f"{VARIABLE} is set outside of relrag; set it to what `relrag pii rotate-key` printed")


@dataclass(frozen=True)
class Keyring:
    """The keyring of the system, by the library of that name, which is an extra: relrag[keyring]."""

    archive: str
    """the name under which it lies there"""
    lock: Path
    """a file that whoever makes keys locks: a keyring cannot take a value only where it has none"""

    def exists(self) -> bool:
        """Whether the keyring has keys of the archive."""
        return self._stored() is not None

    def load(self) -> Keys:
        """The keys in the keyring; KeysError where there are none, or it cannot be asked."""
        stored = self._stored()
        if stored is None:
            raise KeysError(f"the archive's keys are missing: {self}; restore them from your backup")
        return key_texts.parse(stored, str(self))

    def create(self) -> Keys:
        """New keys in the keyring; where it has some, or another process makes some meanwhile, these."""
        self.lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not self.exists():
                self.replace(key_texts.new())
            return self.load()

    def replace(self, keys: Keys) -> None:
        """Puts these in place of what the keyring has."""
        self._ask("set_password", key_texts.to_text(keys))

    def __str__(self) -> str:
        return f'"{self.archive}" of {_SERVICE} in the keyring'

    def _stored(self) -> str | None:
        found = self._ask("get_password")
        return None if found is None else str(found)

    def _ask(self, method: str, *more: str) -> Any:
        try:
            import keyring
        except ImportError:
            said = 'keys_store is "keyring", which needs the library of that name'
            raise KeysError(f"{said}; install relrag[keyring]") from None
        try:
            return getattr(keyring, method)(_SERVICE, self.archive, *more)
        except Exception as error:  # noqa: BLE001  each backend has errors of its own, which may quote what was stored
            fault = type(error).__name__
        raise KeysError(f"the keyring cannot be used ({fault}); see that it is unlocked, or set keys_store to file")
