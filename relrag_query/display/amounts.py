"""Amounts as a person reads them."""

from __future__ import annotations


def size(count: int) -> str:
    """Bytes: 312 B, 1.4 MB, 20 GB."""
    amount, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 9.95 else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """A length of time: 8 s, 3 min, 2.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def number(count: int, singular: str, plural: str = "") -> str:
    """A count with its noun: 1 file, 2 files, 1,204 entries."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
