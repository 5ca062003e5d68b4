"""Serves a model at a port of this machine, until it is ended: `python llama_server.py MODEL PORT THREADS`.

Run in the environment that `make reader` makes: xllamacpp is no dependency of relrag.
"""

from __future__ import annotations

import signal
import sys

import xllamacpp

_CONTEXT = 4096
"""tokens of question and answer"""


def serve(model: str, port: int, threads: int) -> None:
    """Serves until the process is ended."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx, parameters.n_parallel = _CONTEXT, 1
    parameters.cpuparams.n_threads = threads
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
