"""Imports the module of a command only when it runs, so that `relrag --help` stays quick."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

import typer


def run(module: str, name: str, *args: Any, **options: Any) -> NoReturn:
    """Calls a function of a module of `commands`, and exits with the code that it returns."""
    try:
        code = getattr(load(module), name)(*args, **options)
    except KeyboardInterrupt:
        code = 130
    raise typer.Exit(code)


def load(module: str) -> Any:
    """A module of `commands`."""
    return importlib.import_module(f"relrag_query.cli.commands.{module}")
