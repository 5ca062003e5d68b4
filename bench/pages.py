"""The owner's pages over HTTP, as a browser asks for them: how long they take, and how far behind progress is."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from bench import clock, corpus, document_sync
from bench.measurement import Figure

if TYPE_CHECKING:
    from relrag_query.service import Service

_DOCUMENTS, _MORE, _QUESTIONS, _TURNS = 3_000, 6_000, 15, 15
_PORT = 3956
_POLL_SECONDS = 0.6
"""how often a page asks for progress, as static/owner.js does"""
_MAX_SYNC_SECONDS = 300.0
_STEP = re.compile(r'<tr><th scope="row"><bdi>(.*?)</bdi></th>')


def measure() -> list[Figure]:
    """The figures, of an archive of some thousand records."""
    from relrag_pipelines import settings
    from relrag_query.service import Service

    documents = corpus.documents(_DOCUMENTS + _MORE)
    questions = corpus.questions(documents[:_DOCUMENTS], _QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        config = document_sync.archive(Path(folder) / "archive", documents[:_DOCUMENTS], redacted=False)
        config.write_text(f"web_writes_enabled = true\n{config.read_text()}")
        document_sync.sync(config)
        with served(config, _PORT) as browser:
            figures = timed_pages(browser, "notes", f"{_DOCUMENTS:,} records")
            with Service(settings.load(config, {}), config=config) as service:
                behind = [_first_byte(browser, question) - _alone(service, question) for question in questions]
            corpus.write(config.with_name("notes.jsonl"), documents)
            lag = _lag(browser, config.parent / ".relrag")
    return [
        *figures,
        Figure("first byte of an answer on its page, beyond its time in Python", statistics.median(behind), "ms",
               at_most=100.0),
        Figure("a step of a sync on the page, after it began", lag, "s", at_most=1.0),
    ]  # fmt: skip


class Browser:
    """A logged-in owner at one server, on one connection."""

    def __init__(self, port: int, link: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        parts = urlsplit(link)
        answer = self._answer("GET", f"{parts.path}?{parts.query}", {})
        self._cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
        answer.read()

    def read(self, path: str) -> str:
        """A page. Raises RuntimeError for any other status than 200."""
        answer = self._answer("GET", path, {"Cookie": self._cookie})
        text = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}")
        return text

    def first_event(self, path: str) -> float:
        """Seconds until the first piece of an answer, or the answer, begins to arrive; the rest is read too."""
        begun, seconds = time.perf_counter(), 0.0
        for line in self._answer("GET", path, {"Cookie": self._cookie}):
            if not seconds and line.startswith((b"event: piece", b"event: answer")):
                seconds = time.perf_counter() - begun
        return seconds

    def operate(self, name: str) -> None:
        """Sends an operation without fields. Raises RuntimeError where it is refused."""
        headers = {"Cookie": self._cookie, "Content-Type": "application/json"}
        answer = self._answer("POST", f"/owner/{name}", headers, json.dumps({}))
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{name} was answered with {answer.status}")

    def _answer(self, method: str, path: str, headers: dict[str, str], body: str | None = None) -> HTTPResponse:
        self._connection.request(method, path, body, headers)
        return self._connection.getresponse()


@contextmanager
def served(config: Path, port: int) -> Iterator[Browser]:
    """A browser at a server of its own for that archive."""
    command = [clock.RELRAG, "serve", "--config", str(config), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield Browser(port, _login_link(command))
    finally:
        server.terminate()
        server.wait()


def _login_link(command: list[str]) -> str:
    for _ in range(300):
        done = subprocess.run([*command, "--login"], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start: {done.stderr}")


def timed_pages(browser: Browser, source: str, size: str) -> list[Figure]:
    """The first page, that of the archive and a list of records, whole; medians."""
    pages = {"first page": ("/", 100.0), "archive page": ("/archive", 200.0)}
    pages["list of a source"] = (f"/search?{urlencode({'source': source})}", 200.0)
    return [
        Figure(f"{name} through HTTP, {size}", 1000 * _median(browser, path), "ms", at_most=most)
        for name, (path, most) in pages.items()
    ]


def _median(browser: Browser, path: str) -> float:
    """The median time of a page in seconds. The first two requests fill caches and do not count."""
    times = []
    for _ in range(_TURNS + 2):
        begun = time.perf_counter()
        browser.read(path)
        times.append(time.perf_counter() - begun)
    return statistics.median(times[2:])


def _first_byte(browser: Browser, question: str) -> float:
    """Milliseconds until an answer begins to arrive as a stream."""
    return 1000 * browser.first_event(f"/ask/stream?{urlencode({'q': question})}")


def _alone(service: Service, question: str) -> float:
    """Milliseconds of the same answer in this process."""
    begun = time.perf_counter()
    service.ask(question)
    return 1000 * (time.perf_counter() - begun)


def _lag(browser: Browser, home: Path) -> float:
    """Seconds from the beginning of a step of a sync until the page shows it, the longest."""
    from relrag_pipelines.stores import progress_file

    seen: dict[str, float] = {}
    began: dict[str, float] = {}
    browser.operate("sync")
    until = time.monotonic() + _MAX_SYNC_SECONDS
    while time.monotonic() < until:
        page = browser.read("/archive/activity")
        for name in _STEP.findall(page):
            seen.setdefault(name, time.time())
        if progress := progress_file.load(home):
            began |= {step.name: step.started_at for step in progress.steps}
        if 'data-running="no"' in page:
            break
        time.sleep(_POLL_SECONDS)
    lags = [seen[name] - began[name] for name in seen.keys() & began.keys()]
    if not lags:
        raise RuntimeError("the page showed no step of the sync")
    return max(lags)
