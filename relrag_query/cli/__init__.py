"""The `relrag` command. Functions of commands import what takes long, so that `relrag --help` stays fast.

Exit codes: 0 done, 1 done with failures that are listed, 2 could not run. A failure that the last `sync` or `backfill`
reported no longer counts, except with --strict.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import access
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.privacy.output_guard import install_exception_hooks, suppress_library_output
from relrag_query.cli.commands import (
    ask,
    backfill,
    backup,
    calls,
    doctor,
    evaluate,
    explore,
    failures,
    forget,
    graphrag,
    init,
    login,
    original,
    people,
    pii,
    plan,
    reveal,
    serve,
    show,
    status,
    sync,
    ui,
    verify,
    watch,
)

app = typer.Typer(
    no_args_is_help=True,
    # rich help pages take four times as long as all the rest
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _command in (
    *(ask, explore, show, original, reveal, evaluate),
    *(init, sync, watch, login, plan, forget, status, verify, backup, doctor),
    *(ui, serve),
):
    app.add_typer(_command.app)
for _name, _command in (
    ("backfill", backfill),
    ("calls", calls),
    ("failures", failures),
    ("people", people),
    ("graphrag", graphrag),
    ("pii", pii),
):
    app.add_typer(_command.app, name=_name)


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(f"relrag {version('relrag')}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Answers from your own written memory: chats, mail, documents, calls, commits."""


def main() -> NoReturn:
    """The console script."""
    # nothing is left to clean up, and a normal exit takes 0.7 s after a sync to unload the modules
    os._exit(command())


def command() -> int:
    """Runs the command that the arguments name; returns its exit code, with all output written."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    install_exception_hooks()
    access.owner_only()
    code: object = 0
    try:
        try:
            with suppress_library_output():
                _parser()()
        except SystemExit as end:
            code = end.code
        if isinstance(code, str):  # a library may call sys.exit with a message; no command does
            code = _fail("unexpected end; this is a fault of relrag, please report it")
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        code = _fail(
            f"{os.strerror(error.errno) if error.errno else type(error).__name__}{_path_suffix(error.filename)}"
        )
    except Exception as error:  # noqa: BLE001 - last chance to report a fault in one line without private text
        code = _fail(_error_message(error))
    return code if isinstance(code, int) else int(code is not None)


@functools.cache
def _parser() -> Callable[[], object]:
    """The argument parser, built once per process, which takes .08 s."""
    return typer.main.get_command(app)


def _error_message(error: Exception) -> str:
    """The message of an expected error. The text of any other error is withheld: it may quote the archive."""
    if isinstance(error, RelragError):
        return str(error)
    try:
        path = fault_report.write(_home(), fault_report.describe(error), "command")
        what_to_do = fault_report.advice(path)
    except OSError:  # the disk is full or read-only
        what_to_do = "this is a fault of relrag"
    return f"unexpected {type(error).__name__} at {fault_report.code_location(error)}; {what_to_do}"


def _home() -> Path | None:
    """The home of the archive that the command uses; None if the settings cannot be read."""
    from relrag_pipelines import settings as settings_module

    paths = [value for option, value in itertools.pairwise(sys.argv) if option == "--config"]
    try:
        return settings_module.load(Path(paths[0]) if paths else None).home_path
    except Exception:  # noqa: BLE001 - the error being reported matters more than wrong settings
        return None


def _path_suffix(filename: object) -> str:
    """`: PATH` for the file of an error; empty for an export, whose file name may be a person's name."""
    path = Path(str(filename or ""))
    is_own = any((folder / "private").is_dir() for folder in path.parents) or str(path) in sys.argv
    return f": {path}" if filename and (is_own or path.name == "relrag.toml") else ""


def _fail(message: str) -> int:
    print(f"relrag: {message}", file=sys.stderr, flush=True)
    return 2


if __name__ == "__main__":
    main()
