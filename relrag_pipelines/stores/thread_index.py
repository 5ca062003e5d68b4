"""Which thread every mail of a source belongs to, and what it is called: private/threads/<source>.parquet.

Both follow from all mails of the source together: one mail that arrives can join two threads, give one its true
beginning, or bear the Message-ID of another. The index holds what is needed for that, and the threads and ids as they
were last written into the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import Record
from relrag_pipelines.sources import mail_ids
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
        pa.field("id_as_read", pa.string()),
        pa.field("ts", pa.int64()),
    ]
)


def has_index(home: Path, source: str) -> bool:
    """Whether there is an index of that source."""
    return _path(home, source).exists()


def rows(months: Sequence[str], unit: str, records: Sequence[Record]) -> pa.Table:
    """The index rows of a unit's records, each with its month: of mails, and of mails attached to mails."""
    both = [pair for pair in zip(months, records, strict=True) if pair[1].index_in_parent is None or _refers(pair[1])]
    mails = [record for _, record in both]
    return pa.table(
        {
            "asset_id": [mail.asset_id for mail in mails],
            "unit": [unit] * len(mails),
            "month": [month for month, _ in both],
            "references": [mail.extra.get("references", []) for mail in mails],
            "gmail_thread": [mail.extra.get("gmail_thread") for mail in mails],
            "thread_id": [None] * len(mails),
            "id_as_read": [mail.asset_id for mail in mails],
            "ts": [mail.ts for mail in mails],
        },
        schema=_SCHEMA,
    )


def _refers(record: Record) -> bool:
    return "references" in record.extra


class ThreadIndex:
    """The threads and ids of a source after a change: those units' mails replaced, these added."""

    def __init__(
        self,
        home: Path,
        source: str,
        replaced: Iterable[str],
        added: Sequence[pa.Table],
        is_reserved: Callable[[str], bool] | None = None,
    ) -> None:
        """`is_reserved` says that no mail may be called so: a forgotten one is."""
        self._home, self._place = home, _path(home, source)
        stored = _load(home, source)
        remaining = stored.filter(pc.invert(pc.is_in(stored["unit"], pa.array(sorted(replaced), pa.string()))))
        table = pa.concat_tables([remaining, *added]).combine_chunks()
        threads = _threads(table)
        self._shared = mail_ids.SharedIds(table["id_as_read"], table["ts"], is_reserved)
        ids = self._shared.names(table["id_as_read"])
        differ = pc.or_(_differ(table["thread_id"], threads), _differ(table["asset_id"], ids))
        self.moved = set(pc.unique(table["month"].filter(differ)).to_pylist())
        """months with a mail that is new, or whose thread or id is another than the one last written"""
        table = table.set_column(table.schema.get_field_index("thread_id"), "thread_id", threads)
        self._table = table.set_column(0, _SCHEMA.field("asset_id"), ids)

    def assign(self, month: str, records: pa.Table) -> pa.Table:
        """The records of a month with their ids and threads; an attachment is in its mail's thread."""
        records = self._with_ids(records)
        mails = self._table.filter(pc.equal(self._table["month"], month))
        thread_of = dict(zip(mails["asset_id"].to_pylist(), mails["thread_id"].to_pylist(), strict=True))
        columns = (records[name].to_pylist() for name in ("asset_id", "parent_asset_id"))
        threads_ = [thread_of.get(own) or thread_of.get(parent or "") for own, parent in zip(*columns, strict=True)]
        return _replace(records, "thread_id", pa.array(threads_, pa.string()))

    def _with_ids(self, records: pa.Table) -> pa.Table:
        """The records under their current ids, attachments with the current ids of their mails."""
        before = records["asset_id"]
        as_read = pa.array(mail_ids.ids_as_read(records), pa.string()) if self._shared.plain else before
        after = self._shared.names(as_read)
        if not pc.any(pc.not_equal(before, after)).as_py():
            return records
        attached = pc.is_valid(records["index_in_parent"])
        names = dict(zip(before.to_pylist(), after.to_pylist(), strict=True))
        above = records["parent_asset_id"]
        containers = pa.array([names.get(parent_id or "", parent_id) for parent_id in above.to_pylist()], pa.string())
        parent = pc.if_else(attached, containers, above)
        native = pc.replace_substring_regex(after, "^[^:]*:", "")
        group = pc.if_else(attached, pc.replace_substring_regex(parent, "^[^:]*:", ""), native)
        columns = {"asset_id": after, "source_id": native, "parent_asset_id": parent, "parent_ref": group}
        for name, values in columns.items():
            records = _replace(records, name, values)
        return records

    def save(self) -> None:
        """Stores the index; to be called when the records are written."""
        with replace_file(self._place) as temporary:
            order = [("asset_id", "ascending"), ("unit", "ascending"), ("id_as_read", "ascending")]
            pq.write_table(self._table.sort_by(order), temporary)
            private_manifest.expect(self._home, self._place.relative_to(self._home).as_posix(), file_hash(temporary))


def _load(home: Path, source: str) -> pa.Table:
    """The index as it is stored; where it cannot be read, made again from the private records, which say the same."""
    try:
        table = parquet_file.read(_path(home, source), schema=_SCHEMA)
        # an older one has none
        return _replace(table, "id_as_read", pc.coalesce(table["id_as_read"], table["asset_id"]))
    except FileNotFoundError:
        return _SCHEMA.empty_table()
    except (pa.ArrowException, OSError):
        months = sorted(lake.manifest(home, "private_records", source))
        return pa.concat_tables([_SCHEMA.empty_table(), *(_of_month(home, source, month) for month in months)])


def _of_month(home: Path, source: str, month: str) -> pa.Table:
    records = lake.read(home, "private_records", source, month)
    extra = [orjson.loads(text) for text in records["extra"].to_pylist()]
    table = pa.table(
        {
            "asset_id": records["asset_id"],
            "unit": records["unit"],
            "month": pa.repeat(month, records.num_rows),
            "references": pa.array([fields.get("references", []) for fields in extra], pa.list_(pa.string())),
            "gmail_thread": pa.array([fields.get("gmail_thread") for fields in extra], pa.string()),
            "thread_id": records["thread_id"],
            "id_as_read": mail_ids.ids_as_read(records),
            "ts": records["ts"],
        }
    ).cast(_SCHEMA)
    attached = pc.is_valid(records["index_in_parent"]).to_numpy()
    refers = np.array(["references" in fields for fields in extra], dtype=bool)
    return table.filter(pa.array(~attached | refers))


def _threads(table: pa.Table) -> pa.Array:
    """The thread of every row; equal mails of several units count once."""
    plain = mail_ids.plain_ids(table["id_as_read"])
    columns = (values.to_pylist() for values in (plain, table["references"], table["gmail_thread"]))
    mails = (ThreadedMail(own, above, None, gmail) for own, above, gmail in zip(*columns, strict=True))
    return pa.array([mail.thread_id for mail in thread(mails)], pa.string())


def _replace(table: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values)


def _differ(before: pa.ChunkedArray, after: pa.Array) -> pa.ChunkedArray:
    return pc.fill_null(pc.not_equal(before, after), True)


def _path(home: Path, source: str) -> Path:
    return home / "private" / "threads" / f"{source}.parquet"
