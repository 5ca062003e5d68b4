"""Decides which source reads a file that several could read: their folders may overlap, but each file is read once.

That is the source whose path is the file itself; else the first in the order of KINDS that recognises the file, of one
kind the one with the deepest folder. What no kind recognises is read, to say what is wrong with it, by the source with
the deepest folder, among equals by the least particular kind; by none where that one excludes it, else a note that
`documents` leaves out would be taken for minutes.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.files.regular_files import may_open
from relrag_pipelines.records import UnitState
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS, Kind
from relrag_pipelines.sources.unit_files import path_of

_ORDER = {name: rank for rank, name in enumerate(KINDS)}

PreviouslyRead = Callable[[Source], Mapping[str, UnitState]]
"""the units that a source has read in the way in which it would read them now, by path"""


@dataclass(frozen=True)
class CandidateSource:
    """A source that may read a file."""

    source: Source
    root: Path
    """its path, absolute"""

    @property
    def kind(self) -> Kind:
        """The kind of the source."""
        return KINDS[self.source.kind]

    def could_read(self, file: Path) -> bool:
        """Whether the file lies in its folder, has a name that its kind reads, and is not excluded."""
        return file == self.root or (self._named(file) and not self.source.excludes(path_of(file, self.root)))

    def leaves_out(self, file: Path) -> bool:
        """Whether it would read the file if it did not exclude it."""
        return bool(self.source.exclude) and not self.could_read(file) and self._named(file)

    def could_read_at(self, path: str) -> bool:
        """Whether it could read what lies at that path in its folder."""
        return self._holds(path) and not self.source.excludes(path)

    def recognises(self, file: Path) -> bool:
        """Whether a file is one of its kind, as far as it may be opened."""
        root = self.root if file != self.root else file.parent
        return may_open(file, root, follow_links=self.source.follow_links) and recognises(self.kind, file)

    def _named(self, file: Path) -> bool:
        return str(file).startswith(f"{self.root}{os.sep}") and self._holds(path_of(file, self.root))

    def _holds(self, path: str) -> bool:
        folder = (self.root / path).parent
        named = self.kind.matches(path, lambda name: (folder / name).exists())
        named = named or path.lower().endswith(self.kind.companions)
        return named and not (path.startswith(".") or "/." in path)


def competing_sources(settings: Settings, source: Source) -> list[CandidateSource]:
    """The other sources that could read some of a source's files."""
    suffixes = _suffixes(source)
    others = [other for other in settings.sources if other.name != source.name and suffixes & _suffixes(other)]
    if not others:
        return []
    root = settings.source_path(source)
    candidates = (CandidateSource(other, settings.source_path(other)) for other in others)
    return [
        candidate
        for candidate in candidates
        if candidate.root.is_relative_to(root) or root.is_relative_to(candidate.root)
    ]


def competition_fingerprint(settings: Settings, source: Source) -> list[Any]:
    """All that decides, apart from the files, which of them a source reads; empty if no other source could read any."""
    root = settings.source_path(source)
    return [
        [rival.source.kind, os.path.relpath(rival.root, root), sorted(rival.source.exclude)]
        for rival in competing_sources(settings, source)
    ]


def claimed_elsewhere(
    settings: Settings, source: Source, as_read: PreviouslyRead = lambda source: {}
) -> Callable[[Path], bool]:
    """Whether another source reads a file in this one's folder.

    Only a file that several could read is opened, and none that one of them has read and that is as it was then.
    """
    own, others = CandidateSource(source, settings.source_path(source)), competing_sources(settings, source)
    if not others:
        return lambda file: False
    everyone = sorted([own, *others], key=lambda candidate: settings.sources.index(candidate.source))
    read = functools.cache(lambda index: as_read(everyone[index].source))
    stems = functools.lru_cache(maxsize=1)(_stems)

    def taken_by_another(file: Path) -> bool:
        readers = [index for index, candidate in enumerate(everyone) if candidate.could_read(file)]
        excluding = [candidate for candidate in everyone if candidate.leaves_out(file)] if readers else []
        if len(readers) < 2 and not excluding:
            return bool(readers) and everyone[readers[0]] is not own
        # what lies beside it can make a text the transcript of a call, or minutes
        alone = stems(file.parent)[_stem(file.name)] == 1
        unchanged = [index for index in readers if alone and _is_unchanged(everyone[index], file, read(index))]
        if len(unchanged) == 1:
            return everyone[unchanged[0]] is not own
        return owning_source(file, [everyone[index] for index in readers], excluding) is not own

    return taken_by_another


def owning_source(
    file: Path, readers: Sequence[CandidateSource], excluding: Sequence[CandidateSource] = ()
) -> CandidateSource:
    """Which of the `readers`, sources that could read a file, reads it; if none, one of those `excluding` it."""
    if exact := [candidate for candidate in readers if candidate.root == file]:
        return exact[0]
    for candidate in sorted(readers, key=lambda candidate: (_ORDER[candidate.source.kind], -len(candidate.root.parts))):
        if candidate.recognises(file):
            return candidate
    # of equals the first
    return max([*readers, *excluding], key=lambda candidate: (len(candidate.root.parts), _ORDER[candidate.source.kind]))


def recognises(kind: Kind, file: Path) -> bool:
    """Whether a file is one of that kind; one that cannot be read is none."""
    try:
        return kind.recognise(file)
    except OSError:
        return False


def _is_unchanged(candidate: CandidateSource, file: Path, states: Mapping[str, UnitState]) -> bool:
    state = states.get(path_of(file, candidate.root))
    if state is None or not state.content_hash:
        return False
    try:
        status = file.stat()
    except OSError:
        return False
    return (state.size, state.mtime_ns) == (status.st_size, status.st_mtime_ns)


def _suffixes(source: Source) -> set[str]:
    """The last suffixes of all files that a source may read."""
    kind = KINDS[source.kind]
    names = (f"name{ending}" for ending in (*kind.suffixes, *kind.companions, *kind.patterns))
    return {PurePosixPath(name).suffix.lower() for name in names} - {""}


def _stems(folder: Path) -> Counter[str]:
    try:
        return Counter(_stem(file.name) for file in folder.iterdir())
    except OSError:
        return Counter()


def _stem(name: str) -> str:
    return name.partition(".")[0]
