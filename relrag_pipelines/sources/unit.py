"""Units, of which a source consists: a lister names them, a connector opens them.

A lister is a function `units(place)` that returns a Listing. Most units are files; one that is none, such as a
repository or what a service lists, is a UnitRef, an id with a version. A lister may say where its next listing goes on,
a cursor: it stands beside the state of the units, and `ListingScope.cursor` brings it back.
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
"""whether the source's settings leave out what lies at this path, relative to the source's"""


@dataclass(frozen=True)
class ListingScope:
    """The folder that a lister examines, and its rules."""

    root: Path
    """the source's path"""
    is_excluded: Excluded = lambda path: False
    follow_links: bool = False
    cursor: str = ""
    """that of the last listing, all of which has been read; empty where everything is to be listed"""


@dataclass(frozen=True)
class UnitRef:
    """A unit that is not a file, as its lister names it."""

    id: str
    """what it is called in its source; of what lies in a folder the path"""
    version: str
    """differs when it has changed; never empty"""
    file: Path | None = None
    """where it lies, if not at the source's path"""
    resume_point: str = ""
    """of one that has only grown since the cursor: where its connector goes on; empty where it is read whole"""


@dataclass(frozen=True)
class Unit:
    """What a connector opens: a file or a repository, with the files that are read together with it."""

    path: str
    """relative to the source's path, with forward slashes; of a unit that is no file its id"""
    file: Path
    """where it lies"""
    size: int
    """bytes, of all its files"""
    mtime_ns: int
    """modification time, nanoseconds; where it has companions a number that changes with any of theirs"""
    companions: tuple[Path, ...] = ()
    """files of the same name with one of the kind's `companions`, in order"""
    version: str = ""
    """of a unit that is no file: differs when it has changed; size and time say nothing then"""
    siblings_fingerprint: str = ""
    """of a unit that tells of files in its folder: differs when one of them came, went or changed"""
    resume_point: str = ""
    """from where it is read: an offset in a file, or what its lister gave; what lies before was read and is the same"""
    refusals: tuple[Failure, ...] = ()
    """of its files those that are not opened; one without a location is of the unit itself, which is not read then"""

    @property
    def root(self) -> Path:
        """The folder that its path is relative to."""
        return self.file.parents[self.path.count("/")]


@dataclass(frozen=True)
class Listing:
    """The units of a source."""

    units: tuple[Unit | UnitRef, ...]
    """all there are; those that changed since the cursor where `removed` is given"""
    cursor: str = ""
    """where the next listing goes on; no text of what is listed, which may have to be forgotten"""
    removed_ids: frozenset[str] | None = None
    """ids of those that are gone since the cursor; the others are as they were"""


Lister = Callable[[ListingScope], Listing]
"""raises ListingError, and OSError where it cannot look"""


class ListingError(RelragError):
    """Part of a source cannot be listed, so deletions in it cannot be known; the message says what to do."""

    stored = "the units of the source cannot be listed; `relrag plan` says why"


def path_of(file: Path, root: Path) -> str:
    """The path of a file or folder relative to a source; for the source itself its name."""
    whole, folder = str(file), f"{root}/"
    if whole.startswith(folder):  # a path's own arithmetic takes ten times as long, for each of many files
        relative = whole[len(folder) :]
    else:
        relative = (file.relative_to(root) if file != root else Path(root.name)).as_posix()
    # a name that is no valid UTF-8 comes with lone surrogates, which no table can hold
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
    found: list[os.stat_result] = []
    plain: list[Path] = []
    refused: list[Failure] = []
    for one in (file, *companions):
        try:
            found.append(regular_files.check_file(one, root, follow_links=follow_links))
            plain.append(one)
        except regular_files.RefusedFile as why:
            if one is file:  # a version, so that it is read again when something else lies there
                return Unit(path, file, 0, 0, version=f"{why.fault} {path}", refusals=(why.failure(),))
            refused.append(why.failure(one.name))
        except OSError:  # a link to nowhere: a unit all the same, so that reading it says what is wrong
            return Unit(path, file, 0, 0, companions, siblings_fingerprint=siblings_fingerprint)
    changed = found[0].st_mtime_ns
    if companions:  # a name tells as well: `call.txt` that becomes `call.vtt` is read differently
        told = [*(one.name for one in companions), *(f"{one.fault} {one.location}" for one in refused)]
        names = zlib.crc32("\0".join(told).encode("utf-8", "surrogatepass"))
        changed = (names + sum(one.st_mtime_ns for one in found)) % 2**63
    size = sum(one.st_size for one in found)
    return Unit(
        path,
        file,
        size,
        changed,
        tuple(plain[1:]),
        siblings_fingerprint=siblings_fingerprint,
        refusals=tuple(refused),
    )


def unit_of_ref(ref: UnitRef, root: Path) -> Unit:
    """The unit for a reference that is not a file."""
    return Unit(ref.id, ref.file or root, 0, 0, version=ref.version, resume_point=ref.resume_point)
