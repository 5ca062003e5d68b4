"""Tests the retrievers with the packages of a folder behind those of this environment (`make adapters`)."""

from __future__ import annotations

import sys

import pytest

TESTS = ["tests/test_langchain.py", "tests/test_llama_index.py"]


class Skips:
    """Counts the tests that were skipped: here each of them is to run."""

    def __init__(self) -> None:
        self.count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """As pytest calls it for each part of a test."""
        self.count += report.skipped

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """As pytest calls it for each file that it collects."""
        self.count += report.skipped


def main() -> None:
    """Runs them; exit code 1 where one fails or is skipped."""
    sys.path.append(sys.argv[1])
    skips = Skips()
    code = pytest.main(["-q", "-p", "no:xdist", *TESTS], plugins=[skips])
    sys.exit(int(code) or skips.count > 0)


if __name__ == "__main__":
    main()
