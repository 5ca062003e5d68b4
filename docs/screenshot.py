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
SOFTWARE_GL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
"""draws WebGL without a graphics card"""


def main() -> None:
    """Starts the read-only UI on a free port, opens the graph, saves the picture."""
    path, port = chromium() or sys.exit("no Chromium found; install it, or name it in CHROMIUM"), free_port()
    ui = [str(Path(sys.executable).with_name("relrag")), "ui", "--port", str(port)]
    server = subprocess.Popen([*ui, "--read-only"], stderr=subprocess.DEVNULL)
    try:
        link = login(ui)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            page = browser.new_page(viewport={"width": 2000, "height": 900}, device_scale_factor=1)
            page.goto(link)
            _open_graph(page, f"http://127.0.0.1:{port}")
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


def chromium() -> str | None:
    """The Chromium that CHROMIUM names, else the first one on PATH."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def login(ui: list[str]) -> str:
    """A link that logs in to the UI which that command has started, once it is ready."""
    for _ in range(120):
        done = subprocess.run([*ui, "--login"], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.5)
    sys.exit(f"the UI did not start: {done.stderr}")


if __name__ == "__main__":
    main()
