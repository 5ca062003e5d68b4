"""Pages of a cited PDF as pictures, redacted like the index, for users who may see the record."""

from __future__ import annotations

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import read_plain
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources.document.document_text import DocumentError
from relrag_pipelines.sources.document.page_picture import PagePicture, page_picture
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workers.limits import Limits
from relrag_pipelines.workers.sandbox import ParserStopped
from relrag_query.service import original_file
from relrag_query.service.original_file import NoOriginal

SUFFIX = ".pdf"


class NoPicture(RelragError):
    """A page cannot be shown as a picture; the message says why."""


def has_pages(record: Record) -> bool:
    """Whether a record is a file, or an attachment of a mail, with pages that can be shown as pictures."""
    files = [record.file_name or ""] if original_file.is_mail_attachment(record) else record.locations
    return (
        bool(record.pages) and original_file.may_have(record) and any(name.lower().endswith(SUFFIX) for name in files)
    )


def picture(settings: Settings, record: Record, page: int, quote: str) -> PagePicture:
    """A page of a record's original. Raises NoPicture if it cannot or must not be shown."""
    try:
        original = original_file.locate(settings, record, [SUFFIX])
    except NoOriginal as error:
        raise NoPicture(f"This page is not shown: {error}.", code=error.code) from None
    try:
        data = original.content
        if data is None:
            data = read_plain(original.path, settings.unit_max_bytes)
        limits = Limits(settings.parser_max_seconds, settings.parser_max_bytes)
        redacted = _text(record, page) if settings.pii_redaction_enabled else None
        return sandbox.call(limits, len(data), page_picture, data, page, quote, redacted)
    except DocumentError as error:
        raise NoPicture(f"This page is not shown: {error}.", code="no_picture") from None
    except (OSError, ParserStopped):
        raise NoPicture("This page is not shown: the original cannot be read.", code="no_picture") from None


def _text(record: Record, page: int) -> str:
    """The indexed text of a page."""
    return "".join(record.text[span.start : span.end] for span in record.pages if span.number == page)
