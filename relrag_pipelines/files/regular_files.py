"""Opens files in a source's folder: regular files only, and links only as far as the source allows.

A FIFO would have a sync wait for ever, a device has no end, and a link may lead to anything that its owner can read.
What a file is can change between two looks at it, so it is asked again of what was opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from relrag_pipelines.records import Failure

NOT_A_FILE, LINK_OUTSIDE = "not_a_file", "link_outside"
"""fault words of what is not opened"""

_SORTS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISDIR, "a folder"),
)
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


class RefusedFile(OSError):
    """What lies there is not opened: a fault word, and what it is and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[RefusedFile], tuple[str, str]]:
        return RefusedFile, (self.fault, str(self))

    def failure(self, location: str = "") -> Failure:
        """The row in failures; what was read of it before is kept."""
        return Failure(location, self.fault, str(self), whole_unit=True)


def check_file(file: Path, root: Path, *, follow_links: bool) -> os.stat_result:
    """The status of a file below a source's `root`, or of the target of a link there.

    Raises Refused for what is no regular file, and for a link out of `root` unless links are followed; else OSError.
    """
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):
        if not follow_links and leads_out(file, root):
            raise RefusedFile(
                LINK_OUTSIDE,
                "a link that leads out of the source's folder, so it is not followed; "
                "set follow_links for the source, or exclude it",
            )
        status = file.stat()
    _refuse_irregular(status)
    return status


def may_open(file: Path, root: Path, *, follow_links: bool = False) -> bool:
    """Whether it is a folder, or a file that `look` does not refuse."""
    try:
        check_file(file, root, follow_links=follow_links)
    except RefusedFile as refused:
        return refused.fault == NOT_A_FILE and file.is_dir()
    except OSError:
        return False
    return True


def leads_out(link: Path, root: Path) -> bool:
    """Whether a link leads to somewhere that is not below `root`, which is resolved."""
    return not Path(os.path.realpath(link)).is_relative_to(root)


def open_plain(file: Path) -> BufferedReader:
    """A regular file, or one that a link leads to, opened for reading. Raises Refused for all else, and OSError."""
    status = file.lstat()
    linked = stat.S_ISLNK(status.st_mode)
    # looked at before it is opened too: whoever waits to write into a FIFO would take this for its reader
    _refuse_irregular(file.stat() if linked else status)
    handle = os.open(file, _FLAGS | (0 if linked else os.O_NOFOLLOW))
    try:
        _refuse_irregular(os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_plain(file: Path, most: int = -1) -> bytes:
    """The bytes of a regular file, the first `most` of them. Raises as `open_plain` does."""
    with open_plain(file) as opened:
        return opened.read(most)


def walk(
    root: Path, onerror: Callable[[OSError], object] | None = None, *, follow_links: bool = False
) -> Iterator[tuple[Path, list[str], list[str]]]:
    """As os.walk. Linked folders are entered only where links are followed: those outside of `root`, each once."""
    seen = {_identity(root)}
    for parent, folders, names in os.walk(root, onerror=onerror, followlinks=follow_links):
        folder = Path(parent)
        if follow_links:
            folders[:] = [name for name in sorted(folders) if _first_visit(folder / name, root, seen)]
        yield folder, folders, names


def _first_visit(folder: Path, root: Path, seen: set[tuple[int, int]]) -> bool:
    # what lies below the root is read where it lies
    identity = None if folder.is_symlink() and not leads_out(folder, root) else _identity(folder)
    if identity is None or identity in seen:
        return False
    seen.add(identity)
    return True


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _refuse_irregular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        sort = next((words for is_one, words in _SORTS if is_one(status.st_mode)), "no regular file")
        raise RefusedFile(NOT_A_FILE, f"{sort}, which is not opened; remove or exclude it")
