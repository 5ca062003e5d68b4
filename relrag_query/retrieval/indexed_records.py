"""Finds personal data, by the current policies, in records that were indexed under older ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb

from relrag_pipelines.pii import RedactionError, record_values
from relrag_pipelines.pii.record_values import RecordValues
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.workspace import Workspace

DEFAULT = "default"
"""the channel of texts without a source, such as facts about people"""
_MAX_CACHED_RECORDS = 1 << 14
"""records whose values are cached"""
_RECORDS = "SELECT * FROM indexed_records WHERE asset_id IN (SELECT unnest($ids))"
_ChannelValues = tuple[str, RecordValues | None]
"""the channel of a record, and its values; None where it cannot be redacted"""


class IndexedRecords:
    """Caches the personal data found in each record, which is searched once, as a whole. Threads may share it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, workspace: Workspace, columns: Collection[str]) -> None:
        """`columns` of the view `indexed_records` hold text."""
        self._connection, self._redactor, self._columns = connection, workspace.redactor, columns
        self._channels = {source.name: workspace.channel(source) for source in workspace.settings.sources}
        self._cache: dict[str, _ChannelValues | None] = {}

    def channel_and_values(self, asset_ids: Sequence[str]) -> tuple[str, RecordValues]:
        """The channel of the first of the records, `DEFAULT` where there is none, and the values of all.

        Raises RedactionError where one of them cannot be redacted.
        """
        channel_values = self._look_up(asset_ids)
        values = RecordValues()
        for _, own_values in channel_values:
            if own_values is None:
                raise RedactionError("a record cannot be redacted")
            values = values | own_values if own_values else values
        return (channel_values[0][0] if channel_values else DEFAULT), values

    def _look_up(self, asset_ids: Sequence[str]) -> list[_ChannelValues]:
        cache = self._cache  # another thread may replace it by an empty one
        results = {asset_id: cache[asset_id] for asset_id in asset_ids if asset_id in cache}
        if missing := [asset_id for asset_id in asset_ids if asset_id not in results]:
            if len(self._cache) > _MAX_CACHED_RECORDS:
                self._cache = {}
            results |= self._read(missing)
            self._cache.update(results)
        return [result for asset_id in asset_ids if (result := results[asset_id]) is not None]

    def _read(self, asset_ids: list[str]) -> dict[str, _ChannelValues | None]:
        """The records, read by a cursor of its own in the midst of a query; None for an id that no record has."""
        with self._connection.cursor() as cursor:
            cursor.execute(_RECORDS, {"ids": asset_ids})
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        results: dict[str, _ChannelValues | None] = dict.fromkeys(asset_ids)
        for row in rows:
            channel = channel_of(row["rag_source_type"], self._channels.get(row["source"], DEFAULT))
            try:
                values = record_values.find_values(row, self._columns, self._redactor, channel)
            except Exception:  # noqa: BLE001  whatever went wrong, the record is withheld; a message may hold its text
                values = None
            results[row["asset_id"]] = (channel, values)
        return results
