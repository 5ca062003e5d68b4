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
    """removed rows, by table and entity"""
    remainder: Counter[str] = field(default_factory=Counter)
    """remaining leaks, by table and entity: in files without records, or in rows that could not be removed"""
    unreadable_files: int = 0
    seconds: float = 0.0
    """elapsed time of the search"""

    def counts(self) -> dict[str, int]:
        """Figures by table and entity, without record ids: they may be stored longer than the records."""
        kinds = {
            f"{name}/{kind}": count for name, counter in self._by_kind() for kind, count in sorted(counter.items())
        }
        totals = {name: sum(counter.values()) for name, counter in self._by_kind()}
        return {"files": self.files, "unread": self.unreadable_files, **totals, **kinds}

    def _by_kind(self) -> list[tuple[str, Counter[str]]]:
        return [("withheld", self.removals), ("left", self.remainder)]

    def count_scan(self, scan: LeakScan, removals: Collection[Leak] = ()) -> None:
        """Counts the files that a scan read, and the leaks whose rows were removed."""
        self.files += scan.files
        self.unreadable_files += len(scan.unread)
        self.removals.update(f"{leak.table}/{leak.entity}" for leak in removals)

    def count_remainder(self, leaks: Iterable[Leak]) -> None:
        """Counts leaks that remain."""
        self.remainder.update(f"{leak.table}/{leak.entity}" for leak in leaks)

    def __str__(self) -> str:
        """A sentence for the output of a sync; empty if there is nothing to report."""
        sentences = []
        if rows := sum(self.removals.values()):
            sentence = "1 row still held a value that was replaced elsewhere and was" if rows == 1 else ""
            sentence = sentence or f"{rows} rows still held values that were replaced elsewhere and were"
            sentences.append(f"{sentence} left out; `relrag status --failures` names the records")
        if self.remainder or self.unreadable_files:
            sentences.append("`relrag verify --pii` names files that hold such a value, or could not be read")
        return "; ".join(sentences)
