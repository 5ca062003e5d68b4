"""Personal data of all sorts, planted in every kind of source: no command leaves any of it outside private/."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import personal_data


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_nothing_planted_is_found_outside_private_or_printed(tmp_path: Path) -> None:
    found = personal_data.run(tmp_path, 60, thorough=False)
    assert found.held == {}
    assert found.leaks == []
    assert found.said == []
    assert found.private >= 54
    assert found.files > 100
    assert found.codes["pii rotate-key"] in (0, 1)
    assert {name for name, code in found.codes.items() if code > 2} == set()
