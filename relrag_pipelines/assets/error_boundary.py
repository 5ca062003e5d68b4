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
    """Wraps a function so that it raises dg.Failure without private text.

    A relrag error keeps its message; any other becomes its type and code location, with a report as metadata under
    REPORT. Output, warnings and logs of the function are suppressed.

    It is a decorator and not a context manager, because an error that a context manager raises at its end has the
    first error as its context, and Dagster stores that too.
    """

    @functools.wraps(function)
    def call_sealed(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        interrupt: type[BaseException] | None = None
        report = ""
        try:
            with suppress_library_output(), redirect_stdout(_Nowhere()), redirect_stderr(_Nowhere()):
                return function(*args, **options)
        except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError) as error:
            interrupt, message = type(error), ""
        except BaseException as error:  # noqa: BLE001  its message may quote private text
            message, report = describe_error(error)
        # raised outside the except blocks, so that the first error is not kept as context
        if interrupt:
            raise interrupt
        raise dg.Failure(message, metadata={REPORT: report} if report else None)

    return call_sealed


class _Nowhere(io.TextIOBase):
    """A stream that discards its input."""

    def write(self, text: str, /) -> int:
        return len(text)
