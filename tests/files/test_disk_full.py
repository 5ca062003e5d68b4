"""Faults that came from a full disk."""

import errno
import sqlite3

import duckdb
import pytest

from relrag_pipelines.files import disk_full


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (OSError(errno.EIO, "Input/output error"), False),
        (sqlite3.OperationalError("database or disk is full"), True),
        (sqlite3.OperationalError("database is locked"), False),
        (duckdb.IOException("Could not write file: No space left on device"), True),
        (Exception("Service internal error: No space left on device (os error 28)"), True),
        # a text of the archive may say anything
        (ValueError("no space left on device"), False),
    ],
)
def test_what_libraries_say(error: Exception, full: bool) -> None:
    assert disk_full.is_disk_full_error(error) is full
    wrapped = RuntimeError("while writing")
    wrapped.__cause__ = error
    assert disk_full.is_disk_full_error(wrapped) is full
