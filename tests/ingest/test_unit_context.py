"""Units are read again when a file changes that they are read with, wherever it lies."""

from pathlib import Path

import pytest

from relrag_pipelines.ingest.scan import reader_with_context, scan_units
from relrag_pipelines.records import UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS
from tests.cases import cases


def changed_by(kind: str, root: Path, name: str) -> tuple[str, ...]:
    """The units that are read again once a file has other contents, or is there at last."""
    source = Source.model_validate({"name": "own", "kind": kind, "path": "own"})
    units = scan_units(root, KINDS[kind], source, {}, "reader").units
    known = {
        path: UnitState(path, unit.size, unit.mtime_ns, "hash", reader_with_context(unit, "reader", str), [])
        for path, unit in units.items()
    }
    assert scan_units(root, KINDS[kind], source, known, "reader").changed_units == ()
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("other contents")
    return scan_units(root, KINDS[kind], source, known, "reader").changed_units


@pytest.mark.parametrize(*cases(__file__, "a_file_that_a_unit_is_read_with"))
def test_a_file_that_a_unit_is_read_with(
    kind: str, units: list[str], name: str, changed: list[str], tmp_path: Path
) -> None:
    for unit in units:
        (tmp_path / unit).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / unit).write_text("{}")
    assert sorted(changed_by(kind, tmp_path, name)) == changed


def test_a_source_of_one_file_depends_on_the_lists_beside_it(tmp_path: Path) -> None:
    (tmp_path / "messages.json").write_text("{}")
    source = Source.model_validate({"name": "own", "kind": "google_chat", "path": "own"})
    before = scan_units(tmp_path / "messages.json", KINDS["google_chat"], source, {}, "reader").units
    (tmp_path / "group_info.json").write_text("{}")
    after = scan_units(tmp_path / "messages.json", KINDS["google_chat"], source, {}, "reader").units
    assert before["messages.json"].siblings_fingerprint != after["messages.json"].siblings_fingerprint
