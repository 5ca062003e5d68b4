"""The private files of a home as encrypted objects of its bucket, from which a machine without any can start.

An object holds the file's path within the home, a zero byte and the file, encrypted with the archive's keys
(`Keys.seal_bytes`); equal files give equal objects. Vectors and mirrors of servers are not among them: a sync makes or
fetches them again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.files import atomic
from relrag_pipelines.files.atomic import replace_file, write_text
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import inventory, private_manifest
from relrag_pipelines.stores.bucket_commit import PRIVATE, RESTORING, StoredFile
from relrag_pipelines.stores.lake import LakeError

_KIND = "private file"
"""what the cipher authenticates besides the file"""
_LASTING = ("owner", "exports", "private")
_MAX_BYTES = 2**30
"""of a file: it is encrypted in memory, and the cipher takes no more than twice as much"""
_REMADE = re.compile(r"private/(mirror/.+|.+\.db(-journal)?)")


class PrivateCopies:
    """The encrypted copies of one home."""

    def __init__(self, home: Path, keys: Keys) -> None:
        self._home, self._keys = home, keys

    def names(self) -> dict[str, str]:
        """Object, by its path within lake/, -> file, by its path within the home; objects have keyed names."""
        files = (f"private/{name}" for name in atomic.files(self._home / "private"))
        return {self._object(name): name for name in files if _is_copied(name)}

    def files(self) -> dict[str, StoredFile]:
        """The hash and size of each object by its path within lake/. This reads and encrypts every file."""
        sealed = ((path, self.seal(name)) for path, name in self.names().items())
        return {path: StoredFile(hashlib.sha256(body).hexdigest(), len(body)) for path, body in sealed}

    def seal(self, name: str) -> bytes:
        """A file, by its path within the home, as its object. Raises LakeError for one that is too large."""
        path = self._home / name
        if path.stat().st_size > _MAX_BYTES:
            raise LakeError(f"{name} has more than 1 GiB, too much to encrypt; set home_lake_private = false")
        return self._keys.seal_bytes(name.encode() + b"\0" + path.read_bytes(), _KIND)

    @property
    def needs_restoring(self) -> bool:
        """Whether nothing was exported into the home yet, or a restoration was killed."""
        return (self._home / RESTORING).exists() or not any(map(_is_export, self.names().values()))

    def restore(self, objects: Iterable[bytes]) -> None:
        """Writes the files of all objects; after a kill the next one begins again.

        Raises LakeError if other keys have sealed one.
        """
        write_text(self._home / RESTORING, "")
        for sealed in objects:
            name, body = self._unseal(sealed)
            with replace_file(self._home / name) as temporary:
                temporary.write_bytes(body)
        (self._home / RESTORING).unlink()

    def _object(self, name: str) -> str:
        return f"{PRIVATE}/{self._keys.content_hash(name.encode())}.sealed"

    def _unseal(self, sealed: bytes) -> tuple[str, bytes]:
        plain = self._keys.unseal_bytes(sealed, _KIND)
        if plain is None:
            raise LakeError("the private files in the bucket were encrypted with other keys; copy those keys here")
        name, _, body = plain.partition(b"\0")
        if not _is_copied(name.decode()):
            raise LakeError("a newer relrag put private files into the bucket; install that version")
        return name.decode(), body


def _is_export(name: str) -> bool:
    part = inventory.part(name)
    return part is not None and part.origin == "exports" and name != private_manifest.NAME


def _is_copied(name: str) -> bool:
    part = inventory.part(name)
    return part is not None and part.origin in _LASTING and not _REMADE.fullmatch(name)
