"""Prints data as JSON, for `--json`."""

from __future__ import annotations

import json
from typing import Any


def print_json(value: Any) -> int:
    """Prints a value that JSON has a form for; returns the exit code of a command that is done."""
    print(json.dumps(value, indent=1, ensure_ascii=False))
    return 0
