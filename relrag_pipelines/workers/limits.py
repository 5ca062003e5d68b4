"""The limits of a call in the sandbox."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of a call."""

    seconds: int = 60
    """processor time per started 16 MiB of input"""
    max_bytes: int = 2**30
    """memory beyond that of the process at its start"""
    settings: str = "parser"
    """prefix of the settings with these limits: parser_max_seconds and parser_max_bytes"""
