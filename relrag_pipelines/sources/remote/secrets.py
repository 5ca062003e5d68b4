"""The secrets of servers: from the environment, or from an owner-only file beside the archive's keys; nowhere else.

A secret is a password, a token, or the JSON of an OAuth client with its refresh token. It is read when it is needed and
held by whoever needs it; no message quotes it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import write_text

PREFIX = "RELRAG_SECRET_"
"""how the variable of a source's secret begins; the source's name follows in capitals"""
WEBHOOK_PREFIX = "RELRAG_WEBHOOK_"
"""how the variable of a source's webhook key begins; servers sign events with that key"""
_MAX_BYTES = 65_536


class SecretError(SafeError):
    """A secret is missing, or others can read it; the message says where it belongs."""


def variable_of(source: str, prefix: str = PREFIX) -> str:
    """The environment variable with the secret of a source."""
    return f"{prefix}{source.upper()}"


def file_of(keys_file: Path, archive: str, source: str) -> Path:
    """The file with the secret of a source, beside the archive's keys."""
    return keys_file.parent / f"{archive}.{source}.secret"


def webhook_file_of(keys_file: Path, archive: str, source: str) -> Path:
    """The file with the webhook key of a source, beside the archive's keys."""
    return keys_file.parent / f"{archive}.{source}.webhook"


def describe(file: Path, source: str) -> str:
    """Where the secret of a source is expected."""
    return f"{variable_of(source)} in the environment, or {file} (mode 0600)"


def read_secret(file: Path, source: str, environ: Mapping[str, str] = os.environ, prefix: str = PREFIX) -> str:
    """The secret of a source; SecretError if there is none, or its file can be read by others."""
    if given := environ.get(variable_of(source, prefix), "").strip():
        return given
    try:
        status = file.stat()
        text = file.read_text(encoding="utf-8")[:_MAX_BYTES].strip()
    except FileNotFoundError:
        raise SecretError(f"no secret for source {source}: set {describe(file, source)}") from None
    except (OSError, UnicodeDecodeError):
        raise SecretError(f"{file} cannot be read; write the secret of source {source} into it, mode 0600") from None
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SecretError(f"{file} can be read by others; run: chmod 600 {file}")
    if not text:
        raise SecretError(f"{file} is empty; write the secret of source {source} into it")
    return text


def write_secret(file: Path, text: str) -> None:
    """Stores a secret for its owner only."""
    write_text(file, text + "\n")
