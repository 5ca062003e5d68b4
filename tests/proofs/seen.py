"""What a proof has seen, printed as a table at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from tests.processes import wait


class Seen:
    """The rows of a proof: what was seen, how long it took or what was measured, and the limit."""

    def __init__(self, title: str) -> None:
        self._title, self._started = title, time.monotonic()
        self._rows: list[tuple[str, str, str]] = []

    def wait(self, what: str, until: Callable[[], bool], at_most: float | None = None) -> None:
        """Waits for it, and adds the seconds that it took; ends the program where it took longer than `at_most`."""
        started = time.monotonic()
        wait(what, until)
        self.measure(what, time.monotonic() - started, "s", at_most)

    def measure(self, what: str, figure: float, unit: str, at_most: float | None = None) -> None:
        """Adds a figure, and ends the program where it is above its limit."""
        self._rows.append((what, f"{figure:,.1f} {unit}", "" if at_most is None else f"at most {at_most:,.0f} {unit}"))
        if at_most is not None and figure > at_most:
            self.print()
            sys.exit(f"{what}: {figure:,.1f} {unit} is more than {at_most:,.0f}")

    def note(self, what: str, state: str) -> None:
        """Adds what was seen where nothing is measured."""
        self._rows.append((what, state, ""))

    def print(self) -> None:
        """Prints the table."""
        self.measure("all of it", time.monotonic() - self._started, "s")
        widths = [max(len(row[column]) for row in self._rows) for column in range(2)]
        print(f"\n{self._title}")
        for what, figure, limit in self._rows:
            print(f"  {what:<{widths[0]}}  {figure:>{widths[1]}}  {limit}".rstrip(), flush=True)
