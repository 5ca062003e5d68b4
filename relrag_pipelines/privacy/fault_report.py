"""Reports of unexpected errors: code locations, types and versions, never a message.

A message can quote the text that was being read. A report is a file that the owner can read and send.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from relrag_pipelines.files.atomic import write_text

FOLDER = "dagster/faults"
"""within the home"""
_MAX_REPORTS = 20
"""number of reports; older ones are removed"""
_OWN_PACKAGES = ("relrag_pipelines", "relrag_query")
_LIBRARIES = ("site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}")
_VERSIONS = ("relrag", "pyarrow", "duckdb", "dagster", "qdrant-edge-py", "onnxruntime")
_HEAD = "A fault of relrag. This file holds places in code, types of errors and versions, and no text of the archive."
_ATTRIBUTE = "_relrag_context"
"""attribute of an error with the notes of `during`, because a traceback does not reach another process"""


@contextmanager
def during(activity: str) -> Iterator[None]:
    """Notes the activity and the code location on an error; `activity` names only stages, sources and months."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, _ATTRIBUTE):
            with suppress(AttributeError):  # a few types take no attributes
                setattr(error, _ATTRIBUTE, (activity, _frames(error)))
        raise


def context(error: BaseException) -> str:
    """The activity during which the error was raised; empty if unknown."""
    activity, _ = getattr(error, _ATTRIBUTE, ("", []))
    return str(activity)


def code_location(error: BaseException) -> str:
    """File and line of the innermost code outside libraries, such as `plan.py:12`."""
    frames = _all_frames(error)
    code = [(name, line) for name, line, _ in frames if not _is_library(name)]
    name, line = code[-1] if code else frames[-1][:2] if frames else ("unknown", 0)
    return f"{Path(name).name}:{line}"


def describe(error: BaseException) -> str:
    """The report: the error and its causes, each with its type and code locations."""
    lines = [_HEAD, "", *_about()]
    if activity := context(error):
        lines.append(f"during {activity}")
    cause: BaseException | None = error
    causes: set[int] = set()
    while cause is not None and id(cause) not in causes:
        causes.add(id(cause))
        lines += ["", type(cause).__name__]
        lines += [f"  {_shorten(name)}:{line} {function}" for name, line, function in _all_frames(cause)]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines) + "\n"


def write(home: Path | None, report: str, name: str) -> Path:
    """Stores a report in the home, or in the temporary folder if `home` is None; `name` is a stage or command."""
    folder = home / FOLDER if home and home.is_dir() else Path(tempfile.gettempdir()) / "relrag-faults"
    path = folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{name}.txt"
    write_text(path, report)
    for older in sorted(folder.glob("*.txt"))[:-_MAX_REPORTS]:
        older.unlink(missing_ok=True)
    return path


def advice(path: Path) -> str:
    """Advice for a fault whose report has this path."""
    return (
        "this is a fault of relrag: run the command again; if it fails again, run `relrag verify --repair`, then "
        f"`relrag sync`; to report it, send {path}, which holds places in code and no text of the archive"
    )


def _about() -> Iterator[str]:
    yield f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    for name in _VERSIONS:
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"


def _all_frames(error: BaseException) -> list[tuple[str, int, str]]:
    _, noted = getattr(error, _ATTRIBUTE, ("", []))
    frames = _frames(error)
    return frames if not noted or noted[-1:] == frames[-1:] else [*frames, *noted]


def _frames(error: BaseException) -> list[tuple[str, int, str]]:
    stack = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in stack]


def _is_library(name: str) -> bool:
    parts = Path(name).parts
    return not any(part in _OWN_PACKAGES for part in parts) and (
        not Path(name).is_absolute() or any(part in _LIBRARIES for part in parts)
    )


def _shorten(name: str) -> str:
    """The path of a source file without the folders of this machine."""
    parts = Path(name).parts
    for mark in _OWN_PACKAGES:
        if mark in parts:
            return "/".join(parts[parts.index(mark) :])
    for mark in _LIBRARIES:
        if mark in parts:
            return "/".join(parts[parts.index(mark) + 1 :])
    return Path(name).name
