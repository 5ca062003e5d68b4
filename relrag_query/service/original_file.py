"""The file of the exports that a record was read from, for its owner alone: it is not redacted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import RefusedFile, check_file
from relrag_pipelines.privacy import pseudonyms
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.sources import KINDS, outlook_stores, record_type
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.stores.unit_state import UnitsError
from relrag_pipelines.workspace import Workspace

_GONE = (SettingsError, OSError, RefusedFile, UnitsError)
"""what says that a file is not there any more"""


_MAX_NAME_BYTES, _MAX_SUFFIX_BYTES = 200, 20
"""of the name of an attachment: file systems take 255, and a number may come before it"""


class NoOriginal(RelragError):
    """A file that cannot be opened any more; the message says why."""


@dataclass(frozen=True)
class OriginalFile:
    """What a record was read from, unchanged since."""

    path: Path
    """the file of the exports that is it, or holds it"""
    source: str
    unit: str
    name: str
    """as it was called, without a folder"""
    content: bytes | None = None
    """of an attachment of a mail; None if the file is the original"""


def may_have(record: Record) -> bool:
    """Whether a record is a file, or an attachment of a mail that can be opened; not what lies within another file."""
    if is_mail_attachment(record):
        return not _why_closed(record)
    return not record.parent_asset_id or record_type(record.rag_source_type).mail


def is_mail_attachment(record: Record) -> bool:
    """Whether a record is an attachment of a mail."""
    kind = record_type(record.rag_source_type)
    return bool(kind.part_of) and record_type(kind.part_of).mail


def locate(settings: Settings, record: Record, suffixes: Sequence[str] = ()) -> OriginalFile:
    """The original of a record, in a file with one of these suffixes if any are given. Raises NoOriginal.

    Suffixes say nothing of an attachment, whose mail lies in a file of another type.
    """
    if is_mail_attachment(record):
        ((_, attached),) = locate_attachments(settings, [record])
        if isinstance(attached, NoOriginal):
            raise attached
        return attached
    locations = _locations(settings, [record])[record.asset_id]
    unit = _unit(locations, tuple(suffixes) or ("",))
    if not unit or not may_have(record):
        raise NoOriginal("the original is part of another file", code="original_within")
    try:
        path = _checked_path(settings, record.source, unit)
        state = unit_state.load(settings.home_path, record.source).get(unit)
        is_unchanged = state is not None and _content_hash(path, unit, record.kind, locations) == state.content_hash
    except _GONE:
        raise NoOriginal("the original is no longer where it was read from", code="original_gone") from None
    if not is_unchanged:
        raise NoOriginal("the original has changed since it was read; a sync reads it again", code="original_changed")
    return OriginalFile(path, record.source, unit, path.name)


def _content_hash(path: Path, unit: str, kind: str, locations: Sequence[str]) -> str:
    """The hash of a unit as a sync stores it, with the files that belong to it, such as the transcript of a call."""
    # imported only here: few originals are opened
    from relrag_pipelines.ingest import unit_selection

    folder, endings = PurePosixPath(unit).parent, KINDS[kind].companions
    parts = [PurePosixPath(location) for location in locations if endings and location.lower().endswith(endings)]
    companions = [path.with_name(part.name) for part in parts if part.parent == folder and part.name != path.name]
    return unit_selection.content_hash(path, companions)


def _why_closed(record: Record) -> NoOriginal | None:
    """Why an attachment of a mail can never be opened; None if it may be there."""
    if not (record.extra.get("bytes_hash") and record.locations):
        return NoOriginal(
            "the attachment cannot be identified: no hash of its bytes or no file is known, as of attached mails",
            code="original_unknown",
        )
    if all(_unit_of(location).lower().endswith(outlook_stores.SUFFIXES) for location in record.locations):
        return NoOriginal(
            "the attachment lies in a data file of Outlook (.pst, .ost); open its mail in Outlook",
            code="original_in_outlook",
        )
    return None


def locate_attachments(
    settings: Settings, records: Iterable[Record]
) -> Iterator[tuple[Record, OriginalFile | NoOriginal]]:
    """Each attachment of a mail with its original, or with why it cannot be opened.

    A mail is read once, when the first of its attachments is asked for, and no further than to the last of them.
    """
    closed = {record.asset_id: (record, _why_closed(record)) for record in records}
    possible = [record for record, why in closed.values() if not why]
    for (source, location), attached in _by_location(settings, possible).items():
        sought = [record for record in attached if record.asset_id in closed]
        for record, original in _attachments_at(settings, source, location, sought):
            del closed[record.asset_id]
            yield record, original
    for record, why in closed.values():
        yield (
            record,
            why
            or NoOriginal("the attachment is no longer in the mail that it was read from", code="original_detached"),
        )


def _by_location(settings: Settings, records: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """The records that lie in each location of a source."""
    locations, located = _locations(settings, records), dict[tuple[str, str], list[Record]]()
    for record in records:
        for location in dict.fromkeys(locations[record.asset_id]):
            located.setdefault((record.source, location), []).append(record)
    return located


def _attachments_at(
    settings: Settings, source: str, location: str, records: Iterable[Record]
) -> Iterator[tuple[Record, OriginalFile]]:
    """Those attachments that the mail there holds, known again by the hash of their bytes."""
    # imported only here: the readers of mail take long to load
    from relrag_pipelines.sources.mail import attached_file
    from relrag_pipelines.sources.mail.outlook.msg import CompoundError

    keys, (unit, _, offset) = Workspace(settings).keys, location.partition("#")
    sought: dict[str, list[Record]] = {}
    for record in records:
        sought.setdefault(record.extra["bytes_hash"], []).append(record)
    try:
        path = _checked_path(settings, source, unit)
        for attached in attached_file.read(path, offset) if sought else ():
            bytes_hash = keys.id_hash(hashlib.sha256(attached.data).hexdigest())
            if same := sought.get(bytes_hash):
                yield same.pop(0), OriginalFile(path, source, unit, _file_name(attached.name), attached.data)
            if not any(sought.values()):
                return
    except (*_GONE, CompoundError, ValueError):
        return


def _file_name(named: str) -> str:
    """The name of a file that a mail names, which may be a path, hold any characters and have any length."""
    printable = "".join(filter(str.isprintable, PurePosixPath(named.replace("\\", "/")).name)).strip(". ")
    suffix = PurePosixPath(printable).suffix
    ending = suffix if len(suffix.encode()) <= _MAX_SUFFIX_BYTES else ""
    stem = printable.removesuffix(ending).encode()[: _MAX_NAME_BYTES - len(ending.encode())]
    return (stem.decode(errors="ignore") + ending).strip(". ") or "attachment"


def _checked_path(settings: Settings, source_name: str, unit: str) -> Path:
    """The file of a unit, which lies within its source. Raises one of _GONE."""
    source = settings.source(source_name)
    root = settings.source_path(source)
    path = root if root.is_file() else root / unit
    check_file(path, root, follow_links=source.follow_links)
    return path


def _locations(settings: Settings, records: Sequence[Record]) -> dict[str, list[str]]:
    """Where each record lies, by its id. The index may have redacted the path; the private record has the real one."""
    locations = {record.asset_id: record.locations for record in records}
    redacted: dict[str, list[Record]] = {}
    for record in records:
        if any(pseudonyms.all_in(location) or pseudonyms.TYPE.search(location) for location in record.locations):
            redacted.setdefault(record.source, []).append(record)
    for source, sought in redacted.items():
        locations |= _private_locations(settings.home_path, source, sought)
    return locations


def _private_locations(home: Path, source: str, records: Sequence[Record]) -> dict[str, list[str]]:
    """Where those records of a source lie that have a private record; their own months are read first."""
    sought, own_months = {record.asset_id for record in records}, {(record.timestamp or "")[:7] for record in records}
    locations: dict[str, list[str]] = {}
    for month in sorted(
        lake.manifest(home, "private_records", source), key=lambda month: (month not in own_months, month)
    ):
        if not (missing := sorted(sought - locations.keys())):
            break
        rows = lake.read(home, "private_records", source, month, ["asset_id", "locations"])
        for row in rows.filter(pc.is_in(rows["asset_id"], pa.array(missing, pa.string()))).to_pylist():
            locations.setdefault(row["asset_id"], []).extend(row["locations"])
    return locations


def _unit(locations: Iterable[str], endings: tuple[str, ...]) -> str:
    """The first file of these locations with such a suffix; empty if none has."""
    units = map(_unit_of, locations)
    return next((unit for unit in units if unit.lower().endswith(endings)), "")


def _unit_of(location: str) -> str:
    """The file that a location lies in."""
    return location.partition("#")[0]
