"""How relrag grows with an archive: sizes measured one after the other, and what they foretell of larger ones.

`python -m bench.simulate 0.03 0.1 0.3` syncs an archive of each scale (1 is 1,100,000 records) and writes the table to
bench/growth.json. `python -m bench.simulate --foretell 5000000` prints what the table foretells of that many records,
with the exponent of each row. `--without-largest` leaves the largest size out, and shows how far the forecast of it is
off.

A stage costs a fixed time and a time a record; both are fitted to the sizes by least squares, in seconds of a machine
on which `import dagster` takes 0.66 s. The exponent is the slope between the two largest sizes on logarithmic scales.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench import full, report
from bench.clock import ROOT, Machine
from bench.measurement import aligned

RESULTS = ROOT / "bench" / "growth.json"
_SCALED_UNITS = frozenset({"s", "ms"})
"""units of figures that depend on how fast the machine is"""
_RATES = frozenset({"records/s", "%"})
"""units of figures that do not grow with the archive"""
Size = Mapping[str, Any]
"""of one archive: `records`, and `rows`, the figures by name"""


def measure(scale: float) -> Size:
    """Syncs an archive of that scale; its figures, times scaled to the reference machine."""
    machine = Machine()
    machine.look()
    figures, details = full.of_archive(scale)
    machine.look()
    times = {f"stage {name}, s": seconds / machine.factor for name, seconds in details["stages"].items()}
    rows = {
        f"{figure.what}, {figure.unit}": figure.ours / (machine.factor if figure.unit in _SCALED_UNITS else 1)
        for figure in figures
        if figure.other is None and figure.unit not in _RATES
    }
    named = {
        name.replace(f"{details['counts']['records']:,} records", "all records"): row for name, row in rows.items()
    }
    named = {
        name.replace(f"{details['counts']['chunks']:,} passages", "all passages"): row for name, row in named.items()
    }
    return {"records": details["counts"]["records"], "factor": round(machine.factor, 2), "rows": {**named, **times}}


def foretell(sizes: Sequence[Size], records: int) -> dict[str, tuple[float, float]]:
    """By row the forecast for that many records, and the exponent between the two largest sizes.

    Rows that not all sizes have are left out. Raises ValueError for fewer than two sizes.
    """
    if len(sizes) < 2:
        raise ValueError(
            f"{len(sizes)} size is measured; a forecast takes two, such as `python -m bench.simulate 0.03 0.1`"
        )
    ordered = sorted(sizes, key=lambda size: size["records"])
    counts = np.array([size["records"] for size in ordered], dtype=float)
    names = [name for name in ordered[-1]["rows"] if all(name in size["rows"] for size in ordered)]
    return {name: _forecast(counts, [size["rows"][name] for size in ordered], records) for name in names}


def _forecast(counts: np.ndarray[Any, Any], values: Sequence[float], records: int) -> tuple[float, float]:
    slope, fixed = np.polyfit(counts, values, 1)
    last, before = values[-1], values[-2]
    exponent = math.log(last / before) / math.log(counts[-1] / counts[-2]) if min(last, before) > 0 else math.nan
    return float(max(0.0, fixed + slope * records)), exponent


def main(arguments: Sequence[str]) -> int:
    """Measures the sizes that are named, or prints a forecast; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulate", description="Measure and foretell growth.")
    parser.add_argument("scales", nargs="*", type=float, help="1 is 1,100,000 records")
    parser.add_argument("--foretell", type=int, metavar="RECORDS", help="print what the measured sizes foretell")
    parser.add_argument("--without-largest", action="store_true", help="foretell the largest size from the others")
    options = parser.parse_args(arguments)
    for scale in options.scales:
        measured = measure(scale)
        sizes = [size for size in _load() if size["records"] != measured["records"]]
        sizes = sorted([*sizes, measured], key=lambda size: size["records"])
        RESULTS.write_text(json.dumps({**report.machine(), "sizes": sizes}, indent=1) + "\n")
    if options.foretell or options.without_largest:
        sizes = _load()
        if len(sizes) < 2 + options.without_largest:
            parser.error(f"{len(sizes)} sizes are measured, too few; first run `python -m bench.simulate 0.03 0.1 0.3`")
        _print_forecast(sizes, options.foretell, without_largest=options.without_largest)
    return 0


def _load() -> list[Size]:
    return json.loads(RESULTS.read_text())["sizes"] if RESULTS.exists() else []


def _print_forecast(sizes: list[Size], records: int | None, *, without_largest: bool) -> None:
    largest = max(sizes, key=lambda size: size["records"])
    known = [size for size in sizes if size is not largest] if without_largest else sizes
    count = largest["records"] if without_largest else records or 0
    header = [f"{count:,} records", "forecast", "exponent", *(["measured", "off by"] if without_largest else [])]
    table = []
    for name, (value, exponent) in foretell(known, count).items():
        row = [name, f"{value:,.3g}", f"{exponent:.2f}", *([""] * (len(header) - 3))]
        if without_largest and (measured := largest["rows"].get(name)):
            row[3:] = [f"{measured:,.3g}", f"{value / measured - 1:+.0%}"]
        table.append(row)
    print(aligned([header, *table]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
