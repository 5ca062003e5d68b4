"""Shows that `dagster dev` serves the definitions, as a Dagster user starts it (`make definitions`; seconds).

It has an instance of its own, which lies in a folder that is removed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from tests import archive
from tests.conftest import ROOT
from tests.processes import wait

LOADED = "{ repositoriesOrError { ... on RepositoryConnection { nodes { assetNodes { id } } } } }"
_SECONDS = 120


def main() -> None:
    """Starts it on a small archive, asks for its assets and stops it."""
    folder = Path(tempfile.mkdtemp())
    config = archive.make(folder)
    (folder / "dagster").mkdir()
    (folder / "dagster" / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text())
    port = free_port()
    command = [str(Path(sys.executable).with_name("dagster")), "dev", "--port", str(port), "--log-level", "error"]
    environment = {**os.environ, "RELRAG_CONFIG": str(config), "DAGSTER_HOME": str(folder / "dagster")}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    try:
        wait("dagster dev serves the assets of three sources", lambda: count_assets(port) > 3 * 7, _SECONDS)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def count_assets(port: int) -> int:
    """The assets that the web server on that port shows; 0 as long as it does not answer."""
    body = json.dumps({"query": LOADED}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.build_opener().open(request, timeout=10) as response:
            nodes = json.load(response)["data"]["repositoriesOrError"].get("nodes", [])
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return 0
    return sum(len(node["assetNodes"]) for node in nodes)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
