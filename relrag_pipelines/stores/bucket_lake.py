"""The lake in a bucket: objects that never change, and one manifest that names those of the newest commit.

A commit uploads what is new of the folder lake/, and then swaps the manifest if nobody else has; nothing is renamed.
The folder is the working copy of one archive and the cache of the bucket: everything is read from there. A commit
deletes every object that it does not name, older versions too, so that what was forgotten is gone from the bucket.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import replace_file, write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.stores.object_store import ObjectStore, ObjectStoreError, ObjectVersion, SwapRefused, each

FOLDER = "lake"
BASE = f"{FOLDER}/BUCKET.json"
"""in the home: the commit that the folder was made from"""
MANIFEST = f"{FOLDER}/MANIFEST.json"
"""in the bucket"""
RULES = f"{FOLDER}/forgetting"
"""in the home: the erasure rules that the machines of a bucket share, each a file"""
RULE_SUFFIX = ".sealed"
_OLD = "is an older version"
_PROBE = f"{FOLDER}/PROBE"
"""an object for a moment, which shows whether the server heeds conditions"""
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
        """Path within lake/ -> what the file holds."""
        return {path: StoredFile(stored.hash, stored.bytes) for path, stored in self.objects.items()}

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


class BucketLake:
    """The bucket's lake of the archive in one home. Whoever changes anything holds the writer's lock."""

    def __init__(self, home: Path, url: str, archive: str) -> None:
        """`archive` is the fingerprint of its id key. Raises ObjectStoreError where the URL cannot be used."""
        self._home, self._url, self._archive = home, url, archive
        self._store = ObjectStore(url)

    def pull(self) -> int:
        """Brings the folder up to the bucket's commit where another machine made it; returns how many files it fetched.

        Files that are missing are fetched in any case. Raises LakeError for the lake of another archive, and
        ObjectStoreError.
        """
        commit, _ = self._newest()
        if commit is None:
            return 0
        local = _files(self._home, lenient=True)
        same = {path for path, stored in commit.files.items() if local.get(path) == stored}
        missing = [path for path in same if not self._path(path).exists()]
        if commit.id == self._base():
            self._fetch(commit, missing)
            return len(missing)
        fetched = [*missing, *(commit.objects.keys() - same)]
        self._replace(commit, fetched, local.keys() - commit.objects.keys())
        self._note_base(commit)
        return len(fetched)

    def foreign_commit(self) -> str:
        """The id of the bucket's commit if the folder is made from another one; else empty."""
        commit, _ = self._newest()
        return "" if commit is None or commit.id == self._base() else commit.id

    def commit(self) -> int:
        """Makes the folder the bucket's commit, and deletes what that does not name; returns the number of uploads.

        Where both are equal only what the bucket lacks is uploaded. Raises LakeError where another machine has made a
        commit since the last pull, or a file is damaged, and ObjectStoreError.
        """
        newest, tag = self._newest()
        files = _files(self._home)
        if newest and newest.files != files and newest.id != self._base():
            raise self._conflict()
        objects = _next_objects(files, newest)
        if newest is None:
            self._require_conditions()
        versions = self._store.versions(FOLDER)
        uploaded = self._upload(objects, versions)
        # what a killed upload left can only be deleted once there is a commit after it
        if newest is None or objects != newest.objects or any(map(newest.may_need, _unnamed(versions, newest))):
            newest = Commit(os.urandom(8).hex(), self._archive, objects)
            self._swap(newest, tag)
        self._note_base(newest)
        self._sweep(newest)
        return uploaded

    def damage(self) -> list[tuple[str, str]]:
        """(key, what is wrong) of each object that is not as the manifest says, and of each that it does not name."""
        commit, _ = self._newest()
        versions = self._store.versions(FOLDER)
        sizes = {version.key: version.bytes for version in versions if version.is_latest}
        lacking = commit.lacking(sizes) if commit else []
        wrong = [(key, "is not as it was written" if key in sizes else "is missing") for key in lacking]
        named = commit.keys if commit else set()
        unnamed = [version.key for version in _unnamed(versions, commit)]
        return wrong + [(key, _OLD if key in named else "is named by no manifest") for key in unnamed]

    def _newest(self) -> tuple[Commit | None, str | None]:
        """The bucket's commit and the tag of its manifest; None where there is none yet."""
        stored = self._store.read(MANIFEST)
        if stored is None:
            return None, None
        data, tag = stored
        try:
            body = sealed_json.parse(data)
        except sealed_json.UnusableFile as unusable:
            raise LakeError(f"{self._url}: the manifest of the lake {unusable.found}") from None
        objects = {path: LakeObject(**entry) for path, entry in body["objects"].items()}
        commit = Commit(body["commit"], body["archive"], objects)
        if commit.archive != self._archive:
            raise LakeError(f"{self._url} holds the lake of another archive; name another prefix in `home_lake`")
        return commit, tag

    def _require_conditions(self) -> None:
        """Raises ObjectStoreError for a server that ignores conditions: machines would overwrite each other."""
        with suppress(SwapRefused):  # a check that was killed left it
            self._store.swap(_PROBE, b"", None)
        heeded = 0
        for wrong in (None, '"of another object"'):
            try:
                self._store.swap(_PROBE, b"", wrong)
            except SwapRefused:
                heeded += 1
        self._store.delete([version for version in self._store.versions(FOLDER) if version.key == _PROBE])
        if heeded < 2:
            raise ObjectStoreError(f"{self._url}: the server ignores conditions of a put (If-Match); use another one")

    def _upload(self, objects: dict[str, LakeObject], versions: Iterable[ObjectVersion]) -> int:
        """Stores the objects that the bucket lacks, and returns their number: a killed upload has stored others."""
        latest = {version.key: version.bytes for version in versions if version.is_latest}
        lacking = [path for path, stored in objects.items() if latest.get(stored.key(path)) != stored.bytes]

        def put(path: str) -> None:
            file = self._path(path)
            if not file.exists() or file_hash(file) != objects[path].hash:
                raise LakeError(f"{FOLDER}/{path} differs from its manifest; run `relrag verify --repair`")
            failpoint("bucket.put", file)
            self._store.put(objects[path].key(path), file)

        each(put, lacking)
        return len(lacking)

    def _swap(self, commit: Commit, tag: str | None) -> None:
        body = {
            "schema_version": SCHEMA_VERSION,
            "archive": commit.archive,
            "commit": commit.id,
            "objects": {path: asdict(stored) for path, stored in sorted(commit.objects.items())},
        }
        failpoint("bucket.swap", self._home / MANIFEST)
        try:
            self._store.swap(MANIFEST, sealed_json.seal(body).encode(), tag)
        except SwapRefused:
            newest, _ = self._newest()  # of a request that was sent twice the second is refused
            if newest is None or newest.id != commit.id:
                raise self._conflict() from None

    def _conflict(self) -> LakeError:
        return LakeError(
            f"another machine writes the lake in {self._url}; nothing is lost: `relrag sync` takes over what it wrote"
        )

    def _sweep(self, commit: Commit) -> None:
        """Deletes what no manifest names, but for what an upload of another machine may need."""
        failpoint("bucket.sweep", self._home / MANIFEST)
        unnamed = _unnamed(self._store.versions(FOLDER), commit)
        self._store.delete([version for version in unnamed if not commit.may_need(version)])

    def _replace(self, commit: Commit, fetched: list[str], gone: Iterable[str]) -> None:
        """Fetches files and removes those that are gone; after a kill no manifest describes another file."""
        manifests = {self._path(path).with_name("MANIFEST.json") for path in (*fetched, *gone)}
        for path in (*manifests, *map(self._path, gone)):
            failpoint("lake.unlink", path)
            path.unlink(missing_ok=True)
        described = [path for path in commit.objects if self._path(path) in manifests]
        self._fetch(commit, [path for path in fetched if self._path(path) not in manifests])
        self._fetch(commit, described)

    def _fetch(self, commit: Commit, paths: Iterable[str]) -> None:
        def fetch(path: str) -> None:
            with replace_file(self._path(path)) as temporary:
                self._store.fetch(commit.objects[path].key(path), temporary)
                if file_hash(temporary) != commit.objects[path].hash:
                    raise LakeError(f"{self._url}: {commit.objects[path].key(path)} is not as it was written")

        each(fetch, paths)

    def _path(self, path: str) -> Path:
        return self._home / FOLDER / path

    def _base(self) -> str:
        """The commit that the folder was made from; empty where it was made from none of this bucket."""
        try:
            noted = sealed_json.read(self._home / BASE)
        except (FileNotFoundError, sealed_json.UnusableFile):
            return ""
        return str(noted["commit"]) if noted["url"] == self._url else ""

    def _note_base(self, commit: Commit) -> None:
        if self._base() != commit.id:
            body = {"schema_version": SCHEMA_VERSION, "url": self._url, "commit": commit.id}
            write_text(self._home / BASE, sealed_json.seal(body))


def _next_objects(files: dict[str, StoredFile], former: Commit | None) -> dict[str, LakeObject]:
    """The objects of a commit on top of the former one: those of files that it holds as they are, and new ones."""
    base, present = (former.id, former.objects) if former else (_ROOT, {})
    objects = {path: LakeObject(stored.hash, stored.bytes, base) for path, stored in files.items()}
    unchanged = {path for path, stored in present.items() if files.get(path) == (stored.hash, stored.bytes)}
    return objects | {path: present[path] for path in unchanged}


def _unnamed(versions: Iterable[ObjectVersion], commit: Commit | None) -> list[ObjectVersion]:
    """The versions of lake objects that a commit does not name, and older ones of those that it does."""
    named = commit.keys if commit else {MANIFEST}
    ours = [version for version in versions if version.key == MANIFEST or _OBJECT.fullmatch(version.key)]
    return [version for version in ours if version.key not in named or not version.is_latest]


def _files(home: Path, *, lenient: bool = False) -> dict[str, StoredFile]:
    """Path within lake/ -> file: what the manifests of the folder's tables describe, these themselves, and the rules.

    Raises LakeError where one cannot be read, unless `lenient` passes over it.
    """
    files = {
        path.relative_to(home / FOLDER).as_posix(): StoredFile(file_hash(path), path.stat().st_size)
        for path in (home / RULES).glob(f"*{RULE_SUFFIX}")
    }
    for path in sorted((home / FOLDER).rglob("MANIFEST.json")):
        table = path.parent.relative_to(home / FOLDER)
        try:
            body = sealed_json.read(path)
        except sealed_json.UnusableFile as unusable:
            if lenient:
                continue
            raise LakeError(f"{path} {unusable}") from None
        entries = body["months"] if "months" in body else {"archive": body["file"]}
        for name, entry in entries.items():
            if entry["output"]:  # a month without rows has no file
                files[f"{table.as_posix()}/{name}.parquet"] = StoredFile(entry["output"], entry["bytes"])
        files[f"{table.as_posix()}/MANIFEST.json"] = StoredFile(file_hash(path), path.stat().st_size)
    return files
