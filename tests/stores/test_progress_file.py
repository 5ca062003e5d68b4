"""Whoever writes tells how far it is, and nobody does for a process that has ended."""

import json
import subprocess
import sys
from pathlib import Path

from relrag_pipelines.stores import process_identity, progress_file


def test_steps_have_a_share_and_the_time_that_is_left(tmp_path: Path) -> None:
    now = 1000.0
    recorder = progress_file.Recorder(tmp_path, lambda: now)
    recorder("family: export", 0, 8)
    now = 1010.0
    recorder("family: export", 2, 8)
    recorder("mail: fetch", 7, 0)
    progress = progress_file.load(tmp_path)
    assert progress
    family, mail = progress.steps
    assert (family.name, family.share, family.seconds, family.seconds_left) == ("family: export", 0.25, 10.0, 30.0)
    assert (mail.share, mail.seconds_left) == (0.0, None)
    assert (tmp_path / progress_file.NAME).stat().st_mode & 0o077 == 0
    recorder.close()
    assert progress_file.load(tmp_path) is None


def test_the_file_is_written_four_times_a_second_at_most_and_when_a_step_ends(tmp_path: Path) -> None:
    now = 1000.0
    recorder = progress_file.Recorder(tmp_path, lambda: now)

    def done() -> int:
        progress = progress_file.load(tmp_path)
        assert progress
        return progress.steps[0].done

    recorder("notes: export", 0, 3)
    now = 1000.1
    recorder("notes: export", 1, 3)
    assert done() == 0
    now = 1000.3
    recorder("notes: export", 2, 3)
    assert done() == 2
    recorder("notes: export", 3, 3)
    assert done() == 3


def test_progress_of_a_process_that_was_killed_is_none(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        identity = process_identity.identify(other.pid)
        file = tmp_path / progress_file.NAME
        file.parent.mkdir()
        file.write_text(json.dumps({"process": identity, "steps": []}))
        assert progress_file.load(tmp_path)
        other.kill()
        other.wait()
        assert progress_file.load(tmp_path) is None
