"""Units with failures are read again though their files are unchanged, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.ingest import failure_retry
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import unit_state
from relrag_query.cli.commands.failures import retry
from tests import ROOT, archive


def make(folder: Path) -> Path:
    config = archive.make(folder)
    (folder / "papers" / "one.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "papers" / "two.pdf").write_bytes(b"%PDF-1.4 broken as well")
    archive.sync(config)
    return config


@pytest.mark.parametrize(
    ("source", "file", "paths"),
    [
        ("", "", {"one.pdf", "two.pdf"}),
        ("papers", "", {"one.pdf", "two.pdf"}),
        ("papers", "two.pdf", {"two.pdf"}),
        ("chat", "", set()),
    ],
)
def test_only_what_failed_is_read_again(source: str, file: str, paths: set[str], tmp_path: Path) -> None:
    config = make(tmp_path)
    assert retry(config, source=source, file=file) == 0
    workspace = archive.workspace(config)
    states = unit_state.load(workspace.home, "papers")
    assert {path for path, state in states.items() if state.reader == unit_state.RETRY} == paths
    exports = {export.source: (export.changed, export.why) for export in plans.build_plan(workspace).exports}
    assert exports == ({"papers": (len(paths), {"what failed in them is tried again": len(paths)})} if paths else {})


def test_a_failure_that_is_gone_leaves_the_list(tmp_path: Path) -> None:
    config = make(tmp_path)
    workspace = archive.workspace(config)
    source = workspace.settings.source("papers")
    assert failure_retry.mark(workspace, source, "one.pdf") == 1
    readable = (ROOT / "examples/archive/documents/invoices/INV-1187.pdf").read_bytes()
    (tmp_path / "papers" / "one.pdf").write_bytes(readable)
    ingest(workspace, source)
    assert failure_retry.failed_units(workspace, source) == {"two.pdf"}


def test_a_file_in_which_nothing_failed_is_told(tmp_path: Path) -> None:
    config = make(tmp_path)
    with pytest.raises(SettingsError, match="nothing failed in lease"):
        retry(config, source="papers", file="lease 2024-01-05.md")
