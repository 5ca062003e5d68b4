"""Shows in a real Chromium that the UI works behind its login, and for no other site (`make proofs-ui`; a minute).

A month is made by the UI's own buttons and its end is seen live; a hostile page on another port of this machine, and
one under a foreign name, try everything that starts a run. Skipped where there is no Chromium.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, BrowserContext, Page, Response, sync_playwright

from docs.screenshot import FLAGS, chromium, free_port, login
from relrag_pipelines.orchestration.runner import instance
from tests import archive
from tests.processes import wait

FOREIGN = "evil.example"
MUTATION = """mutation { launchPartitionBackfill(backfillParams: {partitionNames: ["2024-01", "2024-02"],
  assetSelection: [{path: ["chat", "redacted"]}, {path: ["chat", "identifiers"]}]}) { __typename } }"""
OWN = """query => fetch('/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'},
  body: JSON.stringify({query})}).then(answer => answer.json())"""
ATTEMPTS = """async ([address, query]) => {
  const url = `${address}/graphql`, asked = `${url}?query=${encodeURIComponent(query)}`, body = JSON.stringify({query})
  const send = (to, options) => fetch(to, {credentials: 'include', ...options}).then(r => r.type, () => 'refused')
  const post = type => ({method: 'POST', mode: 'no-cors', headers: {'Content-Type': type}, body})
  const came = element => new Promise(done => {
    element.onload = () => done('came'); element.onerror = () => done('refused'); document.body.append(element)
    setTimeout(() => done('refused'), 3000)
  })
  const image = document.createElement('img'), script = document.createElement('script')
  image.src = asked; script.src = asked
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-ws')
  const opened = new Promise(done => { socket.onopen = () => done('open'); socket.onerror = () => done('refused') })
  return {
    'GET': await send(asked, {mode: 'no-cors'}), 'GET with CORS': await send(asked, {}),
    'POST of text': await send(asked, post('text/plain')),
    'POST of text that looks like JSON': await send(url, post('text/plain; application/json')),
    'POST of a form': await send(asked, post('application/x-www-form-urlencoded')),
    'POST of JSON': await send(url, {method: 'POST', headers: {'Content-Type': 'application/json'}, body}),
    'image': await came(image), 'script': await came(script),
    'WebSocket': await opened,
  }
}"""
FORM = """([action, type]) => {
  const form = Object.assign(document.createElement('form'), {method: 'POST', action, enctype: type})
  document.body.append(form); form.submit()
}"""
FRAME = "to => document.body.append(Object.assign(document.createElement('iframe'), {src: to}))"


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    path = chromium()
    if not path:
        print("skipped: no Chromium found; install it, or name it in CHROMIUM")
        return
    relrag = str(Path(sys.executable).with_name("relrag"))
    with tempfile.TemporaryDirectory() as folder, hostile() as other:
        config, port = archive.make(Path(folder), 'first_month = "2023-12"'), free_port()
        home = archive.workspace(config).home
        subprocess.run([relrag, "sync", "--config", str(config)], check=True, capture_output=True)
        ui = [relrag, "ui", "--config", str(config), "--port", str(port)]
        server = subprocess.Popen(ui)
        try:
            link = login(ui)
            with sync_playwright() as playwright:
                flags = [*FLAGS, f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1"]
                browser = playwright.chromium.launch(executable_path=path, args=flags)
                works(browser, link, f"http://127.0.0.1:{port}", home, other)
                browser.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def works(browser: Browser, link: str, address: str, home: Path, other: int) -> None:
    """All of it, in one browser that is logged in."""
    stranger = browser.new_context().new_page()
    answer = stranger.goto(address)
    assert answer
    assert answer.status == 401, answer.status
    assert "relrag ui --login" in stranger.inner_text("body")
    context = browser.new_context(viewport={"width": 1600, "height": 900})
    page = context.new_page()
    answer = page.goto(link)
    assert answer
    assert (answer.status, page.url) == (200, f"{address}/"), (answer.status, page.url)
    page.get_by_text("Overview", exact=True).first.wait_for(timeout=60_000)
    print("seen: the link logs in, and leaves no token in the address")
    answer = stranger.goto(link)
    assert answer
    assert answer.status == 401, answer.status
    print("seen: it does so once")
    lineage(page, address)
    launched(page, address, home)
    asked = page.evaluate(OWN, MUTATION)
    assert asked["data"]["launchPartitionBackfill"]["__typename"] == "LaunchBackfillSuccess", asked
    wait("a query of our own launches a backfill", lambda: backfills(home) == 1)
    for site in (f"http://127.0.0.1:{other}", f"http://{FOREIGN}:{other}"):
        attacked(context, site, address)
    renamed = context.new_page().goto(f"{address.replace('127.0.0.1', FOREIGN)}/graphql?query={quote(MUTATION)}")
    assert renamed
    assert renamed.status == 403, renamed.status
    assert backfills(home) == 1
    print("seen: nothing of that launched anything, nor did the UI under another name")


def lineage(page: Page, address: str) -> None:
    """The graph of a source is drawn; UI_PICTURE names a file for a picture of it."""
    group = "locations/__repository__@relrag_pipelines.definitions/asset-groups/chat/lineage"
    page.goto(f"{address}/{group}")
    for name in ("export", "redacted", "chunks", "embeddings"):
        page.get_by_text(name, exact=True).first.wait_for(timeout=60_000)
    if picture := os.environ.get("UI_PICTURE"):
        page.wait_for_timeout(3000)  # the layout settles after the last request
        page.screenshot(path=picture)
    print("seen: the lineage of a source")


def launched(page: Page, address: str, home: Path) -> None:
    """A month is made by the buttons of the UI, and its page says so when it is done, without being loaded again."""
    frames: list[str | bytes] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.goto(f"{address}/assets/chat/redacted?view=partitions&partition=2024-01")
    page.get_by_role("button", name="Materialize").first.click(timeout=60_000)
    page.get_by_role("button", name="Launch 1 run").click(timeout=60_000)
    wait("a month was launched by the buttons of the UI", lambda: bool(runs(home)))
    (run,) = runs(home)
    page.goto(f"{address}/runs/{run}")
    frames.clear()
    page.get_by_text("Success", exact=True).first.wait_for(timeout=120_000)
    assert any("pipelineRunLogs" in str(frame) for frame in frames), "nothing came over the WebSocket"
    print(f"seen: its run succeeded; its page was told live ({len(frames)} messages over the WebSocket)")


def attacked(context: BrowserContext, site: str, address: str) -> None:
    """Nothing that a page of another site can send is answered with 2xx, and nothing is shown in a frame."""
    page = context.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer) if answer.url.startswith(address) else None)
    page.goto(site)
    seen = page.evaluate(ATTEMPTS, [address, MUTATION])
    # an opaque answer has a status, which is below; the page is not told what it is
    assert {name for name, result in seen.items() if result not in ("opaque", "refused")} == set(), seen
    page.evaluate(FRAME, address)
    page.wait_for_timeout(2000)
    framed = page.frames[1]
    assert not framed.url.startswith(address), framed.url
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        page.goto(site)
        with page.expect_navigation():
            page.evaluate(FORM, [f"{address}/graphql?query={quote(MUTATION)}", kind])
    page.goto(site)
    with page.expect_navigation():
        page.evaluate("to => { location = to }", f"{address}/graphql?query={quote(MUTATION)}")
    assert "You come from elsewhere" in page.inner_text("body")
    statuses = [answer.status for answer in answers]
    assert len(statuses) >= 5, statuses
    assert set(statuses) <= {403}, [(answer.status, answer.request.method, answer.url) for answer in answers]
    # one click that is the owner's own leads on
    page.get_by_text("Continue to the UI").click()
    page.get_by_text("Overview", exact=True).first.wait_for(timeout=60_000)
    print(f"seen: {site} was refused {len(statuses)} times: {json.dumps(seen)}, a frame, forms, a link")
    page.close()


def runs(home: Path) -> list[str]:
    """Ids of the runs that the UI launched."""
    with instance(home) as shared:
        return [run.run_id for run in shared.get_runs() if "dagster/partition" in run.tags]


def backfills(home: Path) -> int:
    """How many there are."""
    with instance(home) as shared:
        return len(shared.get_backfills())


@contextmanager
def hostile() -> Iterator[int]:
    """The port of a web server that is not ours."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            with suppress(BrokenPipeError):  # a page that was left before it came
                self.wfile.write(b"<!doctype html><title>hostile</title><body>")

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


if __name__ == "__main__":
    main()
