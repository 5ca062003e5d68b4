"""Make the mails of the demo archive from originals/mail.jsonl: a mailbox as Google Takeout gives it, and saved mails.

    python examples/make_mail.py [--font DejaVuSans.ttf] [--into examples/archive]

The results are committed; run this after a text has changed, and after make_documents.py, whose PDFs are attached.
Mails of the other side of the firm in Brno and of the contract were saved one by one as .eml; all others, and one of
those once more, are in the mailbox. Message-IDs have no address in them, so that ids stay readable in the examples.
"""

from __future__ import annotations

import argparse
import html
import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import make_documents
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

HERE = Path(__file__).resolve().parent
SAVED = {"mail-pump-invoice", "mail-marie-minutes", "mail-contract-v2", "mail-alex-corrected"}
BOTH = {"mail-alex-corrected"}
INVITATIONS = {"att-first-look": "meeting-2025-01-09.ics"}
"""what is attached to a mail -> the invitation beside a meeting that it is"""
BULK = {"mail-pump-newsletter", "mail-newsletter-agile", "mail-newsletter-running", "mail-bank-authorization"}
ZONES = {"firma.cz": "Europe/Prague", "kancelarplus.example": "Europe/Prague", "svet-cerpadel.example": "Europe/Prague"}
POLICY = policy.SMTP.clone(linesep="\n", cte_type="7bit")

Item = dict[str, Any]


def items() -> list[Item]:
    """The lines of the original."""
    return [json.loads(line) for line in (HERE / "originals/mail.jsonl").read_text(encoding="utf-8").splitlines()]


def make(into: Path, font: Path = make_documents.FONT) -> None:
    """Write the mailbox and the saved mails."""
    pdfmetrics.registerFont(TTFont("DejaVu", font))
    mails = {item["id"]: item for item in items()}
    attached: dict[str, list[Item]] = {}
    for item in mails.values():
        if "parent_asset_id" in item:
            attached.setdefault(item["parent_asset_id"], []).append(item)
    (into / "mail/saved").mkdir(parents=True, exist_ok=True)
    with (into / "mail/All mail Including Spam and Trash.mbox").open("wb") as mailbox:
        for name, item in mails.items():
            if "parent_asset_id" in item:
                continue
            written = message(item, mails, [(one["file_name"], _file(into, one)) for one in attached.get(name, [])])
            if name in SAVED:
                saved = written.as_bytes(policy=POLICY).replace(b"\n", b"\r\n")
                (into / f"mail/saved/{name.removeprefix('mail-')}.eml").write_bytes(saved)
            if name not in SAVED or name in BOTH:
                mailbox.writelines(_in_mailbox(item, written))


def message(item: Item, mails: dict[str, Item], files: list[tuple[str, bytes]]) -> EmailMessage:
    """One mail with what is attached to it."""
    mail = EmailMessage(POLICY)
    mail["Message-ID"] = f"<{item['id']}>"
    mail["Date"] = format_datetime(_moment(item))
    mail["From"] = _address(item["from"])
    mail["To"] = [_address(one) for one in item["to"]]
    mail["Subject"] = item["subject"]
    before = [one["id"] for one in mails.values() if _earlier(one, item)]
    if before:
        mail["In-Reply-To"] = f"<{before[-1]}>"
        mail["References"] = " ".join(f"<{name}>" for name in before)
    if item["id"] in BULK:
        mail["List-Unsubscribe"] = f"<mailto:{parseaddr(item['from'])[1]}?subject=unsubscribe>"
        mail["Precedence"] = "bulk"
    if item["content_type"] == "text/html":
        mail.set_content(_page(item["text"]), subtype="html", cte="quoted-printable")
    else:
        mail.set_content(item["text"] + "\n", cte="quoted-printable" if not item["text"].isascii() else "7bit")
    for name, data in files:
        maintype, subtype = ("text", "calendar") if name.endswith(".ics") else ("application", "pdf")
        mail.add_attachment(data, maintype=maintype, subtype=subtype, filename=name)
    if mail.is_multipart():
        mail.set_boundary(f"=={zlib.crc32(item['id'].encode()):08x}==")
    return mail


def _earlier(one: Item, item: Item) -> bool:
    return (
        one["thread_id"] == item["thread_id"] and "parent_asset_id" not in one and one["timestamp"] < item["timestamp"]
    )


def _file(into: Path, attachment: Item) -> bytes:
    """The file that is attached: the saved one, else one made of its own original."""
    if attachment["id"] in INVITATIONS:
        return (into / "meetings" / INVITATIONS[attachment["id"]]).read_bytes()
    for path in sorted((into / "documents").rglob(attachment["file_name"])):
        return path.read_bytes()
    original = HERE / "originals/attachments" / f"{attachment['file_name']}.txt"
    return make_documents.pdf(make_documents.read(original))


def _in_mailbox(item: Item, mail: EmailMessage) -> Iterator[bytes]:
    """The mail as Google Takeout writes it: a From line, Gmail's own headers, lines that begin with From quoted."""
    moment = _moment(item)
    thread = 1_800_000_000_000_000_000 + zlib.crc32(item["thread_id"].encode())
    own = item["from"].startswith("Jonah")
    labels = "Sent" if own else "Inbox,Category updates" if item["id"] in BULK else "Inbox,Important"
    yield f"From {thread + 1}@xxx {moment:%a %b %d %H:%M:%S} +0000 {moment:%Y}\n".encode()
    yield f"X-GM-THRID: {thread}\nX-Gmail-Labels: {labels}\n".encode()
    for line in mail.as_bytes(policy=POLICY).splitlines(keepends=True):
        yield b">" + line if line.lstrip(b">").startswith(b"From ") else line
    yield b"\n"


def _moment(item: Item) -> datetime:
    domain = parseaddr(item["from"])[1].rpartition("@")[2]
    return datetime.fromisoformat(item["timestamp"]).astimezone(ZoneInfo(ZONES.get(domain, "Asia/Jerusalem")))


def _address(written: str) -> Address:
    name, address = parseaddr(written)
    return Address(name, addr_spec=address)


def _page(text: str) -> str:
    paragraphs = (html.escape(one, quote=False).replace("\n", "<br>\n") for one in text.split("\n\n"))
    return "<html><body>\n" + "\n".join(f"<p>{one}</p>" for one in paragraphs) + "\n</body></html>\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--font", type=Path, default=make_documents.FONT, help="a TrueType font with Latin letters")
    parser.add_argument("--into", type=Path, default=HERE / "archive", help="the archive's folder")
    given = parser.parse_args()
    make(given.into, given.font)


if __name__ == "__main__":
    main()
