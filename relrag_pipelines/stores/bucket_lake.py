"""The lake in a bucket: objects that never change, and one manifest that names those of the newest commit.

A commit uploads what is new of the folder lake/, and then swaps the manifest if nobody else has; nothing is renamed.
The folder is the working copy of one archive and the cache of the bucket: everything is read from there. A commit
deletes every object that it does not name, older versions too, so that what was forgotten is gone from the bucket.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import replace_file, write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.stores.bucket_commit import (
    BASE,
    FOLDER,
    MANIFEST,
    RULE_SUFFIX,
    RULES,
    Commit,
    LakeObject,
    StoredFile,
    is_private,
    is_rule,
    next_objects,
    unnamed_versions,
)
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.stores.object_store import ObjectStore, ObjectStoreError, ObjectVersion, SwapRefused, each
from relrag_pipelines.stores.private_copies import PrivateCopies

_PROBE = f"{FOLDER}/PROBE"
"""an object for a moment, which shows whether the server heeds conditions"""
_OLD = "is an older version"


class BucketLake:
    """The bucket's lake of the archive in one home. Whoever changes anything holds the writer's lock."""

    def __init__(self, home: Path, url: str, archive: str, private: PrivateCopies | None = None) -> None:
        """`archive` is the fingerprint of its id key; `private` are the private files that are to be in the bucket.

        Raises ObjectStoreError where the URL cannot be used.
        """
        self._home, self._url, self._archive, self._private = home, url, archive, private
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
        fetched = [*missing, *(commit.files.keys() - same)]
        self._replace(commit, fetched, local.keys() - commit.files.keys())
        self._note_base(commit, own=False)
        return len(fetched)

    def pull_private(self) -> int:
        """Writes the bucket's private files into a home that has none, if they are kept there; returns their number.

        Raises LakeError for files that other keys have encrypted, and ObjectStoreError.
        """
        if self._private is None or not self._private.needs_restoring:
            return 0
        commit, _ = self._newest()
        stored = {path: entry for path, entry in commit.objects.items() if is_private(path)} if commit else {}
        if stored:
            self._private.restore(self._read(path, entry) for path, entry in stored.items())
        return len(stored)

    def _read(self, path: str, entry: LakeObject) -> bytes:
        read = self._store.read(entry.key(path))
        if read is None:
            raise LakeError(f"{self._url}: another machine has committed meanwhile; run `relrag sync` again")
        if hashlib.sha256(read[0]).hexdigest() != entry.hash:
            raise LakeError(f"{self._url}: {entry.key(path)} is not as it was written")
        return read[0]

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
        objects = next_objects(files | self._private_files(files, newest), newest)
        own = self._is_own()
        if newest is None:
            self._require_conditions()
        versions = self._store.versions(FOLDER)
        uploaded = self._upload(objects, versions)
        # what a killed upload left can only be deleted once there is a commit after it
        if newest is None or objects != newest.objects or any(map(newest.may_need, unnamed_versions(versions, newest))):
            newest, own = Commit(os.urandom(8).hex(), self._archive, objects), True
            self._swap(newest, tag)
        self._note_base(newest, own=own)
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
        unnamed = [version.key for version in unnamed_versions(versions, commit)]
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
        private = {path: objects[path].key(path) for path in lacking if is_private(path)}
        files = {path: objects[path] for path in lacking if path not in private}
        each(self._upload_file, files.items())
        return len(files) + self._upload_private(private)

    def _upload_file(self, named: tuple[str, LakeObject]) -> None:
        path, stored = named
        file = self._path(path)
        if not file.exists() or file_hash(file) != stored.hash:
            raise LakeError(f"{FOLDER}/{path} differs from its manifest; run `relrag verify --repair`")
        failpoint("bucket.put", file)
        self._store.put(stored.key(path), file)

    def _upload_private(self, keys: dict[str, str]) -> int:
        """Stores the objects of private files by path within lake/, one at a time since each is whole in memory.

        Those of another machine cannot be made here, and are left out.
        """
        if self._private is None:
            return 0
        names = self._private.names()
        own = keys.keys() & names.keys()
        for path in sorted(own):
            self._store.put_bytes(keys[path], self._private.seal(names[path]))
        return len(own)

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
        unnamed = unnamed_versions(self._store.versions(FOLDER), commit)
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

    def _private_files(self, files: dict[str, StoredFile], former: Commit | None) -> dict[str, StoredFile]:
        """The private files of the next commit, by path within lake/.

        Those of another machine stay where this one keeps none or has not changed the lake, unless it forgets.
        """
        forgets = former and any(map(is_rule, files.keys() ^ former.files.keys()))
        if former is None or self._is_own() or forgets or (self._private and files != former.files):
            return self._private.files() if self._private else {}
        return {path: StoredFile(entry.hash, entry.bytes) for path, entry in former.objects.items() if is_private(path)}

    def _path(self, path: str) -> Path:
        return self._home / FOLDER / path

    def _base(self) -> str:
        """The commit that the folder was made from; empty where it was made from none of this bucket."""
        return str(self._noted().get("commit", ""))

    def _is_own(self) -> bool:
        """Whether this home made that commit."""
        noted = self._noted()
        return bool(noted and noted.get("own", True))  # of an older relrag, which kept no private files there

    def _noted(self) -> dict[str, Any]:
        try:
            noted = sealed_json.read(self._home / BASE)
        except (FileNotFoundError, sealed_json.UnusableFile):
            return {}
        return noted if noted["url"] == self._url else {}

    def _note_base(self, commit: Commit, *, own: bool) -> None:
        body = {"schema_version": SCHEMA_VERSION, "url": self._url, "commit": commit.id, "own": own}
        if self._noted() != body:
            write_text(self._home / BASE, sealed_json.seal(body))


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
