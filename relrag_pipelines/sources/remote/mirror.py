"""The mirror of a server: private/mirror/<source>/, with a file or more for each item of the server.

Below `items/` lies what is read as the units of the source. An item is named by its path there; files of an item have
its name without the suffix. `state.json` holds the fetcher's cursor, keyed hashes of the paths of withheld items, and
why an item lacks something that the server has. Withheld are items of which something was forgotten: their files are
removed and never stored again while the rule stands.

Files of items are not synced one by one, which would cost more than fetching them: a power cut may leave some empty,
and an empty file counts as missing, so that it is fetched again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import make_private, write_text
from relrag_pipelines.records import SCHEMA_VERSION

_STATE = "state.json"
_ITEMS = "items"
ZIPS = "zips"
"""the part of the cursor that says which zips were opened, where what is mirrored is in zips"""
_HALF = ".part"
"""suffix of a file that is being written; a listing leaves out names that begin with a dot"""


_HASHES = {32: "md5", 40: "sha1", 64: "sha256"}
"""hex digits of a checksum -> its hash"""


class MirrorError(SafeError):
    """The state of a mirror cannot be read; the message says what to do."""


def mirror_folder(home: Path, source: str) -> Path:
    """Where the mirror of a source lies."""
    return home / "private" / "mirror" / source


def items_folder(home: Path, source: str) -> Path:
    """Where the items of a mirror lie: the path of a source that is on a server."""
    return mirror_folder(home, source) / _ITEMS


@dataclass(frozen=True)
class Omission:
    """Something that the server has and the mirror lacks."""

    message: str
    """what is missing and what to do, without any text of the item"""
    limit: int = 0
    """the largest size that was allowed, bytes, where the item is larger; 0 for another reason"""
    fault: str = ""
    """its fault word, if it isn't that of all omissions of the source"""


class Mirror:
    """The mirrored items of one source."""

    def __init__(self, folder: Path, hash_path: Callable[[str], str], suffix: str) -> None:
        """`hash_path` hashes an item's path with the archive's key; `suffix` is that of the items, not of what lies
        beside them."""
        self.folder, self.items = folder, folder / _ITEMS
        self.hash_path, self._suffix = hash_path, suffix
        self._root = str(self.items)  # pathlib takes longer than what is done with most files
        self._folders: set[str] = set()
        """folders that exist"""
        state = self._load()
        self.cursor: dict[str, Any] = dict(state.get("cursor", {}))
        """where the fetcher continues: numbers, times and hashes, never text of an item"""
        self._withheld: set[str] = set(state.get("withheld", ()))
        self._omissions = {path: Omission(*parts) for path, parts in dict(state.get("omissions", {})).items()}

    @property
    def exists(self) -> bool:
        """Whether anything was ever mirrored, or withheld."""
        return (self.folder / _STATE).exists()

    def paths(self) -> set[str]:
        """The paths of the items that are stored."""
        return {path for path in self._files() if path.endswith(self._suffix)}

    def needs(self, path: str) -> bool:
        """Whether an item is neither stored nor withheld."""
        return not self.is_withheld(path) and not self._has(path)

    def count(self) -> int:
        """How many items are stored or withheld."""
        return len(self.paths()) + len(self._withheld)

    @property
    def omissions(self) -> dict[str, Omission]:
        """By path of the item: what the mirror lacks of it."""
        return dict(self._omissions)

    def omission(self, path: str) -> Omission | None:
        """What the mirror lacks of an item; None if it lacks nothing."""
        return self._omissions.get(path)

    def note_omission(self, path: str, message: str, limit: int = 0, fault: str = "") -> None:
        """Notes that the mirror lacks an item or a part of it, until the item is written again."""
        if not self.is_withheld(path):
            self._omissions[path] = Omission(message, limit, fault)

    def is_too_large(self, path: str, limit: int) -> bool:
        """Whether an item was larger than a limit that is not below this one: it need not be asked for again."""
        omission = self._omissions.get(path)
        return omission is not None and omission.limit >= limit > 0

    def is_withheld(self, path: str) -> bool:
        """Whether something of the item was forgotten; also for paths that are hashed already."""
        return bool(self._withheld) and self.hash_path(path) in self._withheld

    def read(self, path: str) -> bytes:
        """The bytes of an item; empty if it is not stored."""
        file = self.items / path
        return file.read_bytes() if file.is_file() else b""

    def write(self, path: str, data: bytes) -> None:
        """Stores an item, or a file beside it; nothing if it is withheld or stored with these bytes."""
        if self._withheld and self.is_withheld(self._item_of(path)):
            return
        if not self._has(path) or self.read(path) != data:
            self._write_file(path, data)

    def clear_omission(self, path: str) -> None:
        """Notes that the mirror lacks nothing of an item any more."""
        self._omissions.pop(path, None)

    def add(self, path: str, data: bytes) -> None:
        """Stores a file of which the caller knows that it is neither stored nor withheld."""
        self.clear_omission(path)
        self._write_file(path, data)

    def _write_file(self, path: str, data: bytes) -> None:
        part = self._part(path)
        descriptor = self._open(path, part)
        try:
            # without a buffer of Python's: that would cost more than the write
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, memoryview(data)[written:])
        finally:
            os.close(descriptor)
        os.replace(part, f"{self._root}/{path}")  # noqa: PTH105  as below

    def open_part(self, path: str) -> Any:
        """A file to write into, which is no part of the mirror until `finish_part`."""
        return os.fdopen(self._open(path, self._part(path)), "wb")

    def _open(self, path: str, part: str) -> int:
        folder = path.rpartition("/")[0]
        if folder not in self._folders:
            make_private(self.items / folder)
            self._folders.add(folder)
        return os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def finish_part(self, path: str) -> None:
        """Puts the file that was written in the place of what was stored."""
        os.replace(self._part(path), f"{self._root}/{path}")  # noqa: PTH105  pathlib takes longer than the rename

    def part_matches(self, path: str, checksum: str) -> bool:
        """Whether the file that was written has that checksum; also if the checksum is of no hash that is known."""
        algorithm = _HASHES.get(len(checksum))
        if algorithm is None:
            return True
        with Path(self._part(path)).open("rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
        return digest.hexdigest() == checksum.lower()

    def needs_file(self, path: str) -> bool:
        """Whether a file beside an item is not stored."""
        return not self._has(path)

    def discard_part(self, path: str) -> None:
        """Removes a file that could not be written to its end."""
        Path(self._part(path)).unlink(missing_ok=True)

    def remove(self, *paths: str) -> None:
        """Removes items with all their files. One call for many paths reads each folder once."""
        for path in paths:
            _require_inside(path)
        for folder, paths_inside in _by_folder(paths).items():
            self._remove_from(folder, paths_inside)
        for path in paths:
            self._omissions.pop(path, None)

    def _remove_from(self, folder: str, paths: Collection[str]) -> None:
        """Removes items of one folder: the item, the files with its stem, and their halves."""
        names = {PurePosixPath(path).name for path in paths}
        stems = {name.removesuffix(self._suffix) for name in names}
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.items / folder) as entries:
            files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
            for entry in files:
                if entry.name in names or _has_stem(entry.name.removeprefix("."), stems):
                    Path(entry.path).unlink(missing_ok=True)

    def drop(self, *paths: str) -> None:
        """Removes items that the server no longer has, whether they are stored or withheld."""
        self.remove(*paths)
        self._withheld.difference_update(map(self.hash_path, paths))

    def withhold(self, paths: Collection[str]) -> None:
        """Removes items, and never stores them again."""
        self._withheld |= {self.hash_path(path) for path in paths}
        for path in paths:
            self._omissions.pop(path, None)
        self.save()
        self.remove(*paths)

    def release(self) -> None:
        """Lets withheld items be stored again."""
        if self._withheld:
            self._withheld.clear()
            self.cursor.pop(ZIPS, None)  # of zips, none is opened again that is as it was
            self.save()

    def keep_only(self, paths: Collection[str]) -> None:
        """Removes the items that are not among these, which are all that the server has."""
        self.remove(*self.paths().difference(paths), *self._omissions.keys() - set(paths))
        if self._withheld:
            self._withheld &= {self.hash_path(path) for path in paths}
        self.save()

    def save(self) -> None:
        """Stores the cursor and what is withheld."""
        body = {"schema_version": SCHEMA_VERSION, "cursor": self.cursor, "withheld": sorted(self._withheld)}
        if self._omissions:
            body["omissions"] = {path: astuple(omission) for path, omission in sorted(self._omissions.items())}
        text = sealed_json.seal(body)
        if not self.exists or (self.folder / _STATE).read_text(encoding="utf-8") != text:
            write_text(self.folder / _STATE, text)

    def clear(self) -> None:
        """Removes the mirror as a whole."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _load(self) -> dict[str, Any]:
        try:
            return sealed_json.read(self.folder / _STATE)
        except FileNotFoundError:
            return {}
        except (sealed_json.UnusableFile, json.JSONDecodeError) as error:
            raise MirrorError(f"{self.folder / _STATE} {error}") from None

    def _files(self) -> Iterator[str]:
        """The files of all items that hold anything."""
        # by strings: pathlib takes ten times as long, for each of many files
        folders, prefix = [str(self.items)], len(str(self.items)) + 1
        while folders:
            folder = folders.pop()
            with suppress(FileNotFoundError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.stat(follow_symlinks=False).st_size:
                        yield entry.path[prefix:]

    def _has(self, path: str) -> bool:
        try:
            return os.stat(f"{self._root}/{path}").st_size > 0  # noqa: PTH116  as above
        except OSError:
            return False

    def _part(self, path: str) -> str:
        _require_inside(path)
        folder, _, name = path.rpartition("/")
        return f"{self._root}/{folder}/.{name}{_HALF}"

    def _item_of(self, path: str) -> str:
        """The item that a file belongs to: `7-ab.original.pdf` belongs to `7-ab.json`."""
        parts = PurePosixPath(path)
        return str(parts.with_name(parts.name.partition(".")[0] + self._suffix))


def _by_folder(paths: Collection[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return folders


def _has_stem(name: str, stems: Collection[str]) -> bool:
    """Whether a file's name is one of the stems, a dot and anything: a stem may have dots itself."""
    end = name.find(".")
    while end >= 0:
        if name[:end] in stems:
            return True
        end = name.find(".", end + 1)
    return False


def _require_inside(path: str) -> None:
    """Raises ValueError for a path that leads out of the mirror; servers name items."""
    if path.startswith("/") or (".." in path and ".." in path.split("/")):
        raise ValueError("an item of a server has a path that leads out of its mirror")


def safe_component(name: str) -> str:
    """The name of a folder or item of a server as the name of a file: without slashes, and no hidden one."""
    encoded = "".join(f"%{ord(letter):02X}" if letter in "/\\%\0" or ord(letter) < 32 else letter for letter in name)
    encoded = f"%2E{encoded[1:]}" if encoded.startswith(".") else encoded
    return encoded.encode()[:200].decode("utf-8", "ignore") or "%"


def name_of_component(component: str) -> str:
    """The name that `safe_component` made a file's name of, unless it was cut."""
    return re.sub(r"%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), component)
