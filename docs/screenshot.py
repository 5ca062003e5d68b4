"""Takes the pictures of docs/dagster.md and docs/pages.md, in headless Chromium, of copies of the demo archive.

`make screenshot` takes all, `python docs/screenshot.py pages` those of docs/pages.md alone: each page in a wide and a
narrow window, light and dark, at the time of examples/archive/answers.json and without what is of this machine.
Needs the `browser` extra and a Chromium of the system (CHROMIUM, else the first one found on PATH).
"""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).parent
ROOT = DOCS.parent
REPOSITORY = "__repository__@relrag_pipelines.definitions"
PAGES = {
    "lineage.png": (f"locations/{REPOSITORY}/asset-groups/whatsapp/lineage", "redacted"),
    "dagster-source.png": ("assets/whatsapp/redacted?view=partitions", "Partitions"),
    "dagster-checks.png": ("assets/published_generation?view=checks", "nothing_dangling"),
    "dagster-freshness.png": ("assets/published_generation?view=overview", "Freshness"),
    "dagster-timeline.png": ("overview/activity/timeline", "Timeline"),
}
"""by picture: the page, and a text on it that is waited for"""
OWNER_PAGES = {
    "first": "/",
    "answer": "/ask?q=What+did+Alex+tell+me+about+the+invoice%3F",
    "search": "/search?q=invoice",
    "person": "/person?name=Alex+Rubin",
    "archive": "/archive",
}
"""by picture: a page of `relrag serve`"""
_PICTURES = DOCS / "pages"
_SIZES = ((1280, 860), (390, 860))
_QUALITY = 80
BACKFILL = """
async ([assets, months]) => {
  const query = `mutation ($params: LaunchBackfillParams!) {
    launchPartitionBackfill(backfillParams: $params) { ... on LaunchBackfillSuccess { backfillId } } }`;
  const params = {assetSelection: assets.map(path => ({path})), partitionNames: months};
  const body = JSON.stringify({query, variables: {params}});
  const answer = await fetch("/graphql", {method: "POST", headers: {"Content-Type": "application/json"}, body});
  return (await answer.json()).data.launchPartitionBackfill.backfillId;
}
"""
_STAGES = ("redacted", "identifiers", "chunks", "embeddings", "edges")
_SETTLED_MILLISECONDS = 8_000
"""the layout settles after the last request"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOFTWARE_GL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
"""draws WebGL without a graphics card"""


def main() -> None:
    """Syncs the copy, starts its UI on a free port, and saves a picture of each page."""
    path = chromium() or sys.exit("no Chromium found; install it, or name it in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        with _demo_archive(_frozen()) as environment, _served("serve", environment) as link:
            _take_owner_pages(browser, link)
        if "pages" not in sys.argv:
            with _demo_archive({}) as environment, _served("ui", environment) as link:
                page = browser.new_page(viewport={"width": 2000, "height": 900}, device_scale_factor=1)
                page.goto(link)
                _take_pictures(page, _address(link))
        browser.close()


def _frozen() -> dict[str, str]:
    """The environment in which an archive is as at the time of the demo's answers, and its pages may change it."""
    clock = json.loads((ROOT / "examples" / "archive" / "answers.json").read_text(encoding="utf-8"))["clock"]
    return {"RELRAG_NOW": clock, "RELRAG_WEB_WRITES_ENABLED": "true"}


@contextmanager
def _served(command: str, environment: dict[str, str]) -> Iterator[str]:
    """A link that logs in to a server, after a first sync."""
    relrag = str(Path(sys.executable).with_name("relrag"))
    subprocess.run([relrag, "sync"], env=environment, stdout=subprocess.DEVNULL)
    server_command = [relrag, command, "--port", str(free_port())]
    server = subprocess.Popen(server_command, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield login(server_command, environment)
    finally:
        server.terminate()
        server.wait()


def _address(link: str) -> str:
    """The server of a link."""
    return link.partition("/login")[0]


def _take_owner_pages(browser: Browser, link: str) -> None:
    """Takes pictures of the owner's pages in each size and scheme. Text about this machine is hidden."""
    page = browser.new_page(device_scale_factor=1, locale="en-GB")
    page.goto(link)
    for (name, path), (width, height), scheme in itertools.product(OWNER_PAGES.items(), _SIZES, ("light", "dark")):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{_address(link)}{path}")
        page.wait_for_load_state("networkidle")
        picture = _PICTURES / f"{name}-{width}-{scheme}.webp"
        page.evaluate("document.querySelectorAll('[data-machine]').forEach(part => { part.hidden = true })")
        taken = Image.open(io.BytesIO(page.screenshot()))
        taken.convert("RGB").save(picture, "WEBP", quality=_QUALITY, method=6)
        print(f"wrote {picture.name}", flush=True)


@contextmanager
def _demo_archive(more: dict[str, str]) -> Iterator[dict[str, str]]:
    """The environment of a copy of the demo archive, searched by words alone, with `more` variables."""
    with tempfile.TemporaryDirectory(prefix="relrag-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples" / "archive", folder / "examples" / "archive")
        shutil.copy(ROOT / "relrag.toml", folder)
        yield {**os.environ, "RELRAG_CONFIG": str(folder / "relrag.toml"), "RELRAG_EMBEDDER": "none", **more}


def _take_pictures(page: Page, address: str) -> None:
    """Launches a backfill, and saves its page while it goes on; then the other pages."""
    page.goto(f"{address}/assets/whatsapp/redacted", timeout=90_000)
    months = [f"{year}-{month:02d}" for year in (2024, 2025) for month in range(1, 13)]
    assets = [[source, stage] for source in ("whatsapp", "mail") for stage in _STAGES]
    backfill = page.evaluate(BACKFILL, [assets, months])
    page.goto(f"{address}/runs/b/{backfill}?tab=overview", timeout=90_000)
    page.get_by_text("100% completed").first.wait_for(timeout=90_000)  # of the first assets; the others go on
    _save(page, "dagster-backfill.png")
    for picture, (path, text) in PAGES.items():
        page.goto(f"{address}/{path}", timeout=90_000)
        page.get_by_text(text).first.wait_for(timeout=90_000)
        _save(page, picture)


def _save(page: Page, picture: str) -> None:
    page.wait_for_timeout(_SETTLED_MILLISECONDS if picture != "dagster-backfill.png" else 500)
    page.screenshot(path=str(DOCS / picture))
    print(f"wrote {picture}", flush=True)


def chromium() -> str | None:
    """The Chromium that CHROMIUM names, else the first one on PATH."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def login(ui: list[str], environment: dict[str, str] | None = None) -> str:
    """A link that logs in to the UI which that command has started, once it is ready."""
    for _ in range(120):
        done = subprocess.run([*ui, "--login"], env=environment, capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.5)
    sys.exit(f"the UI did not start: {done.stderr}")


if __name__ == "__main__":
    main()
