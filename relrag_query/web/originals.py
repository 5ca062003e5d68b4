"""The original behind a citation: pages of a PDF as pictures, redacted as the index is, for who may see the record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import RefusedFile, check_file, read_plain
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.sources.document.document_text import DocumentError
from relrag_pipelines.sources.document.page_picture import PagePicture, page_picture
from relrag_pipelines.stores import unit_state
from relrag_pipelines.stores.unit_state import UnitsError
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workers.sandbox import Limits, ParserStopped

SUFFIX = ".pdf"


class NoPicture(RelragError):
    """A page that is not shown as a picture; the message says why."""


@dataclass(frozen=True)
class Original:
    """A file of the exports, as it was when it was read."""

    path: Path
    source: str
    unit: str


def has_pages(record: Record) -> bool:
    """Whether a record is a file whose pages could be shown."""
    return bool(record.pages) and any(place.lower().endswith(SUFFIX) for place in record.locations)


def picture(settings: Settings, record: Record, page: int, quote: str) -> PagePicture:
    """That page of a record's original. Raises NoPicture where it cannot, or may not, be shown."""
    original = _original(settings, record)
    try:
        data = read_plain(original.path, settings.unit_max_bytes)
        limits = Limits(settings.parser_max_seconds, settings.parser_max_bytes)
        redacted = _text(record, page) if settings.pii_redaction_enabled else None
        return sandbox.call(limits, len(data), page_picture, data, page, quote, redacted)
    except DocumentError as error:
        raise NoPicture(f"This page is not shown: {error}.") from None
    except (OSError, ParserStopped):
        raise NoPicture("This page is not shown: the original cannot be read.") from None


def _original(settings: Settings, record: Record) -> Original:
    place = next((one for one in record.locations if one.lower().endswith(SUFFIX)), "")
    if not place or record.parent_asset_id:
        raise NoPicture("The original is part of another file, of which no picture is made.")
    try:
        source = settings.source(record.source)
        root = settings.source_path(source)
        path = root if root.is_file() else root / place
        check_file(path, root, follow_links=source.follow_links)
        known = unit_state.load(settings.home_path, source.name).get(place)
        same = known is not None and file_hash(path) == known.content_hash
    except (SettingsError, OSError, RefusedFile, UnitsError):
        raise NoPicture("The original is no longer where it was read from.") from None
    if not same:
        raise NoPicture("The original has changed since it was read; a sync reads it again.")
    return Original(path, source.name, place)


def _text(record: Record, page: int) -> str:
    """What the index has of a page."""
    return "".join(record.text[one.start : one.end] for one in record.pages if one.number == page)
