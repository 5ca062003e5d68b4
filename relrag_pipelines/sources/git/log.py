"""The `git log` format that is read; fields and paths end in NUL, which no message, name or path can contain.

A commit is an empty field, `commit <hash>`, parents, decorations (full ref names), author name, address and time
(`<seconds> <zone>`), the same for the committer, and the message; then for every file a status and its path, or for a
renamed or copied one the old and the new path. A line break before the first status, and empty fields between these,
have no meaning. See git-log(1): -z, --name-status, --date=raw.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

FORMAT = "%x00commit %H%x00%P%x00%D%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B"
COMMAND = (
    *("log", "-z", "--topo-order", "--branches", "--tags", "--remotes", "--name-status", "-M", "--no-ext-diff"),
    *(
        "--no-textconv",
        "--no-show-signature",
        "--decorate=full",
        "--date=raw",
        "--encoding=UTF-8",
        f"--format={FORMAT}",
    ),
)
"""arguments of git that print the format"""

_BLOCK = 1 << 20
_FIELDS = 9
_MAX_FIELD_BYTES = 64 * 2**20
_BEGIN = re.compile(r"commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)")
_STATUS = {
    "A": "added",
    "M": "modified",
    "D": "deleted",
    "T": "type changed",
    "U": "unmerged",
    "X": "unknown",
    "B": "modified",
}
_MOVED = {"R": "renamed", "C": "copied"}


class LogError(Exception):
    """Bytes that aren't such a log (`fault` not_a_log), or end too early (`fault` truncated)."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(slots=True)
class Commit:
    """One commit as `git log` prints it."""

    hash: str
    parents: list[str]
    refs: list[str]
    """full names of branches and tags at it, tags prefixed with `tag: `"""
    author: tuple[str, str]
    """name and address"""
    authored: str
    """seconds since 1970 and zone"""
    committer: tuple[str, str]
    committed: str
    message: str
    files: list[dict[str, str]]
    """path, status in words, and the earlier path (`from`) of a renamed or copied file"""


@dataclass
class Log:
    """A log while it is being read."""

    stream: IO[bytes]
    guessed_fields: int = 0
    """number of fields that aren't UTF-8 and were read as windows-1252"""
    _rest: bytes = field(default=b"", repr=False)

    def commits(self) -> Iterator[Commit]:
        """The commits in the order of the log. Raises LogError."""
        tokens = self._tokens()
        token = next(tokens, None)
        while token is not None:
            if not token:
                token = next(tokens, None)
                continue
            begin = _BEGIN.fullmatch(token)
            if not begin:
                raise LogError("not_a_log", "it is not a log in the expected format; save it as docs/git.md says")
            fields = list(itertools.islice(tokens, _FIELDS))
            if len(fields) < _FIELDS:
                raise _truncation_error()
            files, token = _files(tokens)
            parents, refs, name, address, authored, committer, its_address, committed, message = fields
            yield Commit(
                begin[1],
                parents.split(),
                refs.removeprefix("HEAD -> ").split(", ") if refs else [],
                (name, address),
                authored,
                (committer, its_address),
                committed,
                message,
                files,
            )

    def _tokens(self) -> Iterator[str]:
        while block := self.stream.read(_BLOCK):
            data = self._rest + block
            end = data.rfind(b"\0")
            complete, self._rest = data[: max(end, 0)], data[end + 1 :]
            if len(self._rest) > _MAX_FIELD_BYTES:
                raise LogError(
                    "too_long", f"a field of more than {_MAX_FIELD_BYTES} bytes; leave that commit out of the log"
                )
            if end >= 0:
                try:
                    yield from complete.decode().split("\0")
                except UnicodeDecodeError:
                    yield from map(self._decode, complete.split(b"\0"))
        if self._rest:
            raise _truncation_error()

    def _decode(self, token: bytes) -> str:
        try:
            return token.decode()
        except UnicodeDecodeError:
            self.guessed_fields += 1
            return token.decode("cp1252", "replace")


def _files(tokens: Iterator[str]) -> tuple[list[dict[str, str]], str | None]:
    """The files of a commit, and the token after them."""
    files: list[dict[str, str]] = []
    for token in tokens:
        token = token.lstrip("\n")
        if not token:
            continue
        if token in _STATUS:
            files.append({"path": _next(tokens), "status": _STATUS[token]})
        elif token[0] in _MOVED and token[1:].isdigit():
            before = _next(tokens)
            files.append({"from": before, "path": _next(tokens), "status": _MOVED[token[0]]})
        else:
            return files, token
    return files, None


def _next(tokens: Iterator[str]) -> str:
    token = next(tokens, None)
    if token is None:
        raise _truncation_error()
    return token


def _truncation_error() -> LogError:
    return LogError("truncated", "it ends in the middle of a commit; save it again")
