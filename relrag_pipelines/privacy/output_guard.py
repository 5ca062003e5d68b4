"""Suppresses what libraries print, warn and log: it may quote the text that was being read.

Where something was said is still told, and by whom.
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

_OURS = ("dagster", "relrag")
"""loggers whose messages are about runs, not about what is read"""


@contextmanager
def suppress_library_output() -> Iterator[None]:
    """Within it no warning and no log record of a library carries its text."""
    factory = logging.getLogRecordFactory()

    def make_record(*args: Any, **options: Any) -> logging.LogRecord:
        record = factory(*args, **options)
        if record.name and not record.name.startswith(_OURS):  # one without a name is a copy, to be filled
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
    """For the rest of this process, errors that nobody catches, in a thread or as it ends, are told by type."""
    sys.unraisablehook = lambda caught: _tell(caught.exc_type)
    threading.excepthook = lambda caught: _tell(caught.exc_type)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"{Path(filename).name}:{lineno}: {category.__name__}, its text is withheld", file=sys.stderr)


def _tell(kind: type[BaseException]) -> None:
    print(f"relrag: {kind.__name__} was ignored", file=sys.stderr)
