"""What units are read with, beyond their own files and the files beside them: it stands in their fingerprints.

Of a chat these are the media below its folder, and lists of people; of notes the paths of all notes, since links lead
there. What a kind needs is declared in its row: see `references_below`, `context_names` and `references_units`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from relrag_pipelines.files.regular_files import walk
from relrag_pipelines.settings import CONFIG_NAME
from relrag_pipelines.sources import Kind, ListingScope, Unit
from relrag_pipelines.sources.unit_files import path_of

_ARCHIVES = (".zip", ".tar")
_FOLDERS_ABOVE = 2
"""folders above a unit's in which files with context names are found"""


@dataclass(frozen=True)
class UnitContext:
    """The context of the units below a folder."""

    kind: Kind
    root: Path
    below: Mapping[Path, str] = field(default_factory=dict)
    """folder -> digest of the files in it and below, without units"""
    paths: str = ""
    """digest of the paths of all units"""

    @classmethod
    def of_folder(cls, scope: ListingScope, kind: Kind, own_folders: Set[str] = frozenset()) -> UnitContext:
        """The context below a source's folder, as far as its kind depends on it. What cannot be listed has none.

        `own_folders` are those that relrag itself writes, relative to the source's path; they are left out.
        """
        if not (kind.references_below or kind.references_units):
            return cls(kind, scope.root)
        own: dict[Path, str] = {}
        paths: list[str] = []
        for folder, folders, files in walk(scope.root, lambda error: None, follow_links=scope.follow_links):
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".") and path_of(folder / name, scope.root) not in own_folders
            )
            names = sorted(name for name in files if not name.startswith((".", CONFIG_NAME)))
            paths += [path_of(folder / name, scope.root) for name in names if kind.matches(name)]
            others = [name for name in names if not kind.matches(name)] if kind.references_below else []
            own[folder] = _digest(_state(folder / name) for name in others)
        return cls(kind, scope.root, _with_folders_below(own), _digest(paths) if kind.references_units else "")

    def add_to(self, units: Iterable[Unit]) -> Iterator[Unit]:
        """The units, with their context in their fingerprints."""
        for unit in units:
            if unit.file.suffix.lower() in _ARCHIVES:  # it holds all that it is read with
                yield unit
                continue
            states = [unit.siblings_fingerprint, self.below.get(unit.file.parent, ""), self.paths, *self._named(unit)]
            yield replace(unit, siblings_fingerprint=_digest(states)) if any(states[1:]) else unit

    def _named(self, unit: Unit) -> Iterator[str]:
        """The states of the files with context names around a unit, up to the source's folder."""
        if not self.kind.context_names or unit.file.name in self.kind.context_names:
            return
        folder = unit.file.parent
        for _ in range(_FOLDERS_ABOVE + 1):
            yield from filter(None, (_state(folder / name) for name in self.kind.context_names))
            if folder == self.root:
                return
            folder = folder.parent


def _with_folders_below(own: Mapping[Path, str]) -> dict[Path, str]:
    """Folder -> digest of its files and of those in the folders below."""
    together = {folder: [digest] for folder, digest in own.items()}
    whole: dict[Path, str] = {}
    for folder in sorted(own, key=lambda folder: (-len(folder.parts), folder)):
        digests = [digest for digest in together[folder] if digest]
        whole[folder] = _digest(digests) if digests else ""
        if whole[folder] and folder.parent in together:
            together[folder.parent].append(f"{folder.name} {whole[folder]}")
    return whole


def _state(file: Path) -> str:
    """Name, size and time of a file; empty where there is none."""
    try:
        status = file.stat()
    except OSError:
        return ""
    return f"{file.name} {status.st_size} {status.st_mtime_ns}"


def _digest(texts: Iterable[str]) -> str:
    """A digest of texts; empty of none."""
    together = "\n".join(texts)
    return hashlib.blake2b(together.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() if together else ""
