"""Mutated mails, by the thousand: nothing crashes, hangs, or grows without bounds; `make fuzz` runs 100,000.

Every mutation is a file of its own. It has to give a mail or a failure; none may take five seconds, nor hit a fault of
the reader's own (`unreadable`). A mutation that does is told by its number, which makes it again.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.mail import read
from relrag_pipelines.sources.mail.unicode_files import plain_bytes
from tests.sources.mail.outlook.outlook_files import compound, message, packed_rtf, windows_time

SECONDS = 5.0
MEBIBYTES = 1024
NOT_MAIL = ("SOURCE.md", "LICENSE.txt", "MIT-LICENSE", "expected.tsv")
WORDS = (
    *(
        b"--",
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\n\n",
        b"=",
        b'"',
        b"(",
        b"<",
        b">",
        b";",
        b":",
        b"\xff",
        b"\x1b$B",
        b"=?",
    ),
    *(b"?=", b"=?utf-8?b?", b"=?x?q?", b"From ", b"\n>From ", b"Content-Type: multipart/mixed; boundary=x\n\n--x\n"),
    *(b"Content-Type: message/rfc822\n\n", b"Content-Transfer-Encoding: base64\n", b"charset=utf-7", b"charset=rot13"),
    *(b"filename*0*=x''%ff;", b"\nBEGIN:VCALENDAR\nBEGIN:VEVENT\n", b"-----Original Message-----\n", b"<table><td>"),
    *(b"&#x110000;", b"\xed\xa0\x80", b" " * 300, b"a" * 5000, b"(" * 300, b"<" * 300, b'\\"' * 200, b"\t \t" * 100),
)


def mutated(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """The mail after one to eight random changes."""
    for _ in range(rng.randint(1, 8)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + int(rng.paretovariate(0.6)))
        changes: tuple[Callable[[], bytes], ...] = (
            lambda: data[:start] + rng.choice(WORDS) + data[start:],  # noqa: B023  called at once
            lambda: data[:start] + data[end:],  # noqa: B023
            lambda: data[:start] + rng.randbytes(end - start) + data[end:],  # noqa: B023
            lambda: data[:end] + data[start:end] * rng.randint(1, 20) + data[end:],  # noqa: B023
            lambda: data[:start] + _piece(rng.choice(others), rng) + data[end:],  # noqa: B023
            lambda: data[:start],  # noqa: B023
            lambda: data.replace(b"\r\n", b"\n") if rng.random() < 0.5 else data.replace(b"\n", b"\r\n"),  # noqa: B023
        )
        data = rng.choice(changes)()[: 2**20]
    return data


def _piece(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[start : start + rng.randint(0, 2000)]


def fuzz(samples: Sequence[bytes], count: int, seed: int = 0) -> Counter[str]:
    """Reads so many mutations; how often each outcome came. AssertionError names the mutation that breaks a promise."""
    keys = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
    reading = ReadContext("fuzz", "UTC", keys.id_hash)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            data = mutated(rng.choice(samples), rng, samples)
            file = Path(folder, "mail.eml" if number % 4 else "mail.mbox")
            file.write_bytes(data)
            begun = time.process_time()  # a busy machine is no fault of the reader
            found = list(read(Unit(file.name, file, len(data), 0), reading))
            assert time.process_time() - begun < SECONDS, f"mutation {number} of seed {seed} takes too long"
            faults = [one.fault for one in found if isinstance(one, Failure)]
            mails = sum(isinstance(one, Record) and one.rag_source_type == "email" for one in found)
            assert "unreadable" not in faults, f"mutation {number} of seed {seed}: {found}"
            assert mails or faults or not plain_bytes(data).strip(), f"mutation {number} of seed {seed} vanishes"
            outcomes.update(["read" if mails else "failed", *faults])
    return outcomes


def samples_in(folder: Path) -> list[bytes]:
    """The mails below a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in NOT_MAIL]
    return [path.read_bytes() for path in files]


def saved() -> list[bytes]:
    """Mails as Outlook saves them: headers, HTML, rich text, a message and files attached."""
    rich = packed_rtf(rb"{\rtf1\ansi\ansicpg1255\fromhtml1{\*\htmltag64 <p>}\'f9\'ec\'e5\'ed{\*\htmltag72 </p>}}")
    inner = message(
        {0x0037: "inner", 0x1009: rich}, attachments=[{0x3707: "b.txt", 0x3705: 1, 0x3701: b"x"}], top=False
    )
    attached = [{0x3707: "a.csv", 0x3705: 1, 0x3701: b"a,b\n" * 1500}, {0x3001: "inner", 0x3705: 5, 0x3701: inner}]
    head = "From: a@b.example\nMessage-ID: <a@b>\nReferences: <c@d>\n\n"
    told = {0x0037: "s", 0x007D: head, 0x1013: b"<p>page</p>", 0x3FDE: 1255, 0x0039: windows_time(1736928720)}
    return [compound(message(told, recipients=[{0x3001: "Ota", 0x39FE: "o@b.example"}], attachments=attached))]


def main(arguments: Sequence[str]) -> None:
    """Mutates the mails below a folder, so many times."""
    folder, count = Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 100_000
    begun = time.perf_counter()
    outcomes = fuzz([*samples_in(folder), *saved()], count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{count:,} mutations in {time.perf_counter() - begun:.0f} s, at most {peak} MiB: {dict(outcomes)}")
    assert peak < MEBIBYTES, f"{peak} MiB is more than {MEBIBYTES}"


if __name__ == "__main__":
    main(sys.argv[1:])
