"""Breaks the code that meets a requirement, in a copy, and shows that the test that claims it fails (`make mutants`).

Each row of mutants.toml is one smallest change: a file, the text that is there once, what it becomes, the requirement
and the test. A row whose text is not there, or is there twice, is an error, and so is a test that fails without it.
Each core has a copy of the repository and takes the next row when it is free. `python -m tests.proofs.mutants S2-11`
takes the rows of one requirement.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests import ROOT

TABLE = Path(__file__).with_suffix(".toml")
_FAILED = 1
"""exit code of pytest where a test failed; others mean that none ran"""
_SECONDS, _SECONDS_OF_ALL = 240, 1_800
"""after which one test, and all of them without a change, are given up"""


@dataclass(frozen=True)
class Mutant:
    """One change and the test that must fail."""

    requirement: str
    file: str
    old: str
    new: str
    test: str

    @property
    def name(self) -> str:
        """Its requirement and its change, in one line."""
        return f"{self.requirement} {self.file}: {' '.join(self.new.split())[:60] or 'removed'}"


def load() -> list[Mutant]:
    """The rows of the table."""
    return [Mutant(**row) for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]]


def changed_text(mutant: Mutant, folder: Path) -> str:
    """The file with the change. Raises ValueError where its text is not there once."""
    text = (folder / mutant.file).read_text(encoding="utf-8")
    if (times := text.count(mutant.old)) != 1:
        raise ValueError(f"{mutant.name}: the text is there {times} times")
    return text.replace(mutant.old, mutant.new)


def copy_repository(folder: Path) -> None:
    """The files under version control, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def run_tests(folder: Path, tests: Sequence[str], seconds: int = _SECONDS) -> int:
    """Exit code of pytest. Raises subprocess.TimeoutExpired."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=seconds, check=False)
    return done.returncode


def outcome(mutant: Mutant, folder: Path) -> str:
    """What is wrong with one change in a copy of the repository; empty where its test caught it."""
    path = folder / mutant.file
    original = path.read_text(encoding="utf-8")
    try:
        path.write_text(changed_text(mutant, folder), encoding="utf-8")
        code = run_tests(folder, [mutant.test])
        return "" if code == _FAILED else f"its test ended with {code}"
    except (ValueError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        path.write_text(original, encoding="utf-8")


def outcomes(mutants: Sequence[Mutant], folders: Sequence[Path]) -> Iterator[tuple[Mutant, str]]:
    """Each change with what is wrong with it, as they end; one change at a time in each folder."""
    free: SimpleQueue[Path] = SimpleQueue()
    for folder in folders:
        free.put(folder)

    def run(mutant: Mutant) -> str:
        folder = free.get()
        try:
            return outcome(mutant, folder)
        finally:
            free.put(folder)

    with ThreadPoolExecutor(len(folders)) as pool:
        jobs = {pool.submit(run, mutant): mutant for mutant in mutants}
        for job in as_completed(jobs):
            yield jobs[job], job.result()


def main(requirements: Sequence[str]) -> int:
    """Applies the changes; 1 where one does not apply, or is not caught."""
    mutants = [mutant for mutant in load() if not requirements or mutant.requirement in requirements]
    begun, failures = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / str(number) for number in range(os.cpu_count() or 1)]
        for folder in folders:
            copy_repository(folder)
        tests = sorted({mutant.test for mutant in mutants})
        if run_tests(folders[0], [*tests, "-n", str(len(folders)), "--dist", "loadfile"], _SECONDS_OF_ALL):
            print("a test fails without any change; run the tests first")
            return 1
        print(f"without a change all tests pass, after {time.monotonic() - begun:.0f} s", flush=True)
        for mutant, wrong in outcomes(mutants, folders):
            failures += bool(wrong)
            print(f"{'NOT CAUGHT' if wrong else 'caught'}  {mutant.name}{f' ({wrong})' if wrong else ''}", flush=True)
    print(f"{len(mutants) - failures} of {len(mutants)} caught in {time.monotonic() - begun:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
