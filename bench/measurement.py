"""What a measurement says: ours, what it is held against, and the gate."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured thing. A unit that ends in `/s` is a rate, of which more is better; of all others less is."""

    what: str
    ours: float
    unit: str = "s"
    other: float | None = None
    """the same of what it is held against"""
    against: str = ""
    at_most: float | None = None
    """gate: ours, or where there is an `other` its time as a multiple of that, must not be more"""
    at_least: float | None = None
    """gate: so many times faster than `other` ours must be; where there is none, ours must be so much"""
    factor: float = 1.0
    """how many times slower this machine is than the one that absolute gates are for; they are scaled by it"""

    def on_machine(self, factor: float) -> Figure:
        """The figure with its gate scaled, if that is a time or a rate that stands alone: a ratio needs no scale."""
        timed = self.unit in ("s", "ms") or self.unit.endswith("/s")
        return replace(self, factor=factor) if timed and not self.other and self._limit is not None else self

    @property
    def ratio(self) -> float | None:
        """Time of ours as a multiple of the other's where the gate is a ceiling, else how many times faster ours is."""
        if not self.other:
            return None
        faster = self.ours / self.other if self.unit.endswith("/s") else self.other / self.ours
        return 1 / faster if self.at_most is not None else faster

    @property
    def ok(self) -> bool:
        """The gate is met, or there is none."""
        value = self.ours if self.ratio is None else self.ratio
        if self._limit is None:
            return True
        return value <= self._limit if self.at_most is not None else value >= self._limit

    @property
    def _limit(self) -> float | None:
        """The gate on this machine."""
        limit = self.at_least if self.at_most is None else self.at_most
        if limit is None:
            return None
        return limit / self.factor if self.unit.endswith("/s") else limit * self.factor

    def cells(self) -> list[str]:
        """The row of a table: what, ours, theirs, ratio, gate, verdict."""
        theirs = "" if self.other is None else f"{_number(self.other)} {self.unit} ({self.against})"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}x" if self.ratio < 10 else f"{self.ratio:.0f}x"
        return [self.what, f"{_number(self.ours)} {self.unit}", theirs, ratio, self._gate(), self._verdict()]

    def _gate(self) -> str:
        if self._limit is None:
            return ""
        words = "at least" if self.at_most is None else "at most"
        return f"{words} {self._limit:,.3g}x" if self.other else f"{words} {_number(self._limit)} {self.unit}"

    def _verdict(self) -> str:
        if self.at_most is None and self.at_least is None:
            return ""
        return "ok" if self.ok else "SHORT"


HEADER = ["what", "ours", "held against", "ratio", "gate", ""]


def to_json(figure: Figure) -> dict[str, Any]:
    """A figure as it stands in results.json, with three digits."""
    rounded = {name: _round(value) for name, value in asdict(figure).items() if value not in (None, "")}
    if figure.factor == 1:
        del rounded["factor"]
    return rounded | {"ratio": _round(figure.ratio), "ok": figure.ok}


def from_json(stored: dict[str, Any]) -> Figure:
    """The figure again; its ratio is worked out from the rounded numbers."""
    return Figure(**{name: value for name, value in stored.items() if name not in ("ratio", "ok")})


def aligned(rows: list[list[str]]) -> str:
    """A plain table."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _round(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
