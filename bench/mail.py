"""How fast mail is read, against the standard library's parser on the same mailbox.

The floor is `email` with `policy.default`, which finds headers decoded, addresses, date, ids, the preferred body and
the bytes of what is attached. `parsed` finds the same with this project's parser; `read` makes whole records of it:
quoted history apart, keyed ids, hashes, numbers. `python -m bench.mail` prints the figures.
"""

from __future__ import annotations

import base64
import collections
import email
import email.policy
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from bench.clock import medians
from bench.corpus import documents
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.mail import headers, mailbox, mime, read
from relrag_pipelines.sources.mail.body import body_of, name_of

MAILS = 400
RUNS = 3


def write_mailbox(file: Path, count: int = MAILS) -> None:
    """Mails of some 20 KB: text and HTML of a few paragraphs, the history below, with every other a file."""
    rng = random.Random(7)
    texts = [one["text"] for one in documents(600)]
    with file.open("wb") as out:
        for number in range(count):
            moment = datetime(2020, 1, 1, 9, tzinfo=UTC) + timedelta(hours=number)
            out.write(f"From {number}@xxx {moment:%a %b %d %H:%M:%S} +0000 {moment:%Y}\n".encode())
            out.write(_mail(rng, texts, number, moment).replace(b"\nFrom ", b"\n>From ") + b"\n\n")


def _mail(rng: random.Random, texts: list[str], number: int, moment: datetime) -> bytes:
    mail = EmailMessage()
    for hop in range(8):
        mail["Received"] = (
            f"from mx{hop}.host.example (mx{hop}.host.example [192.0.2.{hop}]) by mx{hop + 1}.host.example"
        )
    mail["DKIM-Signature"] = "v=1; a=rsa-sha256; c=relaxed/relaxed; d=host.example; b=" + "Ab0+" * 80
    mail["Message-ID"] = f"<{number}.{rng.getrandbits(64):x}@host.example>"
    mail["From"] = f"Šárka Nová {number % 50} <sarka{number % 50}@host.example>"
    mail["To"] = ", ".join(f"Dan {one} <dan{one}@host.example>" for one in range(1 + number % 4))
    mail["Subject"] = f"Re: nabídka číslo {number // 5}"
    mail["Date"] = format_datetime(moment)
    if number % 5:
        mail["References"] = " ".join(f"<{number - one}.0@host.example>" for one in range(number % 5, 0, -1))
        mail["In-Reply-To"] = f"<{number - 1}.0@host.example>"
    said, before = rng.choices(texts, k=4), rng.choices(texts, k=6)
    history = "\n".join(f"> {line}" for text in before for line in (text[:70], text[70:140], text[140:210]))
    mail.set_content("\n\n".join(said) + f"\n\nOn {moment:%a, %d %b %Y}, Dan <dan@host.example> wrote:\n{history}\n")
    page = "".join(f"<p style='margin:0;font-size:11pt'>{text}</p>" for text in said)
    quote = "".join(f"<div>{text}</div>" for text in before)
    mail.add_alternative(f"<html><body>{page}<blockquote>{quote}</blockquote></body></html>", subtype="html")
    if number % 2:
        data = base64.b64encode(rng.randbytes(6_000)) + rng.randbytes(4_000)
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=f"data {number}.bin")
    return mail.as_bytes()


def with_the_standard_library(file: Path) -> Iterator[dict[str, Any]]:
    """The floor: what mails say, by `policy.default`."""
    for data in _mails(file):
        mail = email.message_from_bytes(data, policy=email.policy.default)
        body = mail.get_body(("plain", "html"))
        yield {
            "from": [str(one) for one in mail["From"].addresses],
            "to": [str(one) for one in mail["To"].addresses],
            "subject": str(mail["Subject"]),
            "at": mail["Date"].datetime,
            "ids": [str(mail["Message-ID"]), str(mail["References"] or ""), str(mail["In-Reply-To"] or "")],
            "text": body.get_content() if body else "",
            "files": [(part.get_filename(), part.get_content()) for part in mail.iter_attachments()],
        }


def _mails(file: Path) -> Iterator[bytes]:
    first, *others = file.read_bytes().split(b"\nFrom ")
    for data in [first, *others]:
        yield data.partition(b"\n")[2].replace(b"\n>From ", b"\nFrom ")


def parsed(file: Path) -> Iterator[dict[str, Any]]:
    """What the floor finds, by this project's parser."""
    for found in mailbox.mails(file):
        mail = mime.parse(found.data)
        body, fields = body_of(mail), mail.fields
        yield {
            "from": list(map(str, headers.addresses(fields.get("from", ())))),
            "to": list(map(str, headers.addresses(fields.get("to", ())))),
            "subject": mail.get("subject"),
            "at": headers.date(mail.raw("date"), "UTC"),
            "ids": [headers.message_ids(fields.get(name, ())) for name in ("message-id", "references", "in-reply-to")],
            "text": body.text,
            "files": [(name_of(part), part.content()) for part in body.attachments],
        }


def measure(count: int = MAILS) -> dict[str, float]:
    """Mails a second of the parser, of the reader, which makes whole records, and of the floor."""
    keys = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
    reading = ReadContext("bench", "Asia/Jerusalem", keys.id_hash)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "bench.mbox")
        write_mailbox(file, count)
        unit = Unit(file.name, file, file.stat().st_size, 0)
        ours, floor = list(parsed(file)), list(with_the_standard_library(file))
        assert [one["subject"] for one in ours] == [one["subject"] for one in floor]
        assert [one["files"] for one in ours] == [one["files"] for one in floor]
        assert [one["text"].split() for one in ours] == [one["text"].split() for one in floor]
        took = medians(
            RUNS,
            parsed=lambda: _seconds(parsed(file)),
            read=lambda: _seconds(read(unit, reading)),
            floor=lambda: _seconds(with_the_standard_library(file)),
        )
    rates = {f"{name}_mails_per_s": round(count / seconds) for name, seconds in took.items()}
    return {"bytes_per_mail": round(unit.size / count)} | rates


def _seconds(items: Iterator[object]) -> float:
    begun = time.perf_counter()
    collections.deque(items, maxlen=0)
    return time.perf_counter() - begun


if __name__ == "__main__":
    for name, value in (measure()).items():
        print(f"{name:24} {value:,.2f}")
