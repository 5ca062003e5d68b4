"""Rows that are in order, and others."""

import random

import pyarrow as pa

from relrag_pipelines.stores.row_order import in_order


def test_rows_in_order_are_those_that_a_sort_gives_in_one_piece() -> None:
    chance, key = random.Random(4), ["letter", "number", "word"]
    for _ in range(500):
        rows = [
            {"letter": chance.choice("xy"), "number": chance.randrange(3), "word": chance.choice(["a", "b", None])}
            for _ in range(chance.randrange(7))
        ]
        table = pa.Table.from_pylist(
            rows, pa.schema({"letter": pa.string(), "number": pa.int64(), "word": pa.string()})
        )
        table = table.append_column("row", pa.array(range(len(rows)), pa.int64()))
        expected = table.sort_by([(name, "ascending") for name in key])
        for given in (table, expected, pa.concat_tables([expected[:2], expected[2:]])):
            ordered = in_order(given, key)
            assert ordered.equals(expected)
            assert all(column.num_chunks <= 1 for column in ordered.columns)
