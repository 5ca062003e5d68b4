"""What killed writers left goes with a forget, also while readers open the index."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from relrag_pipelines.erasure import purge


def test_half_files_go_while_readers_make_and_remove_folders(tmp_path: Path) -> None:
    place = tmp_path / "published" / "1" / "vectors"
    place.mkdir(parents=True)
    stop = threading.Event()

    def opening() -> None:
        while not stop.is_set():
            folders = [place / f".atomicwriteX{number}" for number in range(50)]
            for folder in folders:
                folder.mkdir()
            for folder in folders:
                folder.rmdir()

    halves = [
        tmp_path / ".state.7.tmp",
        place.parent / ".MANIFEST.json.7.tmp",
        tmp_path / "private" / ".a.parquet.7.tmp",
    ]
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(opening)
        try:
            for _ in range(200):
                for half in halves:
                    half.parent.mkdir(exist_ok=True)
                    half.touch()
                purge._clean_up(tmp_path)
                assert not any(half.exists() for half in halves)
        finally:
            stop.set()
        ended.result()
