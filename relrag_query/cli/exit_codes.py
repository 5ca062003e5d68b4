"""Exit codes of commands."""

from __future__ import annotations

DONE, WITH_FAILURES, COULD_NOT = 0, 1, 2
"""exit codes"""
