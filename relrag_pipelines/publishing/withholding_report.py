"""Figures about the rows that were left out of a generation because they held a replaced value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from relrag_pipelines.publishing.leak_scan import Leak, LeakScan


@dataclass
class WithholdingReport:
    """The result of a search for replaced values, in figures."""

    files: int = 0
    removals: Counter[str] = field(default_factory=Counter)
    """rows that were removed, by table and entity"""
    remainder: Counter[str] = field(default_factory=Counter)
    """finds that stay, by table and entity: in files that hold no records, or in rows that could not be removed"""
    unreadable_files: int = 0
    seconds: float = 0.0
    """that the search took, by the clock"""

    def counts(self) -> dict[str, int]:
        """Figures alone, by table and entity: what keeps them may outlive the records."""
        found = {f"{name}/{what}": count for name, of in self._by_kind() for what, count in sorted(of.items())}
        totals = {name: sum(of.values()) for name, of in self._by_kind()}
        return {"files": self.files, "unread": self.unreadable_files, **totals, **found}

    def _by_kind(self) -> list[tuple[str, Counter[str]]]:
        return [("withheld", self.removals), ("left", self.remainder)]

    def count_scan(self, scan: LeakScan, removals: Collection[Leak] = ()) -> None:
        """Counts what a scan read, and of its finds those whose rows were removed."""
        self.files += scan.files
        self.unreadable_files += len(scan.unread)
        self.removals.update(f"{one.table}/{one.entity}" for one in removals)

    def count_remainder(self, leaks: Iterable[Leak]) -> None:
        """Counts finds that stay."""
        self.remainder.update(f"{one.table}/{one.entity}" for one in leaks)

    def __str__(self) -> str:
        """A sentence for whoever syncs; empty where all is well."""
        sentences = []
        if rows := sum(self.removals.values()):
            held = "1 row still held a value that was replaced elsewhere and was" if rows == 1 else ""
            held = held or f"{rows} rows still held values that were replaced elsewhere and were"
            sentences.append(f"{held} left out; `relrag status --failures` names the records")
        if self.remainder or self.unreadable_files:
            sentences.append("`relrag verify --pii` names files that hold such a value, or could not be read")
        return "; ".join(sentences)
