"""Pages of a cited PDF as pictures, redacted like the index, for users who may see the record."""

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
    """A page cannot be shown as a picture; the message says why."""


@dataclass(frozen=True)
class Original:
    """A file of the exports that is unchanged since it was read."""

    path: Path
    source: str
    unit: str


def has_pages(record: Record) -> bool:
    """Whether a record is a file with pages that can be shown as pictures."""
    return bool(record.pages) and any(location.lower().endswith(SUFFIX) for location in record.locations)


def picture(settings: Settings, record: Record, page: int, quote: str) -> PagePicture:
    """A page of a record's original. Raises NoPicture if it cannot or must not be shown."""
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
    location = next((path for path in record.locations if path.lower().endswith(SUFFIX)), "")
    if not location or record.parent_asset_id:
        raise NoPicture("The original is part of another file, of which no picture is made.")
    try:
        source = settings.source(record.source)
        root = settings.source_path(source)
        path = root if root.is_file() else root / location
        check_file(path, root, follow_links=source.follow_links)
        unit = unit_state.load(settings.home_path, source.name).get(location)
        is_unchanged = unit is not None and file_hash(path) == unit.content_hash
    except (SettingsError, OSError, RefusedFile, UnitsError):
        raise NoPicture("The original is no longer where it was read from.") from None
    if not is_unchanged:
        raise NoPicture("The original has changed since it was read; a sync reads it again.")
    return Original(path, source.name, location)


def _text(record: Record, page: int) -> str:
    """The indexed text of a page."""
    return "".join(record.text[span.start : span.end] for span in record.pages if span.number == page)
