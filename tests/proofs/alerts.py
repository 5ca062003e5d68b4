"""Shows that Apprise tells a webhook of a failed run and of a daemon that ended (`make proofs`; a minute).

The real Apprise, web server and daemon; the webhook is a server of this program, which also refuses to embed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests import archive
from tests.proofs.dagster_ui import DagsterUI
from tests.proofs.seen import Seen

PORT = 3881
_PRIVATE = ("Dana", "Petr", "boiler", "cabin", "plumber", "052-123", "Lease")
"""words of the archive's texts"""


class Webhook(BaseHTTPRequestHandler):
    """Takes what is sent to /alert, and refuses everything else as a service does that does not know the key."""

    taken: list[dict[str, Any]] = []  # noqa: RUF012  shared by all requests

    def do_POST(self) -> None:
        """As http.server calls it."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_alert = self.path.startswith("/alert")
        if is_alert:
            self.taken.append(json.loads(body))
        self.send_response(200 if is_alert else 401)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def main() -> None:
    """Runs the proof in a temporary folder, with Apprise from the folder that the command line names."""
    apprise = Path(sys.argv[1]).resolve()
    folder, seen = Path(tempfile.mkdtemp()), Seen("Alerts by Apprise")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    config = archive.make(folder, f'embedder = "openai"\nembedding_url = "http://{address}/v1"\nsensor_seconds = 10')
    environment = {
        "PYTHONPATH": os.pathsep.join((str(apprise), os.environ.get("PYTHONPATH", ""))),
        "RELRAG_ALERT_URLS": json.dumps([f"json://{address}/alert"]),
        "OPENAI_API_KEY": "no-key",
    }
    ui = DagsterUI(config, archive.home(folder), PORT, **environment)
    try:
        seen.wait("a run that failed, by the sensor failed_runs", lambda: bool(titles("failed")))
        os.kill(daemon(ui.process.pid), signal.SIGKILL)
        seen.wait("a daemon that ended, by relrag ui", lambda: bool(titles("the daemon stopped")), at_most=60)
        assert ui.process.wait(timeout=60) != 0
        leaks = [word for word in _PRIVATE if word in json.dumps(Webhook.taken)]
        assert not leaks, leaks
        seen.note("words of the archive in what was sent", "none")
        seen.measure("alerts", len(Webhook.taken), "alerts")
        seen.print()
    finally:
        server.shutdown()
        ui.stop()
        shutil.rmtree(folder)


def titles(words: str) -> list[str]:
    """The titles of alerts that hold these words."""
    return [alert["title"] for alert in Webhook.taken if words in alert["title"]]


def daemon(parent: int) -> int:
    """The process of Dagster's daemon among the children of `relrag ui`."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return next(int(child) for child in children if b"dagster-daemon" in Path(f"/proc/{child}/cmdline").read_bytes())


if __name__ == "__main__":
    main()
