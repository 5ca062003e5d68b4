"""Finds what is personal data under the current policies in records that were indexed under older ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb

from relrag_pipelines.pii import RedactionError, record_values
from relrag_pipelines.pii.record_values import RecordValues
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.workspace import Workspace

DEFAULT = "default"
"""the channel of what no source holds, such as facts about people"""
_MOST_REMEMBERED = 1 << 14
"""records whose values are kept"""
_RECORDS = "SELECT * FROM indexed_records WHERE asset_id IN (SELECT unnest($ids))"
_ChannelValues = tuple[str, RecordValues | None]
"""the channel of a record, and its values; None where it cannot be redacted"""


class IndexedRecords:
    """What is found in records, each looked at once, as a whole. Threads may share it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, workspace: Workspace, columns: Collection[str]) -> None:
        """`columns` of the view `indexed_records` hold text."""
        self._connection, self._redactor, self._columns = connection, workspace.redactor, columns
        self._channels = {one.name: workspace.channel(one) for one in workspace.settings.sources}
        self._found: dict[str, _ChannelValues | None] = {}

    def channel_and_values(self, asset_ids: Sequence[str]) -> tuple[str, RecordValues]:
        """The channel of the first of the records, `DEFAULT` where there is none, and the values of all.

        Raises RedactionError where one of them cannot be redacted.
        """
        found = self._look_up(asset_ids)
        values = RecordValues()
        for _, some in found:
            if some is None:
                raise RedactionError("a record cannot be redacted")
            values = values | some if some else values
        return (found[0][0] if found else DEFAULT), values

    def _look_up(self, asset_ids: Sequence[str]) -> list[_ChannelValues]:
        held = self._found  # another thread may put an empty one in its place
        known = {one: held[one] for one in asset_ids if one in held}
        if missing := [one for one in asset_ids if one not in known]:
            if len(self._found) > _MOST_REMEMBERED:
                self._found = {}
            known |= self._read(missing)
            self._found.update(known)
        return [found for one in asset_ids if (found := known[one]) is not None]

    def _read(self, asset_ids: list[str]) -> dict[str, _ChannelValues | None]:
        """The records, read by a cursor of its own in the midst of a query; None for an id that no record has."""
        with self._connection.cursor() as cursor:
            cursor.execute(_RECORDS, {"ids": asset_ids})
            names = [one[0] for one in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        found: dict[str, _ChannelValues | None] = dict.fromkeys(asset_ids)
        for row in rows:
            channel = channel_of(row["rag_source_type"], self._channels.get(row["source"], DEFAULT))
            try:
                values = record_values.find_values(row, self._columns, self._redactor, channel)
            except Exception:  # noqa: BLE001  whatever went wrong, the record is withheld; a message may hold its text
                values = None
            found[row["asset_id"]] = (channel, values)
        return found
