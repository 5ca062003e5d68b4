"""Shows that the memory of reading a mailbox does not grow with it (`make mailbox`; minutes).

Mailboxes of the sizes given, in MB, are made up, each exported in a process of its own, and removed. What is measured
is the anonymous memory of that process at its height: pages of files that are mapped are the system's to take back.
"""

from __future__ import annotations

import base64
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from relrag_pipelines import settings
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.workspace import Workspace

SIZES = (400, 1200)
"""MB; below the first the records wait in memory, from there on on disk"""
MOST_GROWTH = 0.03
"""MiB of memory for each further MB of the mailbox: of each mail its id and those it names stay, for the threads"""
CONFIG = """
archive = "mailbox"
keys_file = "mailbox.keys"
[[sources]]
name = "mail"
kind = "gmail"
path = "mail"
"""
_WORDS = ("pump", "train", "cabin", "invoice", "winter", "report", "meeting", "ticket", "bread", "water", "station")


def write_mailbox(file: Path, size: int) -> int:
    """Writes a mailbox of so many bytes; returns how many mails are in it."""
    templates = list(_templates())
    written = number = 0
    with file.open("wb") as out:
        while written < size:
            moment = datetime(2015, 1, 1, tzinfo=UTC) + timedelta(minutes=10 * number)
            head = (
                f"From {number}@xxx {moment:%a %b %d %H:%M:%S} +0000 {moment:%Y}\nMessage-ID: <{number}@host.example>\n"
            )
            if number % 3:
                head += f"In-Reply-To: <{number - 1}@host.example>\n"
            head += f"Date: {moment:%d %b %Y %H:%M:%S} +0000\nSubject: letter {number}\n"
            written += out.write(head.encode() + templates[number % len(templates)])
            number += 1
    return number


def _templates() -> Iterator[bytes]:
    """Mails behind their ids and dates: short ones with history, pages, some with a file attached."""
    rng = random.Random(3)
    for number in range(100):
        head = f"From: Dana Levi <dana{number}@host.example>\nTo: Ota <ota@host.example>\nMIME-Version: 1.0\n"
        said = "\n".join(" ".join(rng.choices(_WORDS, k=11)) for _ in range(40))
        history = "\n".join("> " + " ".join(rng.choices(_WORDS, k=10)) for _ in range(60))
        plain = f"{said}\n\nOn Mon, 6 Jan 2014 at 10:00, Ota <ota@host.example> wrote:\n{history}\n"
        page = "".join(f"<p style='margin:0'>{line}</p>" for line in said.splitlines() * 4)
        body = f"--b\nContent-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n{page}\n--b--\n"
        if number % 5:
            yield f"{head}Content-Type: multipart/alternative; boundary=b\n\n{body}\n".encode()
            continue
        data = base64.encodebytes(rng.randbytes(100_000)).decode()
        yield (
            f"{head}Content-Type: multipart/mixed; boundary=m\n\n--m\n"
            f"Content-Type: multipart/alternative; boundary=b\n\n{body}\n--m\n"
            f"Content-Type: image/jpeg; name=photo{number}.jpg\nContent-Transfer-Encoding: base64\n\n"
            f"{data}\n--m--\n\n"
        ).encode()


def measure(megabytes: int) -> tuple[int, float, float]:
    """(mails, MiB of memory at its height, seconds) of exporting a mailbox of that size in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mail").mkdir()
        (Path(folder) / "relrag.toml").write_text(CONFIG)
        mails = write_mailbox(Path(folder) / "mail" / "all.mbox", megabytes * 10**6)
        begun = time.perf_counter()
        command = (sys.executable, "-m", "tests.proofs.mailbox", "--export", folder)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return mails, float(done.stdout), time.perf_counter() - begun


def _export(folder: Path) -> float:
    workspace = Workspace(settings.load(folder / "relrag.toml", {}))
    peak, ended = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.05):
            peak = max(peak, _anonymous())

    watching = threading.Thread(target=watch)
    watching.start()
    found = ingest(workspace, workspace.settings.sources[0])
    ended.set()
    watching.join()
    assert not found.failures, found.failures[:3]
    return peak / 1024


def _anonymous() -> int:
    """KiB of this process that lie in no file; only Linux tells."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def main(arguments: Sequence[str]) -> None:
    """Measures each size, in MB, and holds the growth between the first and the last against its limit."""
    if arguments[:1] == ["--export"]:
        print(_export(Path(arguments[1])))
        return
    sizes = [int(one) for one in arguments] or list(SIZES)
    peaks = []
    for size in sizes:
        mails, peak, seconds = measure(size)
        peaks.append(peak)
        print(f"{size:,} MB, {mails:,} mails: at most {peak:.0f} MiB, {seconds:.0f} s", flush=True)
    if len(sizes) > 1:
        growth = (peaks[-1] - peaks[0]) / (sizes[-1] - sizes[0])
        print(f"{growth * 1024:.0f} KiB for each further MB")
        assert growth < MOST_GROWTH, f"more than {MOST_GROWTH * 1024:.0f} KiB"


if __name__ == "__main__":
    main(sys.argv[1:])
