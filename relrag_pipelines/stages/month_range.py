"""Ranges of months, as YYYY-MM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Entry = TypeVar("Entry")


def contiguous(months: Mapping[str, set[str]]) -> list[tuple[str, str, set[str]]]:
    ranges: list[tuple[str, str, set[str]]] = []
    for month in sorted(months):
        if ranges and ranges[-1][2] == months[month] and next_month(ranges[-1][1]) == month:
            ranges[-1] = (ranges[-1][0], month, months[month])
        else:
            ranges.append((month, month, months[month]))
    return ranges


def next_month(month: str) -> str:
    """The month after a month (YYYY-MM)."""
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04d}-{number % 12 + 1:02d}"


def month_range(first: str, last: str) -> list[str]:
    """All months from first to last, both included; none when first is later."""
    months = []
    while first <= last:
        months.append(first)
        first = next_month(first)
    return months


def with_partition(months: Mapping[str, Entry], first: str) -> dict[str, Entry]:
    """The months that have a partition: what a retained file held before `first` waits until that is earlier."""
    return {month: entry for month, entry in months.items() if month >= first}
