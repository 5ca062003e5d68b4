"""Units, the parts of a source: a lister lists them, a connector opens them.

A lister is a function `units(scope)` that returns a Listing. Most units are files; one that isn't, such as a repository
or an item of a service, is a UnitRef, an id with a version. A lister may return a cursor where its next listing
continues: it is stored with the state of the units, and passed in `ListingScope.cursor`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.records import Failure

Excluded = Callable[[str], bool]
"""whether the source's settings exclude a path, which is relative to the source's"""


@dataclass(frozen=True)
class ListingScope:
    """The folder that a lister examines, and its rules."""

    root: Path
    """the source's path"""
    is_excluded: Excluded = lambda path: False
    follow_links: bool = False
    cursor: str = ""
    """the previous listing's cursor, if all of that has been read; empty to list everything"""


@dataclass(frozen=True)
class UnitRef:
    """A unit that is not a file, as its lister names it."""

    id: str
    """its name in its source; for a file or folder its path"""
    version: str
    """changes when the unit does; never empty"""
    file: Path | None = None
    """its path, if not the source's"""
    resume_point: str = ""
    """where its connector continues, if it has only grown since the cursor; empty to read it completely"""


@dataclass(frozen=True)
class Unit:
    """What a connector opens: a file or a repository, with the files that are read together with it."""

    path: str
    """relative to the source's path, with forward slashes; the id of a unit that isn't a file"""
    file: Path
    """absolute path"""
    size: int
    """bytes, of all its files"""
    mtime_ns: int
    """modification time, nanoseconds; with companions, a number that changes with any file's"""
    companions: tuple[Path, ...] = ()
    """files of the same name with one of the kind's `companions`, in order"""
    version: str = ""
    """for a unit that isn't a file: changes when the unit does, unlike size and time"""
    siblings_fingerprint: str = ""
    """for a unit that mentions files in its folder: changes when one of them is added, removed or changed"""
    resume_point: str = ""
    """where reading begins: an offset in a file, or its lister's value; what precedes was read and is unchanged"""
    refusals: tuple[Failure, ...] = ()
    """failures of its files that are not opened; one without a location is the unit's own, which is not read then"""

    @property
    def root(self) -> Path:
        """The folder that its path is relative to."""
        return self.file.parents[self.path.count("/")]


@dataclass(frozen=True)
class Listing:
    """The units of a source."""

    units: tuple[Unit | UnitRef, ...]
    """all units; only those changed since the cursor if `removed_ids` is given"""
    cursor: str = ""
    """where the next listing continues; it contains no text of the source, which may have to be erased"""
    removed_ids: frozenset[str] | None = None
    """ids of units removed since the cursor; all others are unchanged"""
    is_withheld: Callable[[str], bool] = lambda unit: False
    """whether the file of a unit was removed because something of it was forgotten: the rest of its records stay"""


Lister = Callable[[ListingScope], Listing]
"""raises ListingError, and OSError if it cannot read a folder"""


class ListingError(RelragError):
    """Part of a source cannot be listed, so deletions in it cannot be detected; the message says what to do."""

    stored = "the units of the source cannot be listed; `relrag plan` says why"
