"""Runs the work of a command, and exits with its code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, ParamSpec

import typer

P = ParamSpec("P")


def run(work: Callable[P, int], *args: P.args, **options: P.kwargs) -> NoReturn:
    """Calls a function, and exits with the code that it returns; with 130 if it is interrupted."""
    try:
        code = work(*args, **options)
    except KeyboardInterrupt:
        code = 130
    raise typer.Exit(code)
