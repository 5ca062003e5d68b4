"""What a commit of a lake in a bucket holds: the objects that its manifest names, and their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from relrag_pipelines.stores.object_store import ObjectVersion

FOLDER = "lake"
BASE = f"{FOLDER}/BUCKET.json"
"""in the home: the commit that the folder was made from"""
MANIFEST = f"{FOLDER}/MANIFEST.json"
"""in the bucket"""
RULES = f"{FOLDER}/forgetting"
"""in the home: the erasure rules that the machines of a bucket share, each a file"""
RULE_SUFFIX = ".sealed"
PRIVATE = "private"
"""in lake/ of the bucket: private files, encrypted"""
RESTORING = "private/restoring"
"""in the home, while private files are fetched from the bucket"""
_ROOT = "0" * 16
"""the commit that the first is based on"""
_OBJECT = re.compile(rf"{FOLDER}/[a-z_]+(/[a-z0-9_]+)?/[A-Za-z0-9-]+-[0-9a-f]{{64}}-(?P<base>[0-9a-f]{{16}})\.[a-z]+")
"""the keys that a commit makes; no other object of the bucket is ever deleted"""


class StoredFile(NamedTuple):
    """A file of the lake as the manifests of its folder know it."""

    hash: str
    """SHA-256, hex"""
    bytes: int


@dataclass(frozen=True)
class LakeObject:
    """A file of the lake as the bucket's manifest knows it."""

    hash: str
    bytes: int
    base: str
    """The commit that its upload was based on. A later commit makes every upload on it futile, so that what no
    manifest names and is based on an older commit can be deleted, while another machine may be uploading"""

    def key(self, path: str) -> str:
        """Its key in the bucket; `path` is that of its file within lake/."""
        stem, _, suffix = path.rpartition(".")
        return f"{FOLDER}/{stem}-{self.hash}-{self.base}.{suffix}"


@dataclass(frozen=True)
class Commit:
    """The lake as the bucket's manifest names it."""

    id: str
    archive: str
    """fingerprint of the key of its ids"""
    objects: dict[str, LakeObject]
    """path within lake/ -> its object"""

    @property
    def files(self) -> dict[str, StoredFile]:
        """Path within lake/ -> what the file holds; without the private ones."""
        files = {path: StoredFile(stored.hash, stored.bytes) for path, stored in self.objects.items()}
        return {path: file for path, file in files.items() if not is_private(path)}

    @property
    def keys(self) -> set[str]:
        """The keys of its objects, and of the manifest."""
        return {MANIFEST, *(stored.key(path) for path, stored in self.objects.items())}

    def lacking(self, sizes: Mapping[str, int]) -> list[str]:
        """The keys of its objects that are not there, or of another size; `sizes` are those of a bucket by key."""
        sized = [(stored.key(path), stored.bytes) for path, stored in self.objects.items()]
        return [key for key, size in sized if sizes.get(key) != size]

    def may_need(self, version: ObjectVersion) -> bool:
        """Whether the next commit may name an object that this one does not: its upload is based on this one."""
        form = _OBJECT.fullmatch(version.key)
        return version.is_latest and form is not None and form["base"] == self.id


def is_private(path: str) -> bool:
    """Whether an object, by its path within lake/, is an encrypted private file."""
    return path.startswith(f"{PRIVATE}/")


def is_rule(path: str) -> bool:
    """Whether an object, by its path within lake/, is an erasure rule."""
    return f"{FOLDER}/{path}".startswith(f"{RULES}/")


def next_objects(files: dict[str, StoredFile], former: Commit | None) -> dict[str, LakeObject]:
    """The objects of a commit on top of the former one: those of files that it holds as they are, and new ones."""
    base, present = (former.id, former.objects) if former else (_ROOT, {})
    objects = {path: LakeObject(stored.hash, stored.bytes, base) for path, stored in files.items()}
    unchanged = {path for path, stored in present.items() if files.get(path) == (stored.hash, stored.bytes)}
    return objects | {path: present[path] for path in unchanged}


def unnamed_versions(versions: Iterable[ObjectVersion], commit: Commit | None) -> list[ObjectVersion]:
    """The versions of lake objects that a commit does not name, and older ones of those that it does."""
    named = commit.keys if commit else {MANIFEST}
    ours = [version for version in versions if version.key == MANIFEST or _OBJECT.fullmatch(version.key)]
    return [version for version in ours if version.key not in named or not version.is_latest]
