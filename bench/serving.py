"""The server against the service that it serves: a search through HTTP, several clients, streams, pages, the graph."""

from __future__ import annotations

import gzip
import json
import os
import re
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from bench import clock, corpus, document_sync
from bench.measurement import Figure

if TYPE_CHECKING:
    from relrag_query.service import Service

PERSONS, EACH = 100, 30
_ASKED, _CLIENTS = 120, 8
_PORT = 3955
_PAGES = ("/", "/search?q={q}", "/ask?q={q}", "/people", "/person?name=1", "/archive", "/record?ref=jsonl:notes:long")
_LONG = 500
"""documents that a long record is made of"""
_BETWEEN = 0.3
"""seconds before each piece of a streamed answer"""


def measure() -> list[Figure]:
    """The figures, of an archive of some thousand records of a hundred people."""
    from relrag_pipelines import settings
    from relrag_query.service import Service

    documents = corpus.documents(PERSONS * EACH)
    for number, document in enumerate(documents):
        document["from"] = f"Person{number % PERSONS} Family{number % PERSONS}"
    questions = corpus.questions(documents, _ASKED)
    documents.append(documents[0] | {"id": "long", "text": "\n".join(one["text"] for one in documents[:_LONG])})
    with tempfile.TemporaryDirectory() as place:
        config = document_sync.archive(Path(place) / "archive", documents, redacted=False)
        document_sync.sync(config)
        _LOCAL.connection = None
        streamed = _first_pieces(config, questions[:10])
        _LOCAL.connection = None
        with Service(settings.load(config, {}), config=config) as service, _served(config) as token:
            alone, through = _by_turns(service.search, lambda question: _search(question, token), questions)
            with service.reading() as archive:
                graph = _middle([lambda: archive.full_graph(PERSONS, 10)] * 5)
            one, many = (_rate(questions, token, clients) for clients in (1, _CLIENTS))
            largest = max(_compressed(page.format(q=questions[0].replace(" ", "+")), config) for page in _PAGES)
    return [
        Figure("search through HTTP, p50", through, "ms", alone, "the same call in Python", at_most=1.3),
        Figure(f"searches of {_CLIENTS} clients, 2 processes", many, "searches/s", one, "one client", at_least=1.5),
        Figure("first piece of an answer that a model writes, beyond its time in Python", streamed, "ms",
               at_most=100.0),
        Figure("largest page with its files, compressed", largest / 1000, "kB", at_most=60.0),
        Figure(f"graph data of {PERSONS} people with 10 records each", graph, "ms", at_most=100.0),
    ]  # fmt: skip


def _middle(calls: Sequence[Callable[[], Any]]) -> float:
    """Milliseconds of a call, the median; the first of them are made before the clock starts."""
    for call in calls[:5]:
        call()
    return 1000 * statistics.median(_seconds(call) for call in calls)


def _by_turns(
    one: Callable[[str], object], other: Callable[[str], object], questions: Sequence[str]
) -> tuple[float, float]:
    """Milliseconds of each of two calls, the medians; they are made by turns, so that a busy machine slows both."""
    for question in questions[:5]:
        one(question)
        other(question)
    times = [(_seconds(partial(one, question)), _seconds(partial(other, question))) for question in questions]
    first, second = (1000 * statistics.median(column) for column in zip(*times, strict=True))
    return first, second


def _seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


@contextmanager
def _served(config: Path) -> Iterator[str]:
    command = [clock.RELRAG, "serve", "--config", str(config), "--port", str(_PORT)]
    token = subprocess.run([*command, "--token"], capture_output=True, text=True, check=True).stdout.strip()
    server = subprocess.Popen([*command, "--processes", str(os.cpu_count() or 1)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                _search("a", token)
                break
            except OSError:
                time.sleep(0.1)
        yield token
    finally:
        server.terminate()
        server.wait()


_LOCAL = threading.local()


def _connection() -> HTTPConnection:
    found = getattr(_LOCAL, "connection", None)
    if found is None:
        found = _LOCAL.connection = HTTPConnection("127.0.0.1", _PORT, timeout=60)
    return found


def _asked(path: str, body: dict[str, Any], token: str, accept: str = "application/json") -> HTTPConnection:
    connection = _connection()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": accept}
    try:
        connection.request("POST", path, json.dumps(body), headers)
    except OSError:
        _LOCAL.connection = None
        raise
    return connection


def _search(question: str, token: str) -> None:
    answer = _asked("/api/v1/search", {"query": question}, token).getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(f"a search was answered with {answer.status}")


def _rate(questions: Sequence[str], token: str, clients: int) -> float:
    """Searches a second of so many clients, each with a connection of its own."""

    def client() -> None:
        for question in questions:
            _search(question, token)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return clients * len(questions) / (time.perf_counter() - begun)


def _first_pieces(config: Path, questions: Sequence[str]) -> float:
    """Milliseconds by which the first piece that a model writes comes later through HTTP than in Python, the median.

    The model is a server of ours that writes slowly: a stream that is held back comes later by all its pieces.
    """
    from relrag_pipelines import settings
    from relrag_query.service import Service
    from tests.answering import chat_service

    with chat_service.serve() as chat:
        chat.reply, chat.seconds = _quote_first, _BETWEEN
        named = {"RELRAG_ANSWERER": "openai", "RELRAG_ANSWER_URL": f"{chat.url}/v1", "OPENAI_API_KEY": "none"}
        with (
            patch.dict(os.environ, named),
            Service(settings.load(config), config=config) as service,
            _served(config) as token,
        ):
            _first_byte(questions[0], token)
            times = [(_first_piece(service, one), _first_byte(one, token)) for one in questions]
    return statistics.median(through - alone for alone, through in times)


def _quote_first(body: dict[str, Any]) -> list[str]:
    """A model's reply: two statements, both with a quote from the first passage of the request."""
    line = re.findall(r'<passage number="1".*>\n(.*)', body["messages"][1]["content"])[0]
    quotes = [" ".join(line.split()[:count]) for count in (5, 4)]
    statements = [json.dumps({"passage": 1, "quote": quote, "text": quote}) for quote in quotes]
    return ['{"answerable": true, "statements": [', f"{statements[0]}, {{", f"}}, {statements[1]}", "]}"]


def _first_piece(service: Service, question: str) -> float:
    """Milliseconds until the first piece of an answer in this process."""
    begun, found = time.perf_counter(), list[float]()
    service.ask(question, on_text=lambda _: found.append(time.perf_counter() - begun))
    return 1000 * found[0]


def _first_byte(question: str, token: str) -> float:
    """Milliseconds until the first piece of an answer, or the answer, begins to arrive."""
    begun = time.perf_counter()
    answer = _asked("/api/v1/ask", {"question": question}, token, "text/event-stream").getresponse()
    found = 0.0
    for line in answer:
        if not found and re.match(rb"event: (piece|answer)", line):
            found = time.perf_counter() - begun
    return 1000 * found


def _compressed(path: str, config: Path) -> int:
    """Bytes of a page and of the files that it names, each compressed."""
    from tests.web_app import COOKIE, client

    with client(config) as opened:
        page = opened.get(path, headers=COOKIE)
        files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text))
        texts = [page.text, *(opened.get(one, headers=COOKIE).text for one in sorted(files))]
    return sum(len(gzip.compress(text.encode())) for text in texts)
