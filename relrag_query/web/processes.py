"""Several processes that answer on one socket: `python -m relrag_query.web.processes` is one of them."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from relrag_pipelines.settings import SettingsError

_LOOK_SECONDS = 0.5
_LEAST_SECONDS = 5.0
"""a process that ends sooner is not started again: the next would too"""

_END_SECONDS = 15.0
"""for what is being answered to end"""


def supervise(count: int, arguments: Sequence[str], listening: socket.socket) -> None:
    """Keeps so many processes running until this one is interrupted; SettingsError where they do not start."""
    stop, file = _Stop(), listening.fileno()
    command = [sys.executable, "-m", __name__, *arguments, "--file", str(file)]

    def start() -> tuple[subprocess.Popen[bytes], float]:
        # its input ends with this process, however that ends
        started = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(file,), process_group=0)
        return started, time.monotonic()

    running = [start() for _ in range(count)]
    try:
        while not stop.asked:
            for place, (process, begun) in enumerate(running):
                if process.poll() is None:
                    continue
                if time.monotonic() - begun < _LEAST_SECONDS:
                    raise SettingsError(f"a process of the server ended with {process.returncode} as soon as it began")
                running[place] = start()
            time.sleep(_LOOK_SECONDS)
    finally:
        for process, _ in running:
            process.terminate()
        for process, _ in running:
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


class _Stop:
    """Whether this process was asked to end."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True


def main(arguments: Sequence[str] | None = None) -> None:
    """Answers on the socket whose file is inherited, until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--processes", type=int, required=True)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--socket", type=Path)
    parser.add_argument("--file", type=int, required=True)
    given = parser.parse_args(arguments)
    # imported only where there is something to serve: the server imports this module
    from relrag_pipelines import settings
    from relrag_query.web.server import Address, work

    place = Address(
        settings.load(given.config), given.config, given.host, given.port, given.index, given.socket, given.processes
    )
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    with socket.socket(fileno=given.file) as listening:
        work(place, listening)


def _end_with_supervisor() -> None:
    while os.read(0, 4096):  # not the buffered one, which a process that ends for another reason would trip over
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
