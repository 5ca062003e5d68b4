"""What may be told of an error that nobody foresaw: places in code, types and versions, never a message.

A message can quote the text that was being read. A report of such an error is a file that its owner can read and send.
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
_KEPT = 20
"""reports; older ones are removed"""
_OURS = ("relrag_pipelines", "relrag_query")
_LIBRARIES = ("site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}")
_VERSIONS = ("relrag", "pyarrow", "duckdb", "dagster", "qdrant-edge-py", "onnxruntime")
_HEAD = "A fault of relrag. This file holds places in code, types of errors and versions, and no text of the archive."
_ATTRIBUTE = "_relrag_context"
"""where an error keeps what `during` noted: its traceback does not reach another process"""


@contextmanager
def during(what: str) -> Iterator[None]:
    """Notes on an error what was being done and where it was raised; `what` names stages, sources and months only."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, _ATTRIBUTE):
            with suppress(AttributeError):  # a few types take no attributes
                setattr(error, _ATTRIBUTE, (what, _frames(error)))
        raise


def context(error: BaseException) -> str:
    """What was being done when the error was raised; empty where nothing noted it."""
    what, _ = getattr(error, _ATTRIBUTE, ("", []))
    return str(what)


def place(error: BaseException) -> str:
    """File and line of the innermost code that belongs to no library, such as `plan.py:12`."""
    frames = _all_frames(error)
    own = [(name, line) for name, line, _ in frames if not _is_library(name)]
    name, line = own[-1] if own else frames[-1][:2] if frames else ("unknown", 0)
    return f"{Path(name).name}:{line}"


def describe(error: BaseException) -> str:
    """The report: the error and those that led to it, each with its type and places."""
    lines = [_HEAD, "", *_about()]
    if what := context(error):
        lines.append(f"during {what}")
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        lines += ["", type(cause).__name__]
        lines += [f"  {_shorten(name)}:{line} {function}" for name, line, function in _all_frames(cause)]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines) + "\n"


def write(home: Path | None, report: str, name: str) -> Path:
    """Stores a report within the home, or among temporary files without one; `name` is that of a stage or command."""
    folder = home / FOLDER if home and home.is_dir() else Path(tempfile.gettempdir()) / "relrag-faults"
    path = folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{name}.txt"
    write_text(path, report)
    for older in sorted(folder.glob("*.txt"))[:-_KEPT]:
        older.unlink(missing_ok=True)
    return path


def advice(path: Path) -> str:
    """What to do about a fault whose report lies there."""
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
    found = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in found]


def _is_library(name: str) -> bool:
    parts = Path(name).parts
    return not any(part in _OURS for part in parts) and (
        not Path(name).is_absolute() or any(part in _LIBRARIES for part in parts)
    )


def _shorten(name: str) -> str:
    """The path of a file of code without the folders of this machine."""
    parts = Path(name).parts
    for mark in _OURS:
        if mark in parts:
            return "/".join(parts[parts.index(mark) :])
    for mark in _LIBRARIES:
        if mark in parts:
            return "/".join(parts[parts.index(mark) + 1 :])
    return Path(name).name
