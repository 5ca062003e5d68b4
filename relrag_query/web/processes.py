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

_POLL_SECONDS = 0.5
_MIN_SECONDS = 5.0
"""a process that ends sooner is not restarted, since the next would end too"""

_SHUTDOWN_SECONDS = 15.0
"""time for running requests to end"""


def supervise(count: int, arguments: Sequence[str], listening: socket.socket) -> None:
    """Keeps `count` processes running until this one is interrupted. Raises SettingsError if they do not start."""
    stop, file = _Stop(), listening.fileno()
    command = [sys.executable, "-m", __name__, *arguments, "--file", str(file)]

    def start() -> tuple[subprocess.Popen[bytes], float]:
        # its standard input closes when this process ends for any reason
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(file,), process_group=0)
        return process, time.monotonic()

    running = [start() for _ in range(count)]
    try:
        while not stop.requested:
            for index, (process, start_time) in enumerate(running):
                if process.poll() is not None:
                    _check_duration(process, time.monotonic() - start_time)
                    running[index] = start()
            time.sleep(_POLL_SECONDS)
    finally:
        _end([process for process, _ in running])


def _check_duration(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Raises SettingsError if a process that has ended ran so briefly that the next would end too."""
    if seconds < _MIN_SECONDS:
        raise SettingsError(f"a process of the server ended with {process.returncode} as soon as it began")


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends processes, each after its running requests."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(_SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


class _Stop:
    """Whether a signal requested the end of this process."""

    def __init__(self) -> None:
        self.requested = False
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._request)

    def _request(self, *_: object) -> None:
        self.requested = True


def main(arguments: Sequence[str] | None = None) -> None:
    """Answers on the inherited socket until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--processes", type=int, required=True)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--socket", type=Path)
    parser.add_argument("--file", type=int, required=True)
    options = parser.parse_args(arguments)
    # imported only here, because the server imports this module
    from relrag_pipelines import settings
    from relrag_query.web.server import Address, work

    address = Address(
        settings.load(options.config),
        options.config,
        options.host,
        options.port,
        options.index,
        options.socket,
        options.processes,
    )
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    with socket.socket(fileno=options.file) as listening:
        work(address, listening)


def _end_with_supervisor() -> None:
    while os.read(0, 4096):  # unbuffered, because a buffered read would block the exit of the process
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
