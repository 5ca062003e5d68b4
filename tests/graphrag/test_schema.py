"""Our files have Microsoft's columns and types."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.graphrag import parquet
from relrag_pipelines.graphrag.build import build
from relrag_pipelines.graphrag.schema import ALL, OPTIONAL, SCHEMAS, to_arrow
from tests import passages


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("archive", [passages.ARCHIVE, passages.NOISE, []], ids=["archive", "no graph", "empty"])
def test_our_files_have_the_columns_and_types_of_microsofts(
    name: str, archive: list[object], shared_data: Path, tmp_path: Path
) -> None:
    microsofts = shared_data / "graphrag_christmas_carol" / f"{name}.parquet"
    if not microsofts.exists():
        pytest.skip("no index of A Christmas Carol among the shared test data")
    parquet.write(build(passages.table(archive)), tmp_path)  # type: ignore[arg-type]
    ours = pq.read_schema(tmp_path / f"{name}.parquet")
    assert ours.remove_metadata().to_string() == pq.read_schema(microsofts).remove_metadata().to_string()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    tables = build(passages.table(passages.ARCHIVE))
    parquet.write(tables, tmp_path)
    for name in ALL.keys() - OPTIONAL.keys():
        found = parquet.read(tmp_path, name)
        assert found is not None
        assert to_arrow(name, found).equals(to_arrow(name, tables[name]))
    assert parquet.read(tmp_path, "covariates") is None


def test_a_value_of_another_type_replaces_no_file(tmp_path: Path) -> None:
    tables = build(passages.table(passages.ARCHIVE))
    tables["entities"]["degree"] = "many"
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
        parquet.write(tables, tmp_path)
    assert list(tmp_path.iterdir()) == []
