"""The attachments of a mail: one record each, with the text that the document readers find in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, document
from relrag_pipelines.sources.formats import calendar, picture_text
from relrag_pipelines.sources.mail.body import Body, name_of, text_of
from relrag_pipelines.sources.mail.mime import Part
from relrag_pipelines.text.reference_numbers import find_reference_numbers
from relrag_pipelines.workers.sandbox import ParserStopped, call

Nested = Callable[[Part, Record, ReadContext, str], Iterator[Record | Failure]]
"""fills the record of a message that is attached, and gives what is attached to that"""

_SUFFIX_OF = {content_type: suffix for suffix, content_type in reversed(document.SUFFIXES.items())}
_SEALED = {
    "application/pkcs7-mime": "S/MIME",
    "application/x-pkcs7-mime": "S/MIME",
    "application/x-microsoft-rpmsg-message": "rights management",
}


def read(
    mail: Part, body: Body, parent: Record, reading: ReadContext, at: str, nested: Nested
) -> Iterator[Record | Failure]:
    """The records of a mail's attachments, each preceded by its failures; counts them in the parent."""
    parts = [part for part in body.attachments if part.type != "multipart/encrypted"]
    if parent.index_in_parent is None:  # a message that is attached itself counts with those beside it
        parent.total_siblings = len(parts)
    for index, part in enumerate(parts):
        location = f"{at}, attachment {index + 1}" if at else f"attachment {index + 1}"
        record = _record(part, parent, index, len(parts))
        if part.parts and not part.type.startswith("multipart/"):
            inside = list(nested(part, record, reading, location))
            body.defects.update(record.extra.get("defects", ()))
            yield record
            yield from inside
            continue
        yield from (
            replace(failure, location=f"{location} {failure.location}".strip(), whole_unit=False)
            for failure in _fill(record, part, reading)
        )
        yield record
        body.defects.update(part.defects)


def _record(part: Part, parent: Record, index: int, total: int) -> Record:
    return Record(
        source_id=f"{parent.source_id}:{index}",
        rag_source_type="email_attachment",
        from_=parent.from_,
        to=list(parent.to),
        subject=parent.subject,
        ts=parent.ts,
        thread_id=parent.thread_id,
        parent_asset_id=f"gmail:{parent.source_id}",
        parent_ref=parent.source_id,
        index_in_parent=index,
        total_siblings=total,
        content_type=part.type,
        file_name=name_of(part) or None,
        locations=list(parent.locations),
    )


def _fill(record: Record, part: Part, reading: ReadContext) -> Iterator[Failure]:
    """Adds the text of an attachment, with the size and hash of its bytes."""
    if part.type in _SEALED:
        sealed = "signed in a form that hides it" if _is_signed(part) else "encrypted"
        how = _SEALED[part.type]
        yield Failure("", "encrypted", f"the part is {sealed} ({how}); save the mail opened to have its text")
    data = part.content()
    record.extra = {"size": len(data), "bytes_hash": reading.hash(hashlib.sha256(data).hexdigest())}
    if part.type == "text/calendar" or (record.file_name or "").lower().endswith((".ics", ".vcs")):
        yield from _fill_from_calendar(record, part, reading)
        return
    if picture_text.is_picture(record.file_name or "", part.type):
        yield from _fill_from_picture(record, data, reading)
        return
    if name := _readable_name(record.file_name or "", part.type):
        yield from _fill_from_document(record, name, data, reading)
    elif part.type.startswith(("text/", "message/")):
        record.text = text_of(part).strip()


def _fill_from_picture(record: Record, data: bytes, reading: ReadContext) -> Iterator[Failure]:
    picture = picture_text.read_text(data, "", reading)
    record.text, record.numbers = picture.text, find_reference_numbers(picture.text)
    if picture.failure:
        yield picture.failure


def _fill_from_document(record: Record, name: str, data: bytes, reading: ReadContext) -> Iterator[Failure]:
    extracted = document.extract_with_ocr(data, name, len(data), reading)
    yield from extracted.failures
    record.text, record.pages, record.numbers = extracted.text, extracted.pages, extracted.numbers
    if extracted.page_count is not None:
        record.extra["page_count"] = extracted.page_count


def _fill_from_calendar(record: Record, part: Part, reading: ReadContext) -> Iterator[Failure]:
    """Adds the events of a calendar: as text, and in `extra.events`."""
    text = text_of(part).strip()
    record.content_type, record.text = "text/calendar", text
    try:
        parsed = call(reading.limits, len(text), calendar.read, text, reading.timezone)
    except (calendar.CalendarError, ParserStopped) as error:
        yield Failure("", error.fault, f"{error}; its text is kept as it stands")
        return
    yield from parsed.failures
    record.text = "\n\n".join(map(_describe_event, parsed.events)) or text
    record.extra["events"] = [
        {
            "uid": reading.hash(event.uid) if event.uid else "",
            "start": str(event.start or ""),
            "end": str(event.end or ""),
            "attendees": list(dict.fromkeys(person.address for person in event.people if person.address)),
            "method": event.method,
            "status": event.status,
            "rule": event.rule,
        }
        for event in parsed.events
    ]


def _describe_event(event: calendar.Event) -> str:
    """An event in words: what, when, where, with whom."""
    when = " - ".join(str(moment) for moment in (event.start, event.end) if moment)
    people = ", ".join(person.full for person in event.people)
    lines = (event.summary, when, event.location, people, event.description)
    return "\n".join(line.strip() for line in lines if line.strip())


def _is_signed(part: Part) -> bool:
    return part.parameters.get("smime-type", "").lower() == "signed-data"


def _readable_name(name: str, content_type: str) -> str:
    """A name with the suffix of a format that the document readers support; empty if they support none."""
    if PurePosixPath(name).suffix.lower() in document.SUFFIXES:
        return name
    return f"{name}{_SUFFIX_OF[content_type]}" if content_type in _SUFFIX_OF else ""
