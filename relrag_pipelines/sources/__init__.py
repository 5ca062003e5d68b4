"""The interface between connectors and the rest of the pipeline. The table of kinds is in kinds.py.

A connector is a module of this folder with a function `read(unit, reading)`, a generator of records and failures. It
streams: it never holds more than one record. It yields a Failure for what it cannot read and continues; it raises only
on faults of its own. `recognise(file)` in the same module serves `relrag init`. A kind whose units are not simply the
files with its suffixes also has a lister, `units(scope)`: see unit.py. To add a kind: the module, a row in KINDS, a
test, a sample. No module outside this folder names a kind or a type of record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
)
from relrag_pipelines.workers.limits import Limits

__all__ = [
    "AUDIO",
    "COMMIT_REF",
    "KINDS",
    "LEFT_OUT",
    "LOST_ITEMS",
    "MAIL_REF",
    "NOT_READ",
    "PICTURE",
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
    "record_type",
]  # fmt: skip

NOT_READ = "not_read"
"""fault word of a file that no source reads"""

PICTURE = "picture"
"""fault word of a picture in which text is not searched, as `ocr` is not set or its program is missing"""

LEFT_OUT = frozenset({"binary", "generated", "ignored", "vendored", NOT_READ, PICTURE})
"""fault words of files left out on purpose or of no kind: counted, but not reported as faults"""

LOST_ITEMS = frozenset({"missing_id", "not_json", "wrong_type"})
"""fault words of a message that could not be read, so that its id is not known: it may be one that was read before"""

UNREADABLE = "unreadable"
"""fault word of a unit that the system could not read, so that every sync tries it again"""


@dataclass(frozen=True)
class CallApproval:
    """What the owner decided about one call."""

    approved: bool = False
    left_out: bool = False
    """its text stays out of the archive"""
    swapped: bool = False
    """the labels of the two speakers are exchanged"""


@dataclass(frozen=True)
class ReadContext:
    """Context of a unit for its connector: the options of its source, limits, and the keyed hash for ids."""

    source: str
    timezone: str
    """IANA name of the zone that local times are in"""
    hash: Callable[[str], str]
    """keyed hash of a text, 16 hex digits: the only hash that ids may contain"""
    date_order: str = "auto"
    owner: str = ""
    """the archive's owner, as transcripts name them"""
    file_names: tuple[str, ...] = ()
    """patterns of the source's file names"""
    approval_required: bool = False
    approvals: Callable[[], Mapping[str, CallApproval]] = dict
    """the owner's decision about each call, by asset_id"""
    transcription_model: str = ""
    """folder of a transcription model; empty for none"""
    transcription_max_seconds: int = 60
    """processor time for each second of a recording"""
    transcription_max_bytes: int = 8 * 2**30
    transcripts: Path | None = None
    """folder where transcripts made by the model are stored"""
    archive_max_ratio: int = 100
    archive_max_bytes: int = 20 * 2**30
    unit_max_bytes: int = 2 * 2**30
    parser_max_seconds: int = Limits().seconds
    parser_max_bytes: int = Limits().max_bytes
    ocr: str = ""
    """program that reads scanned pages; empty for none"""
    ocr_languages: tuple[str, ...] = ()
    """codes of the languages of scans; empty for all that the program knows"""
    follow_links: bool = False
    """links are followed, even out of the source"""
    picture_failures: list[Failure] = field(default_factory=list, compare=False)
    """pictures sent in chats whose words could not be read; a reader of chats yields them at its end"""
    scratch: Path | None = None
    """folder below private/ for copies that are removed when their unit has been read; None for the system's"""
    secret: Callable[[], str] = str
    """the secret of the source; raises SecretError if it has none"""
    url: str = ""
    """address of the server that holds the source, if it isn't a folder"""
    collection: str = ""
    """name of the collection on that server"""
    server_collection: Callable[[], Any] | None = None
    """opens that collection, a `LegacyCollection`"""
    units: Callable[[], Iterable[Unit]] = tuple
    """the current units of the source"""
    keep: Callable[[str, str, bytes], None] = lambda unit, location, data: None
    """stores in private/ the bytes of an item that could not be read completely: the unit's path, its location there"""

    @property
    def limits(self) -> Limits:
        """Limits for a library that parses one file; see sandbox.py."""
        return Limits(self.parser_max_seconds, self.parser_max_bytes)

    def transcription_limits(self, length: float) -> Limits:
        """Limits for transcribing a recording of `length` seconds, once the model is loaded."""
        seconds = self.parser_max_seconds + math.ceil(self.transcription_max_seconds * length)
        return Limits(seconds, self.transcription_max_bytes, "transcription")


@dataclass(frozen=True)
class CoveredInterval:
    """The part of a thread that a unit covers: earlier records outside it are not deleted.

    A connector yields one for each thread of which the unit may hold only a part, or one without a thread for the unit
    as a whole. Undated records, and threads without an interval, are covered.
    """

    thread_id: str | None = None
    since: int | None = None
    """first second that is covered, UTC; None: from the beginning"""
    until: int | None = None
    """second after the last covered one, UTC; None: to the end"""


Reader = Callable[[Unit, ReadContext], Iterator[Record | Failure | CoveredInterval]]
