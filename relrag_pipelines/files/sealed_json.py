"""Small JSON files that begin with the hash of their content, so that a changed byte is noticed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import SCHEMA_VERSION

HEAD, _SEAL = b'{\n "seal": "', 64
_UNSEALED = b'{\n "schema_version": '
"""how a manifest begins that was written before there were seals"""


NEWER = "was written by a newer relrag"
NO_MANIFEST = "cannot be checked without its manifest"
"""what is found of a file whose hash stands in a manifest that cannot be read"""


class UnusableFile(RelragError):
    """The file cannot be used: `found` says what it is (a file's name fits before it), the message what to do too."""

    def __init__(self, found: str, advice: str = "`relrag verify --repair` makes it again") -> None:
        super().__init__(f"{found}; {advice}")
        self.found = found


class DamagedFile(UnusableFile):
    """It is not as it was written."""


class NewerSchema(UnusableFile):
    """A newer relrag wrote it."""


def seal(body: dict[str, Any]) -> str:
    """The text of a sealed file that holds `body`, which names its schema_version."""
    rest = json.dumps(body, indent=1).removeprefix("{\n") + "\n"
    return f'{HEAD.decode()}{_digest(rest.encode())}",\n{rest}'


def read(path: Path) -> dict[str, Any]:
    """What a sealed file holds. Raises FileNotFoundError, and UnusableFile as `parse` does."""
    return parse(path.read_bytes())


def parse(data: bytes) -> dict[str, Any]:
    """What the bytes of a sealed file hold. Raises DamagedFile, and NewerSchema for one of a newer schema version."""
    rest, has_seal = data[len(HEAD) + _SEAL + len(b'",\n') :], data.startswith(HEAD)
    if has_seal and data != f'{HEAD.decode()}{_digest(rest)}",\n'.encode() + rest:
        raise DamagedFile("is not as it was written")
    try:
        body = json.loads(b"{" + rest if has_seal else data)
        version = body["schema_version"]
        newer = version > SCHEMA_VERSION
    except (ValueError, TypeError, KeyError):
        raise DamagedFile("cannot be read") from None
    if newer:  # asked before the form of the file, which may be another by then
        versions = f"schema {version}, this one knows {SCHEMA_VERSION}"
        raise NewerSchema(f"{NEWER} ({versions})", "install that version")
    if not has_seal and not data.startswith(_UNSEALED):
        raise DamagedFile("is not as it was written")
    return dict(body)


def file_hash(path: Path) -> str:
    """Hash of a file's bytes, hex."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_hashes(path: Path, size: int) -> tuple[str, str]:
    """Hash of a file's first `size` bytes, hex, and of all of them."""
    digest, left = hashlib.sha256(), size
    with open_plain(path) as file:
        while left and (block := file.read(min(left, 2**20))):
            digest.update(block)
            left -= len(block)
        before = digest.hexdigest()
        while block := file.read(2**20):
            digest.update(block)
    return before, digest.hexdigest()


def _digest(rest: bytes) -> str:
    return hashlib.sha256(rest).hexdigest()
