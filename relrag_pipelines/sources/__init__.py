"""What a connector is given; the table of kinds is in kinds.py.

A connector is one module of this folder with one function, `read(unit, reading)`, a generator of records and
failures. It streams: it never holds more than one item. It yields a Failure for what it cannot read and goes on; it
raises only on faults of its own. Beside it stands `recognise(file)`, which `relrag init` asks. A kind whose units are
not simply the files with its suffixes also has `units(root, excluded, follow_links)`, which finds them. To add a kind:
the module, a row in KINDS, a test, a sample. No module outside of this folder knows a kind or a type of record by name.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import regular_files
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources.kind import Kind, RecordType
from relrag_pipelines.sources.kinds import AUDIO, COMMIT_REF, KINDS, MAIL_REF, RECORD_TYPES, TRANSCRIPTS, record_type
from relrag_pipelines.workers.sandbox import Limits

if TYPE_CHECKING:
    from relrag_pipelines.sources.legacy.collection import LegacyCollection

__all__ = [
    "AUDIO",
    "COMMIT_REF",
    "KINDS",
    "LEFT_OUT",
    "MAIL_REF",
    "RECORD_TYPES",
    "TRANSCRIPTS",
    "UNREADABLE",
    "CallApproval",
    "CoveredInterval",
    "Excluded",
    "Kind",
    "ListingError",
    "ReadContext",
    "Reader",
    "RecordType",
    "Unit",
    "path_of",
    "record_type",
    "unit_of",
]  # fmt: skip

LEFT_OUT = frozenset({"binary", "generated", "ignored", "vendored"})
"""fault words of what is left out on purpose: counted, but no reason to say that something went wrong"""

UNREADABLE = "unreadable"
"""fault word of a whole unit that the system did not give, so that it is tried again with every sync"""


@dataclass(frozen=True)
class Unit:
    """One thing that a connector opens, a file or a repository, and the files that are read together with it."""

    path: str
    """relative to the source's path, with forward slashes"""
    file: Path
    """where it lies"""
    size: int
    """bytes, of all its files"""
    mtime_ns: int
    """modification time, nanoseconds; where there are files beside it a number that changes with any of theirs"""
    beside: tuple[Path, ...] = ()
    """files of the same name with one of the kind's `companions`, in order"""
    fingerprint: str = ""
    """of a unit that is no file: differs when it has changed; size and time say nothing then"""
    around: str = ""
    """of a unit that tells of files in its folder: differs when one of them came, went or changed"""
    start: int = 0
    """offset from which it is read; what lies before it was read earlier and has not changed"""
    refused: tuple[Failure, ...] = ()
    """of its files those that are not opened; one without a location is of the unit itself, which is not read then"""

    @property
    def root(self) -> Path:
        """The folder that its path begins in."""
        return self.file.parents[self.path.count("/")]


class ListingError(RelragError):
    """Part of a source cannot be listed, so what is gone from it cannot be told; the message says what to do."""

    stored = "the units of the source cannot be listed; `relrag plan` says why"


def path_of(file: Path, root: Path) -> str:
    """How a file or folder below a source's path is named; the root itself by its name."""
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
    fingerprint: str = "",
    beside: tuple[Path, ...] = (),
    around: str = "",
    *,
    follow_links: bool = False,
) -> Unit:
    """The unit that is this file or folder, as it lies there now."""
    path = path_of(file, root)
    if fingerprint:
        return Unit(path, file, 0, 0, fingerprint=fingerprint)
    found: list[os.stat_result] = []
    plain: list[Path] = []
    refused: list[Failure] = []
    for one in (file, *beside):
        try:
            found.append(regular_files.check_file(one, root, follow_links=follow_links))
            plain.append(one)
        except regular_files.RefusedFile as why:
            if one is file:  # a fingerprint, so that it is read again when something else lies there
                return Unit(path, file, 0, 0, fingerprint=f"{why.fault} {path}", refused=(why.failure(),))
            refused.append(why.failure(one.name))
        except OSError:  # a link to nowhere: a unit all the same, so that reading it says what is wrong
            return Unit(path, file, 0, 0, beside, around=around)
    changed = found[0].st_mtime_ns
    if beside:  # a name tells as well: `call.txt` that becomes `call.vtt` is read differently
        told = [*(one.name for one in beside), *(f"{one.fault} {one.location}" for one in refused)]
        names = zlib.crc32("\0".join(told).encode("utf-8", "surrogatepass"))
        changed = (names + sum(one.st_mtime_ns for one in found)) % 2**63
    size = sum(one.st_size for one in found)
    return Unit(path, file, size, changed, tuple(plain[1:]), around=around, refused=tuple(refused))


@dataclass(frozen=True)
class CallApproval:
    """What the owner has said of one call."""

    approved: bool = False
    swapped: bool = False
    """the two speakers stand for each other"""


@dataclass(frozen=True)
class ReadContext:
    """What a connector may know beside the unit: its source's options, limits, and the keyed hash for ids."""

    source: str
    timezone: str
    """IANA name of the zone that local times are in"""
    hash: Callable[[str], str]
    """keyed hash of a text, 16 hex digits: the only hash that may stand in an id"""
    date_order: str = "auto"
    owner: str = ""
    """the archive's owner, as transcripts name them"""
    file_names: tuple[str, ...] = ()
    """patterns of the source's file names"""
    approval_required: bool = False
    approvals: Callable[[], Mapping[str, CallApproval]] = dict
    """what the owner has said of each call, by asset_id"""
    transcription_model: str = ""
    """folder of a model that makes transcripts; empty for none"""
    transcription_max_seconds: int = 60
    """processor time for each second of a recording"""
    transcription_max_bytes: int = 8 * 2**30
    transcripts: Path | None = None
    """where transcripts that were made are kept"""
    archive_max_ratio: int = 100
    archive_max_bytes: int = 20 * 2**30
    unit_max_bytes: int = 2 * 2**30
    parser_max_seconds: int = Limits().seconds
    parser_max_bytes: int = Limits().max_bytes
    follow_links: bool = False
    """what links lead to is read wherever it lies"""
    url: str = ""
    """of the server that holds the source, where it is no folder"""
    collection: str = ""
    """what of that server is read"""
    server_collection: Callable[[], LegacyCollection] | None = None
    """opens that"""
    units: Callable[[], Iterable[Unit]] = tuple
    """the units of the source as they lie there now"""
    keep: Callable[[str, str, bytes], None] = lambda unit, place, data: None
    """keeps in private/ the bytes of an item that could not be read to its end: the unit's path, the place in it"""

    @property
    def limits(self) -> Limits:
        """What a library may take to parse one file; see sandbox.py."""
        return Limits(self.parser_max_seconds, self.parser_max_bytes)

    def transcription_limits(self, length: float) -> Limits:
        """What the model may take to transcribe a recording of that many seconds, once it has been loaded."""
        seconds = self.parser_max_seconds + math.ceil(self.transcription_max_seconds * length)
        return Limits(seconds, self.transcription_max_bytes, "transcription")


@dataclass(frozen=True)
class CoveredInterval:
    """What a unit speaks of, where that is less than all: what it held before of another time is not deleted.

    A connector yields one for a thread of which the unit may hold only a part, or one without a thread for the unit
    as a whole. Undated records, and threads that no coverage names, are covered.
    """

    thread_id: str | None = None
    since: int | None = None
    """first second that is covered, UTC; None: from the beginning"""
    until: int | None = None
    """second behind the last one, UTC; None: to the end"""


Reader = Callable[[Unit, ReadContext], Iterator[Record | Failure | CoveredInterval]]
Excluded = Callable[[str], bool]
"""whether the source's settings leave out what lies at this path, relative to the source's"""
