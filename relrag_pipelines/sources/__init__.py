"""What every connector is given. The table of kinds is in kinds.py.

A connector is one module of this folder with one function, `read(unit, reading)`, a generator of records and
failures. It streams: it never holds more than one item. It yields a Failure for what it cannot read and goes on; it
raises only on faults of its own. Beside it stands `recognise(file)`, which `relrag init` asks. A kind whose units are
not simply the files with its suffixes also has a lister, `units(place)`: see unit.py. To add a kind: the module, a row
in KINDS, a test, a sample. No module outside of this folder knows a kind or a type of record by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources.kind import Kind, RecordType
from relrag_pipelines.sources.kinds import AUDIO, COMMIT_REF, KINDS, MAIL_REF, RECORD_TYPES, TRANSCRIPTS, record_type
from relrag_pipelines.sources.unit import (
    Excluded,
    Lister,
    Listing,
    ListingError,
    ListingScope,
    Unit,
    UnitRef,
    path_of,
    unit_of,
    unit_of_ref,
)
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
    "Lister",
    "Listing",
    "ListingError",
    "ListingScope",
    "ReadContext",
    "Reader",
    "RecordType",
    "Unit",
    "UnitRef",
    "path_of",
    "record_type",
    "unit_of",
    "unit_of_ref",
]  # fmt: skip

LEFT_OUT = frozenset({"binary", "generated", "ignored", "vendored"})
"""fault words of what is left out on purpose: counted, but no reason to say that something went wrong"""

UNREADABLE = "unreadable"
"""fault word of a whole unit that the system did not give, so that it is tried again with every sync"""


@dataclass(frozen=True)
class CallApproval:
    """What the owner decided about one call."""

    approved: bool = False
    swapped: bool = False
    """the two speakers stand for each other"""


@dataclass(frozen=True)
class ReadContext:
    """What a connector is told besides the unit: its source's options, limits, and the keyed hash for ids."""

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
        """Limits for a library that parses one file; see sandbox.py."""
        return Limits(self.parser_max_seconds, self.parser_max_bytes)

    def transcription_limits(self, length: float) -> Limits:
        """Limits for transcribing a recording of that many seconds, once the model has been loaded."""
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
