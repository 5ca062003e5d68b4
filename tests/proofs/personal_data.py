"""Plants 1,000 values of personal data in every kind of source, runs every command over them, and looks for each in all
that is written outside private/ (`make planted`; minutes).
"""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

from tests import personal_data

COUNT = 1_000


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen; exit code 1 where any value is found."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory() as folder:
        found = personal_data.run(Path(folder), count)
    for name, code in found.codes.items():
        print(f"relrag {name}: exit {code}")
    for name, many in found.held.items():
        print(f"held: {many} in {name}")
    for leak in found.leaks:
        print(f"found again: {leak.entity} in {leak.path}, {leak.table}, {leak.record}")
    for said in found.said:
        print(f"printed: {said}")
    print(
        f"{count} planted, {found.private} of them in private records, {found.withheld} records left out; "
        f"{len(found.held)} of {found.files} files hold a value, {len(found.leaks)} rows"
    )
    gc.unfreeze()  # a sync is meant to be the last of its process; DuckDB would name all that it never collected
    sys.exit(bool(found.held or found.leaks or found.said or found.private < count * 9 // 10))


if __name__ == "__main__":
    main()
