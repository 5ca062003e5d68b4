"""Which replaced values a row outside private/ may hold, by the policies of the channels it comes from.

One channel may show what another hides. A row of a record, or of what is made of one, may hold what the record's
channel shows; one of a source what any of its records shows; any other what any record of the archive shows.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import known_columns, leaked_records, redact_tables, reveal
from relrag_pipelines.pii.known_values import NO_VALUES, KnownValues
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace

EntitiesByRow = dict[int, set[str]]
"""number of a row -> entities of the values that it holds and may not"""


class LeakRules:
    """The values that were replaced in an archive, and where each may stand."""

    def __init__(self, workspace: Workspace, names: Collection[str] | None = None) -> None:
        """Only the values of these pseudonyms, where they are given. Raises VaultError where they cannot be read."""
        self._workspace = workspace
        settings = workspace.settings
        self._sources = {source.name: source for source in settings.sources}
        self._hidden = functools.cache(workspace.redactor.hidden_entities)
        self.known = NO_VALUES
        if settings.pii_redaction_enabled:
            self.known = reveal.known_values(workspace.home, workspace.keys, settings.pii_allow_list, names)
        self._restrict = functools.cache(self.known.restrict)

    def leaks(self, rows: pa.Table, source: str | None = None, *, thorough: bool = False) -> EntitiesByRow:
        """The rows that hold what they may not, of a table of that source, of one that names sources, or of neither.

        What shows in some channel only is looked for in rows of no one record where `thorough` says so: each record of
        the archive is read for it.
        """
        if not self.known:
            return {}
        of_records = "rag_source_type" in rows.column_names
        if source is None and of_records and "source" in rows.column_names:
            return self._of_each_source(rows, thorough)
        if source in self._sources and of_records:
            channel = self._workspace.channel(self._sources[source])
            return leaked_records.find(rows, self.known, self._workspace.redactor, channel)
        return self._of_several(rows, [source] if source in self._sources else self._sources, thorough)

    def any_value(self, rows: pa.Table) -> EntitiesByRow:
        """The rows that hold any value, whatever the policies; for what has no text of the archive at all."""
        return _entities(rows, self.known)

    def hidden_everywhere(self, text: str) -> bool:
        """Whether the text holds a value of a kind that no record of the archive shows."""
        return bool(self._restrict(self._hidden_in_all(frozenset(self._sources))).values_in(text))

    def _of_each_source(self, rows: pa.Table, thorough: bool) -> EntitiesByRow:
        leaks: EntitiesByRow = {}
        for source in pc.unique(rows["source"]).to_pylist():
            rows_of_source = pc.indices_nonzero(pc.equal(rows["source"], source)).to_pylist()
            part = rows.take(pa.array(rows_of_source, pa.int64()))
            if source not in self._sources:
                part = part.drop_columns("rag_source_type")
            leaks |= {
                rows_of_source[number]: entities_
                for number, entities_ in self.leaks(part, source, thorough=thorough).items()
            }
        return leaks

    def _of_several(self, rows: pa.Table, sources: Iterable[str], thorough: bool) -> EntitiesByRow:
        everywhere = self._hidden_in_all(frozenset(sources))
        leaks = _entities(rows, self._restrict(everywhere))
        if thorough:
            for number, values in known_columns.rows_that_hold(rows, self.known):
                apart = {
                    value.entity
                    for value in values
                    if value.entity not in everywhere and value.canonical not in self._shown
                }
                if apart:
                    leaks[number] = leaks.get(number, set()) | apart
        return leaks

    @functools.cache  # noqa: B019  as long as the rules
    def _hidden_in_all(self, sources: frozenset[str]) -> frozenset[str]:
        """The entities that no record of these sources shows."""
        each = [self._hidden(channel) for name in sorted(sources) for channel in sorted(self._channels[name])]
        return frozenset.intersection(*each) if each else self.known.entities

    @functools.cached_property
    def _channels(self) -> dict[str, set[str]]:
        """The channels of the records that there are, by source."""
        home = self._workspace.home
        return {
            name: {
                redact_tables.channel_of(kind, self._workspace.channel(source))
                for month in lake.month_files(home, "records", name)
                for kind in lake.read(home, "records", name, month, ["rag_source_type"])[0].unique().to_pylist()
            }
            for name, source in self._sources.items()
        }

    @functools.cached_property
    def _shown(self) -> frozenset[str]:
        """The values that records of the lake show as their policy has it."""
        shown: set[str] = set()
        entities = self.known.entities
        for name, source in self._sources.items():
            for month in lake.month_files(self._workspace.home, "records", name):
                rows = lake.read(self._workspace.home, "records", name, month)
                for kind in pc.unique(rows["rag_source_type"]).to_pylist():
                    hidden = self._hidden(redact_tables.channel_of(kind, self._workspace.channel(source)))
                    part = rows.filter(pc.equal(rows["rag_source_type"], kind))
                    for _, values in known_columns.rows_that_hold(part, self._restrict(entities - hidden)):
                        shown.update(value.canonical for value in values)
        return frozenset(shown)


def _entities(rows: pa.Table, known: KnownValues) -> EntitiesByRow:
    return {number: {value.entity for value in values} for number, values in known_columns.rows_that_hold(rows, known)}
