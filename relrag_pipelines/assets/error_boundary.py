"""Keeps private text out of Dagster's event log, which stores every exception with its message."""

import functools
import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import ParamSpec, TypeVar

import dagster as dg

from relrag_pipelines.privacy.error_descriptions import describe_error
from relrag_pipelines.privacy.output_guard import suppress_library_output

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
REPORT = "fault"
"""name of the metadata that holds the report of an unforeseen error"""


def seal_errors(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function with its errors sealed: ours are let through, of any other only its type and where it was raised.

    The report of another error is metadata of the failure, under REPORT.

    It wraps a function and is no context manager: what one raises as it ends has the first error as its context, and
    Dagster stores that too. What is printed, warned of or logged meanwhile is withheld.
    """

    @functools.wraps(function)
    def call_sealed(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        interrupt: type[BaseException] | None = None
        report = ""
        try:
            with suppress_library_output(), redirect_stdout(_Nowhere()), redirect_stderr(_Nowhere()):
                return function(*args, **options)
        except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError) as error:
            interrupt, said = type(error), ""
        except BaseException as error:  # noqa: BLE001  its message may quote what was being read
            said, report = describe_error(error)
        # raised outside the except blocks, so that the first error is not kept as context
        if interrupt:
            raise interrupt
        raise dg.Failure(said, metadata={REPORT: report} if report else None)

    return call_sealed


class _Nowhere(io.TextIOBase):
    """A stream that forgets what is written to it."""

    def write(self, text: str, /) -> int:
        return len(text)
