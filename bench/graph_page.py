"""The page of the graph in headless Chromium: the time until 10,000 nodes can be pointed at, and that of a frame.

Told apart: the data (the page and the graph are there), the layout (places on the server, and what the page makes of
them), and frames, which depend on how the machine draws. Nothing is measured where there is no Chromium or playwright.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import corpus, document_sync
from bench.measurement import Figure

PERSONS, EACH = 1_000, 9
_KEY = b"b" * 32
_FRAMES = """async () => {
  const camera = drawn.renderer.getCamera(), begun = performance.now()
  for (let frame = 1; frame <= 20; frame++) {
    camera.setState({ ratio: 1 - frame / 50 })
    await new Promise(requestAnimationFrame)
  }
  return (performance.now() - begun) / 20
}"""
_MARKS = "() => ['graph data', 'graph ready'].map(name => performance.getEntriesByName(name)[0].startTime)"


def measure() -> list[Figure]:
    """The figures, of an archive of a thousand people with nine records each; none without a browser."""
    from docs.screenshot import chromium

    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    if not (path := chromium()):
        return []
    with (
        tempfile.TemporaryDirectory() as folder,
        _served(Path(folder)) as (address, link, placed),
        sync_playwright() as playwright,
    ):
        nodes, ready, data, frame = _opened(playwright, path, address, link)
    return [
        Figure(f"places of {nodes:,} nodes, found once", placed, at_most=2.0),
        Figure(f"graph page of {nodes:,} nodes: data", data / 1000),
        Figure("the same until it can be pointed at, frames apart", ready / 1000, at_most=2.0),
        Figure("a frame of it, drawn in software", frame, "ms"),
    ]


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str, float]]:
    """A server over the archive: its address, a path that logs in, and the seconds that the layout took."""
    import uvicorn

    from relrag_pipelines import settings
    from relrag_pipelines.ui.login import Login, ticket
    from relrag_query.graph.layout import layout
    from relrag_query.service import Service
    from relrag_query.web.app import create_app

    documents = corpus.documents(PERSONS * EACH)
    for number, document in enumerate(documents):
        document["from"] = f"Person{number % PERSONS} Family{number % PERSONS}"
    config = document_sync.archive(folder / "archive", documents, redacted=False)
    document_sync.sync(config)
    with Service(settings.load(config, {}), config=config) as service:
        with service.reading() as archive:
            graph = archive.full_graph(PERSONS, EACH)
        begun = time.perf_counter()
        layout(graph)
        placed = time.perf_counter() - begun
        server = uvicorn.Server(uvicorn.Config("", host="127.0.0.1", port=0, log_level="critical"))
        listening = server.config.bind_socket()
        port = listening.getsockname()[1]
        server.config.app = create_app(service, Login(_KEY), lambda: "", "127.0.0.1", port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}", f"/login?token={ticket(_KEY, 'link', 60)}", placed
        finally:
            server.should_exit = True
            thread.join()


def _opened(playwright: Any, path: str, address: str, link: str) -> tuple[int, float, float, float]:
    """Nodes, and milliseconds: until it can be pointed at, until the data is there, of a frame. The second load."""
    from docs.screenshot import FLAGS, SOFTWARE_GL

    flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
    browser = playwright.chromium.launch(executable_path=path, args=[*flags, *SOFTWARE_GL])
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto(f"{address}{link}")
    for _ in range(2):  # the first load lays the graph out, which is kept
        page.goto(f"{address}/graph?persons={PERSONS}&each={EACH}")
        page.wait_for_selector("#graph[data-drawn]", timeout=120_000)
    data, ready = page.evaluate(_MARKS)
    nodes, frame = page.evaluate("drawn.graph.order"), page.evaluate(_FRAMES)
    browser.close()
    return nodes, ready, data, frame
