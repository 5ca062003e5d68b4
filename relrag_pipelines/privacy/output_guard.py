"""Suppresses warnings and log messages of libraries: they may quote the text that was being read.

The source file and line of each message is still shown.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

_OWN_LOGGERS = ("dagster", "relrag")
"""loggers whose messages are about runs, not about private text"""


@contextmanager
def suppress_library_output() -> Iterator[None]:
    """While active, warnings and log records of libraries lose their text."""
    factory = logging.getLogRecordFactory()

    def make_record(*args: Any, **options: Any) -> logging.LogRecord:
        record = factory(*args, **options)
        if record.name and not record.name.startswith(_OWN_LOGGERS):  # a record without a name is a copy, to be filled
            record.msg, record.args = (
                f"a message of {record.name} ({record.filename}:{record.lineno}) is withheld",
                None,
            )
            record.exc_info = record.exc_text = record.stack_info = None
        return record

    with warnings.catch_warnings():
        warnings.showwarning = _show
        logging.setLogRecordFactory(make_record)
        try:
            yield
        finally:
            logging.setLogRecordFactory(factory)


def install_exception_hooks() -> None:
    """From now on, uncaught errors in threads and at exit are printed by type only."""
    sys.unraisablehook = lambda caught: _report(caught.exc_type)
    threading.excepthook = lambda caught: _report(caught.exc_type)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"{Path(filename).name}:{lineno}: {category.__name__}, its text is withheld", file=sys.stderr)


def _report(kind: type[BaseException]) -> None:
    print(f"relrag: {kind.__name__} was ignored", file=sys.stderr)
