"""Plants 500 values in all kinds and fields, takes half of them away by editing the sources and has half forgotten, and
looks for them in every byte of the archive, and of the bucket of its lake with every version that it keeps
(`make canaries`; minutes). A second archive is synced by Ray, and all that its cluster has written is searched before
its folder is emptied.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.workers import ray_tasks
from relrag_query.cli.commands.sync import sync
from tests import canaries, s3_server

COUNT, KEPT = 500, 50
RAY_COUNT = 60
CONTROL = "zcontrol9"


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
    with tempfile.TemporaryDirectory() as folder:
        in_ray = search_ray(Path(folder))
    gc.unfreeze()  # a sync is meant to be the last of its process; DuckDB would name all that it never collected
    sys.exit(bool(found.left or found.lost or in_ray or any(code > 1 for code in found.codes)))


def search_ray(folder: Path) -> dict[str, int]:
    """The files of Ray that hold a planted value when a sync ends, each with how many values."""
    holding: dict[str, int] = {}
    searched: list[int] = []
    empty = ray_tasks.sweep
    values = [*canaries._values(RAY_COUNT), CONTROL]

    def search_first(home: Path) -> None:
        ray_folder = home / ray_tasks.FOLDER
        if ray_folder.is_dir():
            (ray_folder / "control").write_text(CONTROL)
            result = byte_search.search(ray_folder, values)
            assert result.holding.pop("control", 0) == 1, "the search sees nothing"
            searched.append(result.files)
            holding.update(result.holding)
        empty(home)

    with patch.object(canaries, "CONFIG", f'executor = "ray"\n{canaries.CONFIG}'):
        canaries.plant(folder, RAY_COUNT, 0)
    with patch.object(ray_tasks, "sweep", search_first):
        code = sync(folder / "relrag.toml", full=True)
    assert code < 2, code
    assert searched, "no sync used Ray"
    print(f"with Ray: {len(holding)} of {sum(searched)} files of its folder hold a value: {holding or 'none'}")
    return holding


if __name__ == "__main__":
    main()
