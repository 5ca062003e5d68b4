"""Who launched a run: by its tags, or by the command that executes it."""

import sys
from pathlib import Path

import dagster as dg
import pytest

from relrag_pipelines.assets import run_tags
from tests import archive
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_run_says_who_launched_it"))
def test_a_run_says_who_launched_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], tags: dict[str, str], launcher: str
) -> None:
    monkeypatch.setattr(sys, "argv", command)
    workspace = archive.workspace(archive.make(tmp_path))
    found = run_tags.describe_run(workspace, [dg.AssetKey(["chat", "export"])], tags)
    assert found["relrag/launched_by"] == launcher
