"""Plants 500 values in all kinds and fields, takes half of them away by editing the sources and has half forgotten, and
looks for them in every byte of the archive, and of the bucket of its lake with every version that it keeps
(`make canaries`; minutes).
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests import canaries, s3_server

COUNT, KEPT = 500, 50


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen; exit code 1 where anything is left."""
    with tempfile.TemporaryDirectory() as folder, s3_server.serving() as server:
        found = canaries.run(Path(folder), COUNT, KEPT, bucket=server.bucket(versioned=True))
    ways = Counter(canaries.WAYS[number % len(canaries.WAYS)] for number in range(COUNT))
    print(f"planted: {COUNT} ({', '.join(f'{count} {way}' for way, count in ways.items())}), and {KEPT} that stay")
    for value, files in found.left.items():
        print(f"left: {value!r} in {', '.join(files)}")
    print(
        f"{len(found.left)} of {COUNT} found in {found.files} files and {found.objects} objects of the bucket; "
        f"of those that stay, {len(found.lost)} are missing"
    )
    gc.unfreeze()  # a sync is meant to be the last of its process; DuckDB would name all that it never collected
    sys.exit(bool(found.left or found.lost or any(code > 1 for code in found.codes)))


if __name__ == "__main__":
    main()
