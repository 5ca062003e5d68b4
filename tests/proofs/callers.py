"""Shows that 1,000 asks by 32 callers are answered as one after the other are, and that memory stays (`make callers`).

The server runs as `relrag serve` runs it, in two processes. Answers are compared byte for byte, without the times that
each step took; a status of 500 or more, or a process that grows by more than a few megabytes, ends with exit code 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from bench import clock, corpus, document_sync
from docs.screenshot import free_port

ASKS, CALLERS, DIFFERENT = 1_000, 32, 100
GROWTH = 64 * 2**20
"""bytes by which a process may grow once each question was asked"""
_PAGE = 4096


class Found(NamedTuple):
    """What 32 callers got."""

    statuses: Counter[int]
    different: int
    """answers that are not what one caller got"""
    growth: int
    """bytes, of the process that grew most; 0 where that cannot be seen"""


def run(folder: Path, asks: int = ASKS, different: int = DIFFERENT) -> Found:
    """Asks each question once by one caller, then all of them by many."""
    documents = corpus.documents(1_000)
    questions = corpus.questions(documents, different)
    config = document_sync.archive(folder / "archive", documents, redacted=False)
    document_sync.sync(config)
    with _served(config) as (port, token, server):
        alone = {question: _ask(port, token, question) for question in questions}
        with ThreadPoolExecutor(CALLERS) as callers:  # each caller has been served once before memory is looked at
            list(callers.map(lambda number: _ask(port, token, questions[number % different]), range(4 * CALLERS)))
            before = _memory(server)
            asked = [questions[number * 7 % different] for number in range(asks)]
            together = list(callers.map(lambda question: _ask(port, token, question), asked))
        grown = [after - before[process] for process, after in _memory(server).items() if process in before]
    wrong = sum(got != alone[question] for question, got in zip(asked, together, strict=True))
    return Found(Counter(status for status, _ in together), wrong, max(grown, default=0))


@contextmanager
def _served(config: Path) -> Iterator[tuple[int, str, subprocess.Popen[bytes]]]:
    port = free_port()
    command = [clock.RELRAG, "serve", "--config", str(config), "--port", str(port)]
    token = subprocess.run([*command, "--token"], capture_output=True, text=True, check=True).stdout.strip()
    server = subprocess.Popen([*command, "--processes", "2"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                _ask(port, token, "a")
                break
            except OSError:
                time.sleep(0.1)
        yield port, token, server
    finally:
        server.terminate()
        server.wait()


def _ask(port: int, token: str, question: str) -> tuple[int, bytes]:
    """Status and answer, as bytes, without what each step took."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", port, timeout=300)) as connection:
        connection.request("POST", "/api/v1/ask", json.dumps({"question": question}), headers)
        answer = connection.getresponse()
        said = answer.read()
    if answer.status == 200:
        said = json.dumps({name: value for name, value in json.loads(said).items() if name != "trace"}).encode()
    return answer.status, said


def _memory(server: subprocess.Popen[bytes]) -> dict[int, int]:
    """Resident bytes of each process that answers; nothing where there is no /proc."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    found: Sequence[str] = children.read_text().split() if children.exists() else []
    return {int(one): int(Path(f"/proc/{one}/statm").read_text().split()[1]) * _PAGE for one in found}


def main() -> None:
    """Prints what was seen."""
    asks = int(sys.argv[1]) if len(sys.argv) > 1 else ASKS
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), asks)
    print(
        f"{asks} asks by {CALLERS} callers: {dict(found.statuses)}; {found.different} differ from those of one caller"
    )
    print(f"the process that grew most: {found.growth / 2**20:.1f} MB")
    sys.exit(set(found.statuses) != {200} or found.different > 0 or found.growth > GROWTH)


if __name__ == "__main__":
    main()
