"""A mail as records: the mail, then its attachments, attached messages included.

| field of `extra` | meaning |
|---|---|
| `cc`, `bcc` | those of `to` who only got a copy |
| `references` | asset ids of the mails that its headers name, the oldest first |
| `gmail_thread` | Gmail's own name of the thread, keyed |
| `labels` | Gmail's labels; those that Gmail itself gives, in English |
| `apart` | what stands beside the text its author wrote, by the kinds of `quoted` |
| `bulk` | why it counts as sent to many, or by a program: the words of `bulk` |
| `signed`, `ornaments` | it is; how many pictures that only adorn its text are left out |
| `left_out` | file name, type and encoded size of those and of signatures |
| `defects` | what is wrong with its form |
| `text_hash` | keyed hash of what it says: with it two mails of one Message-ID are told apart |
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from relrag_pipelines.privacy.keys import safe_id
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, mail_ids
from relrag_pipelines.sources.mail import attachments, copies, gmail_labels, headers, mail_heads, mime, segmentation
from relrag_pipelines.sources.mail.body import MAX_TEXT, Body, body_of, name_of
from relrag_pipelines.sources.mail.bulk_mail import bulk_reason
from relrag_pipelines.sources.mail.mime import Part
from relrag_pipelines.sources.mail.outlook import msg
from relrag_pipelines.sources.mail.sent_time import sent_time
from relrag_pipelines.text import reference_numbers

KIND = "gmail"
APART: tuple[segmentation.SegmentKind, ...] = ("forward_headers", "forwarded", "quoted", "signature", "disclaimer")
"""what of a mail's text its author did not write for this mail; the names are those of `quoted`"""

MAX_SPLIT = 256 * 2**10
"""A longer text, characters, is a log or a list and has no history to be told apart."""

_TOO_LARGE = {
    "too_deep": f"parts more than {mime.MAX_DEPTH} deep within each other are not read",
    "too_many_parts": f"of its parts the first {mime.MAX_PARTS:,} are read",
    "head_too_long": f"of a head the first {mime.MAX_HEADERS:,} bytes are read",
    "text_too_long": f"of a text the first {MAX_TEXT:,} bytes are read",
}
_DAMAGED = {
    "damaged_outlook": "some of what Outlook saved is missing from the file; save the mail again from Outlook",
    "damaged_rtf": "its text is rich text that cannot be unpacked; save the mail again from Outlook",
    "damaged_tnef": "its winmail.dat is cut or damaged; ask the sender for the files",
    "damaged_uuencode": "a part in uuencode is cut or damaged; save the mail again",
    "unknown_encoding": "a part names a transfer encoding that does not exist; it is kept as it stands",
}
_LOSSY = {*_TOO_LARGE, *_DAMAGED, "damaged_base64", "damaged_text", "stray_line"}
"""defects with which something of the mail may be missing"""
_MAX_REFERENCES = 200
_NO_HEADER = (
    "no header of a mail was found, so sender, time and subject are unknown; all of it is kept as its text; "
    "if it is no mail, move it out of the source"
)


@dataclass(frozen=True)
class MailContext:
    """A mail, and where it was found."""

    data: bytes
    unit: str
    """path of the unit that holds it"""
    offset: str
    """where in the unit it lies; empty where it is all of it"""
    separator: bytes = b""
    """the line of a mailbox above it"""
    parsed: Part | None = None
    """the mail, if it is stored in another form than that of mails; `data` is then its text"""

    @property
    def raw(self) -> bytes:
        """The mail with the line above it."""
        return b"%b\n%b" % (self.separator, self.data) if self.separator else self.data

    @property
    def location(self) -> str:
        """Where the mail is, for `locations`."""
        return f"{self.unit}#{self.offset}" if self.offset else self.unit

    @property
    def at(self) -> str:
        """Where it is within the unit, for failures."""
        where = "item" if self.parsed else "mail at byte"
        return f"{where} {self.offset}" if self.offset else ""


def read_mail(letter: MailContext, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of one mail, each behind its failures.

    Its id is `<Message-ID>~<hash of what it says>`: whether the Message-ID alone would do depends on the other mails of
    the source, so `mail_ids` decides it.
    """
    try:
        records = list(_records(letter, reading))
    except msg.CompoundError as error:
        reading.keep(letter.unit, letter.offset, letter.raw)
        why = f"a mail saved by Outlook that cannot be opened: {error}; its bytes are kept, save it again"
        yield Failure(letter.at, "damaged", why, whole_unit=not letter.offset)
        return
    except Exception as error:  # noqa: BLE001  one bad mail must not stop a mailbox; its text must not reach a traceback
        reading.keep(letter.unit, letter.offset, letter.raw)
        why = f"the mail cannot be read ({type(error).__name__}); its bytes are kept; please report it"
        yield Failure(letter.at, "unreadable", why)
        return
    yield from records


def _records(letter: MailContext, reading: ReadContext) -> Iterator[Record | Failure]:
    saved_by_outlook = letter.data.startswith(msg.SIGNATURE)
    mail = letter.parsed or (msg.parse(letter.data) if saved_by_outlook else mime.parse(letter.data))
    body = body_of(mail)
    record = _record(mail, body, reading, letter.separator)
    record.source_id = _native_id(record, mail, reading)
    record.locations = [letter.location]
    record.parent_ref = record.source_id
    inside = list(attachments.read(mail, body, record, reading, letter.at, _read_nested_mail))
    if headers.message_ids([mail.raw("message-id")]):
        parts = [attachment for attachment in inside if isinstance(attachment, Record)]
        _add_text_hash(record, parts, copies.text_fingerprint(body.text, record.subject or "", parts), reading)
    record.extra |= _note_failure(body)
    if body.defects & _LOSSY:
        reading.keep(letter.unit, letter.offset, letter.raw)
    for defect in sorted(body.defects & _TOO_LARGE.keys()):
        yield Failure(letter.at, "too_large", f"{_TOO_LARGE[defect]}; its bytes are kept, save what you need apart")
    for defect in sorted(body.defects & _DAMAGED.keys()):
        yield Failure(letter.at, "damaged", f"{_DAMAGED[defect]}; the bytes of the mail are kept")
    if not mail_heads.has_mail_headers(mail.fields):
        yield Failure(letter.at, "no_header", _NO_HEADER)
    if body.is_encrypted or "-----BEGIN PGP MESSAGE-----" in body.text:
        yield Failure(letter.at, "encrypted", "the mail is encrypted (PGP); save it decrypted to have its text")
    yield record
    yield from inside


def _read_nested_mail(message: Part, record: Record, reading: ReadContext, at: str) -> Iterator[Record | Failure]:
    """Fills the record of an attached message from its content, and yields its attachments."""
    mail = message.parts[0]
    body = body_of(mail)
    nested = _record(mail, body, reading)
    own_id = headers.message_ids([mail.raw("message-id")])
    references = [*nested.extra.get("references", ()), *(_asset_id(message_id, reading) for message_id in own_id)]
    for name in ("from_", "to", "subject", "ts", "date_quality", "text", "numbers"):
        setattr(record, name, getattr(nested, name))
    record.extra |= nested.extra | ({"references": references} if references else {})
    yield from attachments.read(mail, body, record, reading, at, _read_nested_mail)
    record.extra |= _note_failure(body)


def _record(mail: Part, body: Body, reading: ReadContext, separator: bytes = b"") -> Record:
    """The record of a mail, without its id."""
    senders = headers.addresses(mail.fields.get("from", ())) or headers.addresses(mail.fields.get("sender", ()))
    to, cc, bcc = (headers.addresses(mail.fields.get(name, ())) for name in ("to", "cc", "bcc"))
    subject = mail.get("subject")
    parts = segmentation.segment(body.text, subject) if len(body.text) <= MAX_SPLIT else _single_segment(body.text)
    apart = {kind: text for kind in APART if (text := parts.join(kind))}
    named = _references(mail)
    extra: dict[str, Any] = {
        "cc": list(map(str, cc)),
        "bcc": list(map(str, bcc)),
        "references": [_asset_id(reference, reading) for reference in named],
        "labels": gmail_labels.parse_labels(mail.fields.get("x-gmail-labels", ())),
        "apart": apart,
        "bulk": bulk_reason((name, values[0].decode("latin-1")) for name, values in mail.fields.items()),
    }
    sent = sent_time(mail, reading.timezone, separator)
    gmail_thread = mail.raw("x-gm-thrid").strip().decode("ascii", "replace")
    if gmail_thread:
        extra["gmail_thread"] = reading.hash(gmail_thread)
    return Record(
        source_id="",
        text=parts.join("fresh"),
        rag_source_type="email",
        from_=", ".join(map(str, senders)) or None,
        to=[str(reference) for reference in dict.fromkeys([*to, *cc, *bcc])],
        subject=subject or None,
        ts=sent.ts,
        date_quality=sent.quality,
        thread_id=None,
        parent_asset_id=f"{KIND}:{named[-1]}" if named else None,
        total_siblings=0,
        content_type=body.content_type,
        numbers=reference_numbers.find_reference_numbers(f"{subject or ''}\n{body.text}"),
        extra={name: value for name, value in extra.items() if value},
    )


def _single_segment(text: str) -> segmentation.Segments:
    return segmentation.Segments(text, (segmentation.Segment("fresh", 0, len(text)),))


def _references(mail: Part) -> list[str]:
    """The ids of the mails that the headers name, oldest first; the last is the one replied to."""
    answered = headers.message_ids(mail.fields.get("in-reply-to", ()))[:1]
    named = headers.message_ids(mail.fields.get("references", ()))[-_MAX_REFERENCES:]
    own = headers.message_ids([mail.raw("message-id")])
    return [
        message_id
        for message_id in [*(message_id for message_id in named if message_id not in answered), *answered]
        if message_id not in own
    ]


def _asset_id(message_id: str, reading: ReadContext) -> str:
    return f"{KIND}:{safe_id(message_id, reading.hash)}"


def _native_id(record: Record, mail: Part, reading: ReadContext) -> str:
    """The Message-ID, else a hash of what distinguishes a mail, the same wherever it is stored."""
    if own := headers.message_ids([mail.raw("message-id")])[:1]:
        return own[0]
    written = mail.source[mail.start : mail.end].replace(b"\r", b"").strip()
    headings = [
        mail.raw("date").strip(),
        repr((record.from_, record.to, record.subject)).encode("utf-8", "surrogatepass"),
    ]
    return reading.hash(hashlib.sha256(b"\0".join([*headings, written])).hexdigest())


def _add_text_hash(record: Record, parts: list[Record], fingerprint: str, reading: ReadContext) -> None:
    """Adds the content hash to the id of a mail and of all its attachments."""
    own, text_hash = record.source_id, mail_ids.make_text_hash(fingerprint, reading.hash)
    record.extra["text_hash"] = text_hash
    for record_part in (record, *parts):
        record_part.source_id = mail_ids.with_text_hash(record_part.source_id, own, text_hash)
        record_part.parent_ref = mail_ids.with_text_hash(record_part.parent_ref or "", own, text_hash)
    for record_part in parts:
        container = (record_part.parent_asset_id or "").removeprefix(f"{KIND}:")
        record_part.parent_asset_id = f"{KIND}:{mail_ids.with_text_hash(container, own, text_hash)}"


def _note_failure(body: Body) -> dict[str, Any]:
    left_out = [
        {"file_name": name_of(part), "content_type": part.type, "size": part.end - part.start}
        for part in (*body.ornaments, *body.signatures)
    ]
    noted = {
        "signed": bool(body.signatures),
        "ornaments": len(body.ornaments),
        "left_out": left_out,
        "defects": sorted(body.defects),
    }
    return {name: value for name, value in noted.items() if value}
