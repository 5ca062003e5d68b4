"""Which thread every mail of a source belongs to: private/threads/<source>.parquet.

A thread follows from all mails of the source together, so one mail that arrives can join two threads, or give one its
true beginning. The index holds what is needed for that, and the threads as they were last written into the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail.threads import ThreadedMail, thread
from relrag_pipelines.stores import lake, parquet_file, private_manifest

_SCHEMA = pa.schema(
    [
        pa.field("asset_id", pa.string(), nullable=False),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("month", pa.string(), nullable=False),
        pa.field("references", pa.list_(pa.string()), nullable=False),
        pa.field("gmail_thread", pa.string()),
        pa.field("thread_id", pa.string()),
    ]
)


def has_index(home: Path, source: str) -> bool:
    """Whether there is an index of that source."""
    return _path(home, source).exists()


def rows(months: Sequence[str], unit: str, records: Sequence[Record]) -> pa.Table:
    """What the index holds of records of a unit, each of its month: of mails, and of messages attached to them."""
    both = [one for one in zip(months, records, strict=True) if one[1].index_in_parent is None or _refers(one[1])]
    mails = [record for _, record in both]
    return pa.table(
        {
            "asset_id": [one.asset_id for one in mails],
            "unit": [unit] * len(mails),
            "month": [month for month, _ in both],
            "references": [one.extra.get("references", []) for one in mails],
            "gmail_thread": [one.extra.get("gmail_thread") for one in mails],
            "thread_id": [None] * len(mails),
        },
        schema=_SCHEMA,
    )


def _refers(record: Record) -> bool:
    return "references" in record.extra


class ThreadIndex:
    """The threads of a source after a change: those units' mails replaced, these added."""

    def __init__(self, home: Path, source: str, replaced: Iterable[str], added: Sequence[pa.Table]) -> None:
        self._home, self._place = home, _path(home, source)
        before = _load(home, source)
        kept = before.filter(pc.invert(pc.is_in(before["unit"], pa.array(sorted(replaced), pa.string()))))
        table = pa.concat_tables([kept, *added]).combine_chunks()
        threads = _threads(table)
        self.moved = set(pc.unique(table["month"].filter(_differ(table["thread_id"], threads))).to_pylist())
        """months with a mail whose thread is another than the one last written, or that is new"""
        self._table = table.set_column(table.schema.get_field_index("thread_id"), "thread_id", threads)

    def assign(self, month: str, records: pa.Table) -> pa.Table:
        """The records of a month with their threads; what is attached to a mail is in the mail's."""
        mails = self._table.filter(pc.equal(self._table["month"], month))
        thread_of = dict(zip(mails["asset_id"].to_pylist(), mails["thread_id"].to_pylist(), strict=True))
        columns = (records[name].to_pylist() for name in ("asset_id", "parent_asset_id"))
        found = [thread_of.get(own) or thread_of.get(parent or "") for own, parent in zip(*columns, strict=True)]
        return records.set_column(
            records.schema.get_field_index("thread_id"), "thread_id", pa.array(found, pa.string())
        )

    def save(self) -> None:
        """Stores the index; to be called when the records are written."""
        with replace_file(self._place) as beside:
            pq.write_table(self._table.sort_by([("asset_id", "ascending"), ("unit", "ascending")]), beside)
            private_manifest.expect(self._home, self._place.relative_to(self._home).as_posix(), file_hash(beside))


def _load(home: Path, source: str) -> pa.Table:
    """The index as it is stored; where it cannot be read, made again from the private records, which say the same."""
    try:
        return parquet_file.read(_path(home, source), schema=_SCHEMA)
    except FileNotFoundError:
        return _SCHEMA.empty_table()
    except (pa.ArrowException, OSError):
        months = sorted(lake.manifest(home, "private_records", source))
        return pa.concat_tables([_SCHEMA.empty_table(), *(_of_month(home, source, month) for month in months)])


def _of_month(home: Path, source: str, month: str) -> pa.Table:
    records = lake.read(home, "private_records", source, month)
    extra = [orjson.loads(one) for one in records["extra"].to_pylist()]
    found = pa.table(
        {
            "asset_id": records["asset_id"],
            "unit": records["unit"],
            "month": pa.repeat(month, records.num_rows),
            "references": pa.array([one.get("references", []) for one in extra], pa.list_(pa.string())),
            "gmail_thread": pa.array([one.get("gmail_thread") for one in extra], pa.string()),
            "thread_id": records["thread_id"],
        }
    ).cast(_SCHEMA)
    attached = pc.is_valid(records["index_in_parent"]).to_numpy()
    refers = np.array(["references" in one for one in extra], dtype=bool)
    return found.filter(pa.array(~attached | refers))


def _threads(table: pa.Table) -> pa.Array:
    """The thread of every row; equal mails of several units count once."""
    columns = (table[name].to_pylist() for name in ("asset_id", "references", "gmail_thread"))
    mails = (ThreadedMail(own, above, None, gmail) for own, above, gmail in zip(*columns, strict=True))
    return pa.array([found.thread_id for found in thread(mails)], pa.string())


def _differ(before: pa.ChunkedArray, after: pa.Array) -> pa.ChunkedArray:
    return pc.fill_null(pc.not_equal(before, after), True)


def _path(home: Path, source: str) -> Path:
    return home / "private" / "threads" / f"{source}.parquet"
