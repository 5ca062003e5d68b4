"""The private files of a home as encrypted objects of its bucket, from which a machine without any can start.

An object holds the file's path within the home, a zero byte and the file, encrypted with the archive's keys
(`Keys.seal_bytes`); equal files give equal objects. Vectors and mirrors of servers are not among them: a sync makes or
fetches them again.
"""

from __future__ import annotations

import re
from pathlib import Path

from relrag_pipelines.files import atomic
from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import inventory, private_manifest
from relrag_pipelines.stores.bucket_commit import PRIVATE
from relrag_pipelines.stores.lake import LakeError

_KIND = "private file"
"""what the cipher authenticates besides the file"""
_LASTING = ("owner", "exports", "private")
_REMADE = re.compile(r"private/(mirror/.+|.+\.db(-journal)?)")


class PrivateCopies:
    """The encrypted copies of one home."""

    def __init__(self, home: Path, keys: Keys) -> None:
        self._home, self._keys = home, keys

    def names(self) -> dict[str, str]:
        """Object, by its path within lake/, -> file, by its path within the home; objects have keyed names."""
        files = (f"private/{name}" for name in atomic.files(self._home / "private"))
        return {self._object(name): name for name in files if _is_copied(name)}

    def seal(self, name: str) -> bytes:
        """A file, by its path within the home, as its object."""
        return self._keys.seal_bytes(name.encode() + b"\0" + (self._home / name).read_bytes(), _KIND)

    @property
    def absent(self) -> bool:
        """Whether the home has no private files yet, or a restoration was killed."""
        return not (self._home / private_manifest.NAME).exists()

    @property
    def last(self) -> str:
        """The object to restore last: a kill before it leaves `absent` true."""
        return self._object(private_manifest.NAME)

    def restore(self, sealed: bytes) -> None:
        """Writes the file of an object into the home. Raises LakeError if other keys have sealed it."""
        name, body = self._unseal(sealed)
        with replace_file(self._home / name) as temporary:
            temporary.write_bytes(body)

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


def _is_copied(name: str) -> bool:
    part = inventory.part(name)
    return part is not None and part.origin in _LASTING and not _REMADE.fullmatch(name)
