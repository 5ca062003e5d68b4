"""The data of a plan: the state of each source, and what is stale and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from relrag_pipelines.ingest.scan import SourceScan
from relrag_pipelines.stages.graph_index_plan import StaleGraph
from relrag_pipelines.stages.month_range import contiguous
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stages.whole_archive import ArchiveStage
from relrag_pipelines.stores.lake import Manifest, ManifestEntry

_LARGE_BYTES, _LARGE_MONTHS = 4_000_000, 200


NEW = "new"
"""the reason of what was never made"""
FOLLOWS = " of the month changes"
"""how the reason of a month ends that is made again only because what it is made from is"""
_ROWS = {
    "private_records": "records",
    "records": "records",
    "identifiers": "names and addresses in records",
    "chunks": "passages",
    "embeddings": "vectors of passages",
    "passage_statements": "statements that a language model found",
    "persons": "people",
    "person_relationships": "relationships of people",
}


def rows_of(table: str) -> str:
    """What stands in a table, in the words of whoever reads a plan."""
    return _ROWS.get(table, f"rows of {table}")


@dataclass(frozen=True)
class SourceState:
    """The current state of one source."""

    source: str
    scan: SourceScan | None
    """None when its path is missing"""
    problem: str
    """why its path could not be looked at; empty when it could"""
    manifests: Mapping[str, Manifest]
    """table -> manifest, private records included"""
    settings: Mapping[str, str]
    """stage -> the settings that matter to it, as stores/fingerprint.py writes them"""
    retain: bool = False
    """records of files that are gone stay"""
    was_interrupted: bool = False
    """a kill left its private records half replaced: its months wait for the export"""
    version_orders: Mapping[str, str] = field(default_factory=dict)
    """month -> what decides which version of a record counts, see month_stages.py"""


@dataclass(frozen=True)
class StaleUnits:
    """Units of one source that have to be read again."""

    source: str
    new: int
    changed: int
    gone: int
    bytes: int
    """of the new and changed ones"""
    text_bytes: int = field(default=0, compare=False)
    """of text that these hold, estimated"""
    why: dict[str, int] = field(default_factory=dict, compare=False)
    """why those are looked at again that were read before -> how many"""


@dataclass(frozen=True, order=True)
class StaleMonth:
    """One month of one stage of one source that has to be made again."""

    source: str
    month: str
    stage: str
    reason: str

    @property
    def follows(self) -> bool:
        """It is stale only because one of its inputs of the same month is."""
        return self.reason.endswith(FOLLOWS)


@dataclass(frozen=True)
class ArchiveState:
    """The current state of the stages over the whole archive."""

    stages: tuple[ArchiveStage, ...] = ()
    entries: Mapping[str, ManifestEntry | None] = field(default_factory=dict)
    """table -> what its manifest says; None where it was not made"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """stage -> what changes its output beside its inputs, as stores/fingerprint.py writes it"""
    unfinished: Mapping[str, str] = field(default_factory=dict)
    """stage -> why the next sync goes on with it"""


@dataclass(frozen=True)
class StaleStage:
    """One stage over the whole archive that has to be made again."""

    stage: str
    reason: str
    tables: tuple[str, ...]
    made_from: tuple[str, ...]
    """tables of months, directly or through other stages"""
    waits: bool = False
    """for months that are stale: it cannot be made before them"""


@dataclass(frozen=True)
class Plan:
    """What a sync would do."""

    exports: list[StaleUnits] = field(default_factory=list)
    stale: list[StaleMonth] = field(default_factory=list)
    publish: str = ""
    """why a new generation is needed; empty when the published one is up to date"""
    problems: list[str] = field(default_factory=list)
    """sources that cannot be looked at"""
    outdated: bool = False
    """the published generation is not made from what the lake holds now, or was not searched to the end"""
    archive: list[StaleStage] = field(default_factory=list)
    """stages over the whole archive, in the order in which they are made"""
    graphs: list[StaleGraph] = field(default_factory=list)
    """GraphRAG indexes, which are made after publishing"""
    unfinished: dict[str, str] = field(default_factory=dict)
    """stages over the whole archive that are up to date but did not come to an end, and why: what that costs is spent
    when somebody syncs"""
    servers: dict[str, str] = field(default_factory=dict)
    """sources on servers -> the host that every sync asks for changes; what has changed there is not known before"""
    zips: tuple[str, ...] = ()
    """sources with zips that are opened first; what is in them is not known before"""

    @property
    def empty(self) -> bool:
        """Nothing has to be done."""
        return not (self.exports or self.lake_is_stale or self.publish or self.graphs or self.unfinished or self.zips)

    @property
    def lake_is_stale(self) -> bool:
        """The lake is not up to date with the private records, so nothing of it can be published."""
        return bool(self.stale or self.archive)

    def drop_stage(self, stage: str) -> Plan:
        """The plan without the months of one stage and all that depends on them."""
        (table,) = (stage_.table for stage_ in STAGES if stage_.name == stage)
        return replace(
            self,
            stale=[month for month in self.stale if month.stage != stage],
            archive=[stage_ for stage_ in self.archive if table not in stage_.made_from],
        )

    def archive_assets(self) -> list[str]:
        """The tables of the whole archive that can be made now."""
        return [table for stage in self.archive if not stage.waits for table in stage.tables]

    @property
    def large(self) -> bool:
        """There is so much to do that more processes save more time than they take to start."""
        return sum(export.bytes for export in self.exports) > _LARGE_BYTES or len(self.stale) > _LARGE_MONTHS

    def runs(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """(first month, last month, [(source, stage), ...]) for each contiguous range, in order.

        Months that need the same stages of a source and follow each other are one range; sources that need the same
        range share it.
        """
        stages_of: dict[str, dict[str, set[str]]] = {}
        for month in self.stale:
            stages_of.setdefault(month.source, {}).setdefault(month.month, set()).add(month.stage)
        ranges: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for source, months in stages_of.items():
            for first, last, stages in contiguous(months):
                together = [(source, stage.name) for stage in STAGES if stage.name in stages]
                ranges.setdefault((first, last), []).extend(together)
        return [(first, last, ranges[first, last]) for first, last in sorted(ranges)]
