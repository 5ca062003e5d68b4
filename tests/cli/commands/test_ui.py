"""The processes of `relrag ui`: all of them end with it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from relrag_query.cli.commands import ui

_READY = "print('ready', flush=True); import time; time.sleep(60)"


@pytest.mark.parametrize(
    ("ignored", "ended_by"),
    [
        ("", signal.SIGINT),
        ("signal.signal(signal.SIGINT, signal.SIG_IGN);", signal.SIGTERM),
        (
            "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN);",
            signal.SIGKILL,
        ),
    ],
)
def test_a_process_that_misses_a_signal_gets_a_stronger_one(ignored: str, ended_by: signal.Signals) -> None:
    code = f"import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); {ignored} {_READY}"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    ui._stop([process], seconds=0.5)
    assert process.wait() == -ended_by
    process.stdout.close()
