"""Mail: mailboxes (Google Takeout and any mbox), Maildir, Outlook's .pst and .ost, single mails (.eml, .emlx, .msg).

`mailbox` gives the mails of a file, `mime` or `outlook` the parts of a mail, `headers` what its headers say;
`records` makes its record and `attachments` those of what is attached. What cannot be read is a failure; what can be
read of the same mail is kept, and so are the bytes of a mail that could not be read to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit, outlook_stores
from relrag_pipelines.sources.mail import mailbox, mime
from relrag_pipelines.sources.mail.outlook import msg, pst
from relrag_pipelines.sources.mail.outlook.mapi_properties import mail_of, raw_text
from relrag_pipelines.workers.sandbox import ParserStopped

__all__ = ["read", "recognise", "starts_item_at"]

starts_item_at = mailbox.starts_item_at
_HEAD = 8192


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of a unit's mails: each mail, then its attachments, preceded by the failures of both."""
    # imported only here: modules of mail are used without reading any, and this one has PDFium and calendars
    from relrag_pipelines.sources.mail.records import MailContext, read_mail

    if unit.file.suffix.lower() in outlook_stores.SUFFIXES:
        yield from _read_data_file(unit, reading)
        return
    for mail in mailbox.mails(unit.file, int(unit.resume_point or 0)):
        letter = MailContext(mail.data, unit.path, mail.offset, mail.separator)
        if mail.data.strip():
            yield from read_mail(letter, reading)
        elif mail.size or not _is_of_thunderbird(unit.file):
            yield _no_mail(mail, letter.at)
    if mailbox.is_cut_off(unit.file):
        why = "the mailbox ends within a line: it may be cut off, so nothing that is gone from it is deleted"
        yield Failure("", "cut_off", f"{why}; export it again", whole_unit=True)


def recognise(file: Path) -> bool:
    """Whether a file is a mailbox or a mail: by its first line or headers."""
    head = mailbox.read_head(file, _HEAD)
    if file.suffix.lower() in outlook_stores.SUFFIXES:
        return head.startswith(pst.SIGNATURE)
    if head.startswith(msg.SIGNATURE):
        return file.suffix.lower() == ".msg"
    mail_fields = mime.parse(head).fields.keys() & {
        "from",
        "to",
        "subject",
        "date",
        "message-id",
        "received",
        "return-path",
    }
    return len(mail_fields) >= (1 if head.lstrip().startswith(b"From ") else 2)


def _read_data_file(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of an Outlook data file."""
    others = 0
    try:
        for batch in pst.batches(unit.file, reading.limits):
            others += batch.others
            for mail in batch.mails:
                yield from _read_stored_mail(mail, unit, reading)
    except ImportError:
        yield Failure("", "needs_library", pst.MISSING, whole_unit=True)
    except ParserStopped as stopped:
        yield Failure("", stopped.fault, f"{stopped}; export its mails in parts", whole_unit=True)
    except OSError:
        why = "Outlook's data file cannot be read to its end; repair it with scanpst, or copy it again"
        yield Failure("", "damaged", why, whole_unit=True)
    if others:
        why = f"{others:,} items are no mails (appointments, contacts, tasks) and are not read; export them apart"
        yield Failure("", "not_mail", why)


def _read_stored_mail(mail: pst.StoredMail, unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    if mail.message is None:
        yield Failure(f"item {mail.number}", "damaged", "the mail cannot be read; repair the file with scanpst")
        return
    from relrag_pipelines.sources.mail.records import MailContext, read_mail

    content = raw_text(mail.message.properties)
    yield from read_mail(
        MailContext(content, unit.path, str(mail.number), parsed=mail_of(mail.message, content)), reading
    )


def _is_of_thunderbird(file: Path) -> bool:
    """Whether a file is a mailbox of Thunderbird, which keeps empty ones."""
    return file.parent.suffix == ".sbd" or file.with_name(f"{file.name}.msf").exists()


def _no_mail(mail: mailbox.Mail, at: str) -> Failure:
    if mail.size > mailbox.MAX_MAIL:
        why = f"{mail.size:,} bytes, more than the {mailbox.MAX_MAIL:,} that are read of one mail; take it out"
        return Failure(at, "too_large", why)
    return Failure(at, "empty", "the file has no bytes; restore it or delete it", whole_unit=False)
