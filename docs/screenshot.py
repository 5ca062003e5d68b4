"""Takes docs/lineage.png: the lineage graph of the archive in charge, in headless Chromium (`make screenshot`).

Needs the `browser` extra and a Chromium of the system (CHROMIUM, else the first one found on PATH).
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURE = Path(__file__).with_name("lineage.png")
REPOSITORY = "__repository__@relrag_pipelines.definitions"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def main() -> None:
    """Starts the read-only UI on a free port, opens the graph, saves the picture."""
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if not chromium:
        sys.exit("no Chromium found; install it, or name it in CHROMIUM")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    relrag = str(Path(sys.executable).with_name("relrag"))
    server = subprocess.Popen([relrag, "ui", "--read-only", "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport={"width": 2000, "height": 900}, device_scale_factor=1)
            _open_graph(page, address)
            page.screenshot(path=str(PICTURE))
            browser.close()
    finally:
        server.terminate()
        server.wait()
    print(f"wrote {PICTURE.name}")


def _open_graph(page: Page, address: str) -> None:
    """Opens the lineage of one source, from its files to what is published."""
    page.goto(f"{address}/locations/{REPOSITORY}/asset-groups/whatsapp/lineage", timeout=90_000)
    page.get_by_text("redacted", exact=True).first.wait_for(timeout=90_000)
    page.wait_for_timeout(6_000)  # the layout settles after the last request


def _wait(address: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/server_info", timeout=1).close()  # noqa: S310  our own server
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    sys.exit("the UI did not start")


if __name__ == "__main__":
    main()
