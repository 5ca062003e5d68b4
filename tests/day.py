"""What an owner does in a day, as processes: sync, ask, pages, the UI with its daemon, forget.

`python -m tests.day CONFIG` spends it on the archive of that relrag.toml; with `--runs` the UI's sensors also have a
change made and published, by processes that they launch.
"""

from __future__ import annotations

import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

from relrag_pipelines.stores import generations
from tests import archive
from tests.processes import wait

PAGES = (
    "/", "/ask?q=Who+has+the+key+of+the+cabin", "/ask/stream?q=Who+has+the+key", "/search?q=key", "/people",
    "/person?name=Dana+Levi", "/record?ref=jsonl:notes:n1", "/thread?id=thanks", "/graph", "/graphrag", "/archive",
    "/api/v1/graph", "/api/v1/openapi.json", "/static/graph.js", "/static/relrag.css",
)  # fmt: skip
_RELRAG = str(Path(sys.executable).with_name("relrag"))


def main() -> None:
    """Spends the day; ends with what failed."""
    config, runs = Path(sys.argv[1]), "--runs" in sys.argv
    relrag("sync", config=config)
    relrag("ask", "Who has the key of the cabin?", config=config)
    look_at_pages(config)
    look_at_ui(config, runs=runs)
    relrag("forget", "--before", "2024-01", "--yes", config=config)


def look_at_pages(config: Path) -> None:
    """Starts the server of pages and opens one of each kind; ends with the first that is not there."""
    port = free_port()
    serve = [_RELRAG, "serve", "--port", str(port), "--config", str(config)]
    server = subprocess.Popen(serve)
    try:
        wait("the server of pages answers", lambda: page(f"http://127.0.0.1:{port}/health") == "ok\n")
        link = subprocess.run([*serve, "--login"], capture_output=True, text=True, check=True).stdout.strip()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        browser.open(link, timeout=60).close()
        for path in PAGES:
            with browser.open(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
                answer.read()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def look_at_ui(config: Path, *, runs: bool) -> None:
    """Starts web server and daemon and waits until both, and the code location that they load, have done something."""
    home, port = archive.home(config.parent), free_port()
    before = generations.current_number(home) or 0
    if runs:
        with (config.parent / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as chat:
            chat.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
    ui = [_RELRAG, "ui", "--port", str(port), "--config", str(config)]
    server = subprocess.Popen(ui)
    try:
        wait("the web server answers", lambda: bool(page(f"http://127.0.0.1:{port}/server_info")))
        link = subprocess.run([*ui, "--login"], capture_output=True, text=True, check=True).stdout.strip()
        if '"telemetryEnabled": false' not in page(link):
            sys.exit("the UI would load a script that reports its use")
        wait("the daemon has asked a sensor", lambda: ticks(home) > 0)
        if runs:
            wait("the sensors have published", lambda: (generations.current_number(home) or 0) > before)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def relrag(*arguments: str, config: Path) -> None:
    """Runs a command to its end."""
    done = subprocess.run([_RELRAG, *arguments, "--config", str(config)])
    if done.returncode:
        sys.exit(f"relrag {arguments[0]} ended with {done.returncode}")


def free_port() -> int:
    """A port of this machine that nobody has."""
    with socket.socket() as any_socket:
        any_socket.bind(("127.0.0.1", 0))
        return int(any_socket.getsockname()[1])


def page(url: str) -> str:
    """What is served there, also where a link logs in and leads on; empty while nothing is."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    try:
        with browser.open(url, timeout=30) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def ticks(home: Path) -> int:
    """How often sensors were asked, which the daemon does through the code location."""
    place = home / "dagster" / "schedules" / "schedules.db"
    if not place.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT count(*) FROM job_ticks WHERE status != 'STARTED'").fetchone()[0])
    except sqlite3.Error:  # being made
        return 0


if __name__ == "__main__":
    main()
