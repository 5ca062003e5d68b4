"""Plants 1,000 values and looks for them on every page and in every reply (part of `make planted`; minutes)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests import personal_data_pages

COUNT = 1000


def main() -> None:
    """Prints what was found; exit code 1 where anything was."""
    values = personal_data_pages.values(COUNT)
    with tempfile.TemporaryDirectory() as folder:
        found = personal_data_pages.leaks(personal_data_pages.plant(Path(folder), values), values)
    for value, where in found.items():
        print(f"shown: {value} by {where}")
    print(f"{len(found)} of {COUNT} planted values are shown")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
