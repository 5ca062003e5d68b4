"""Describes errors without private text: an error's own message may quote the text that was being read."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from typing import NamedTuple

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import disk_full
from relrag_pipelines.privacy import fault_report

_PROCESS_ENDED = (
    "a process that takes part was ended by the system, as happens where memory or disk runs out; make room "
    "(`relrag doctor` says how much a sync needs), then run `relrag sync` again"
)


class ErrorDescription(NamedTuple):
    """A description of an error, without any text of the archive."""

    message: str
    report: str = ""
    """for the developers; empty for expected errors"""


def describe_error(error: BaseException) -> ErrorDescription:
    """The message of a relrag error; the type and code location of any other error."""
    if isinstance(error, RelragError):
        return ErrorDescription(error.safe_message)
    if isinstance(error, BrokenExecutor):
        return ErrorDescription(_PROCESS_ENDED)
    if disk_full.is_disk_full_error(error):
        return ErrorDescription(f"{disk_full.FULL}; `relrag doctor` says how much a sync needs")
    fault = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    context = fault_report.context(error)
    message = f"{fault} in {fault_report.code_location(error)}"
    return ErrorDescription(f"{message}, during {context}" if context else message, fault_report.describe(error))
