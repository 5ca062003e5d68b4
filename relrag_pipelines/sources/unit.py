"""Units, the parts of a source: a lister lists them, a connector opens them.

A lister is a function `units(scope)` that returns a Listing. Most units are files; one that isn't, such as a repository
or an item of a service, is a UnitRef, an id with a version. A lister may return a cursor where its next listing
continues: it is stored with the state of the units, and passed in `ListingScope.cursor`.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import regular_files
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


def path_of(file: Path, root: Path) -> str:
    """The path of a file or folder relative to a source; for the source itself its name."""
    text, prefix = str(file), f"{root}/"
    if text.startswith(prefix):  # pathlib takes ten times as long, for each of many files
        relative = text[len(prefix) :]
    else:
        relative = (file.relative_to(root) if file != root else Path(root.name)).as_posix()
    # a name that isn't valid UTF-8 has lone surrogates, which no table can hold
    return relative.encode("utf-8", "backslashreplace").decode()


def unit_of(
    file: Path,
    root: Path,
    companions: tuple[Path, ...] = (),
    siblings_fingerprint: str = "",
    *,
    follow_links: bool = False,
) -> Unit:
    """The unit for a file as it is now."""
    path = path_of(file, root)
    stats: list[os.stat_result] = []
    readable: list[Path] = []
    refusals: list[Failure] = []
    for part in (file, *companions):
        try:
            stats.append(regular_files.check_file(part, root, follow_links=follow_links))
            readable.append(part)
        except regular_files.RefusedFile as error:
            if part is file:  # a version, so that it is read again once something else is at the path
                return Unit(path, file, 0, 0, version=f"{error.fault} {path}", refusals=(error.failure(),))
            refusals.append(error.failure(part.name))
        except OSError:  # a broken link: still a unit, so that reading it reports the fault
            return Unit(path, file, 0, 0, companions, siblings_fingerprint=siblings_fingerprint)
    return Unit(
        path,
        file,
        sum(stat.st_size for stat in stats),
        _combined_mtime(stats, companions, refusals) if companions else stats[0].st_mtime_ns,
        tuple(readable[1:]),
        siblings_fingerprint=siblings_fingerprint,
        refusals=tuple(refusals),
    )


def _combined_mtime(stats: list[os.stat_result], companions: tuple[Path, ...], refusals: list[Failure]) -> int:
    """A number that changes with the time of any file of a unit, and with the names of its companions.

    Names matter too: `call.txt` is read differently once it becomes `call.vtt`.
    """
    parts = [companion.name for companion in companions]
    parts += [f"{refusal.fault} {refusal.location}" for refusal in refusals]
    names = zlib.crc32("\0".join(parts).encode("utf-8", "surrogatepass"))
    return (names + sum(stat.st_mtime_ns for stat in stats)) % 2**63


def unit_of_ref(ref: UnitRef, root: Path) -> Unit:
    """The unit for a reference that is not a file."""
    return Unit(ref.id, ref.file or root, 0, 0, version=ref.version, resume_point=ref.resume_point)
