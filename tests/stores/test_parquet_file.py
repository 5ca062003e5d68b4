"""One parquet file, as it is and in the shape of a schema."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.stores import parquet_file


def test_a_file_is_read_whole_by_columns_and_in_the_shape_of_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "source=x" / "2024-01.parquet"  # no part of a path is taken for a column
    path.parent.mkdir()
    held = pa.table({"id": ["a", "b", "c"], "count": pa.array([1, 2, 3], pa.int64())})
    pq.write_table(held.replace_schema_metadata({"by": "someone"}), path, row_group_size=2)
    assert parquet_file.read(path).equals(held)
    assert parquet_file.read(path, ["count"]).to_pydict() == {"count": [1, 2, 3]}
    shaped = parquet_file.read(path, schema=held.schema)
    assert shaped.equals(held)
    assert shaped.schema.equals(held.schema, check_metadata=True)
    with pytest.raises(pa.ArrowInvalid, match="columns are missing: later"):
        parquet_file.read(path, ["count", "later"])
    wanted = pa.schema([("later", pa.string()), ("id", pa.string())])
    assert parquet_file.read(path, schema=wanted).to_pydict() == {"later": [None] * 3, "id": ["a", "b", "c"]}
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(pa.ArrowException):
        parquet_file.read(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        parquet_file.read(path)
