"""The backfill: the graph fields, the universal fields and person ids, written into an older system's collection.

A point that has an `asset_id` has its fields; of such a point only person ids are written, where they differ. Of any
other the graph fields are written as a whole, in place of what it may hold under their names, since only together they
are true; universal fields only where it lacks them. Old vectors of relationships are removed, from payloads too. All
else stays. Points are written some hundred at a time, each with all of its fields at once, so after a kill the next run
goes on with those that have none.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.legacy import source_collections
from relrag_pipelines.legacy.point_person_ids import PersonIds, person_ids, union
from relrag_pipelines.settings import Source
from relrag_pipelines.sources.legacy.collection_layout import CollectionLayout
from relrag_pipelines.sources.legacy.payload import CHANNELS, GRAPH_FIELDS, OLD_VECTORS, PEOPLE_FIELDS, PointFields
from relrag_pipelines.sources.legacy_collection import LegacyCollection, LegacyPoint, PointChange
from relrag_pipelines.workspace import Workspace

_AT_ONCE = 500
"""points that are read and written together"""
Item = TypeVar("Item")


@dataclass
class BackfillReport:
    """What was done, or would be."""

    points: Counter[str] = field(default_factory=Counter)
    """channel -> points of the collections"""
    synthetic: int = 0
    """points that the older system made for itself, which are left alone"""
    unreadable: int = 0
    done: int = 0
    """points that had their fields"""
    changed: int = 0
    """points that were written"""
    new: int = 0
    """of these those that got their fields"""
    people: int = 0
    """of these those whose person ids are others now"""
    vectors: int = 0
    """of these those that had old vectors of relationships, which were dropped"""
    waiting: int = 0
    """points that have no fields yet"""
    snapshots: list[str] = field(default_factory=list)
    relations: Counter[str] = field(default_factory=Counter)
    """how many records, threads, attachments and records of several points the collections hold"""
    people_known: bool = True
    """whether something is published from which people are known"""


def backfill(
    workspace: Workspace,
    source: Source,
    channels: Collection[str] = CHANNELS,
    limit: int | None = None,
    *,
    dry_run: bool = False,
) -> BackfillReport:
    """Writes the fields of at most `limit` points of these channels; with `dry_run` nothing is written anywhere.

    Raises CollectionError, SourceNotFound, and OSError where the copy that is taken first cannot be made.
    """
    report = BackfillReport()
    for collection in source_collections.collections(workspace, source):
        with nullcontext() if dry_run else collection.exclusive():
            layout = CollectionLayout.from_points(collection.points(), workspace.zone(source.name))
            people = person_ids(workspace, layout.asset_ids())
            _describe(layout, report)
            report.people_known &= people is not None
            waiting = report.waiting
            changes = _changes(workspace, source, collection, layout, people or {})
            for batch in _batches(_select_changes(changes, channels, limit, report)):
                if not dry_run:
                    copy = source_collections.snapshot(workspace, source, collection)
                    report.snapshots = list(dict.fromkeys([*report.snapshots, copy]))
                    collection.write(batch)
                    failpoint("legacy.written", workspace.home)
            if not dry_run and report.waiting == waiting:
                source_collections.finish(workspace, source, collection)
    return report


def _describe(layout: CollectionLayout, report: BackfillReport) -> None:
    report.points.update(layout.points)
    report.relations.update(layout.counts)
    report.synthetic += layout.synthetic
    report.unreadable += len(layout.unreadable)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    items = iter(items)
    while batch := list(itertools.islice(items, _AT_ONCE)):
        yield batch


def _changes(
    workspace: Workspace,
    source: Source,
    collection: LegacyCollection,
    layout: CollectionLayout,
    people: Mapping[str, PersonIds],
) -> Iterator[tuple[str, PointChange]]:
    """Of each point its channel and what is to be written into it, which may be nothing."""
    total, seen = sum(layout.points.values()), 0
    for keys in _batches(itertools.chain.from_iterable(layout.records())):
        points = collection.fetch(keys)
        for key in keys:
            if key in points and (fields := layout.fields(points[key])):
                yield fields.channel, change_of(points[key], fields, _whose(fields, layout, people), layout)
        seen += len(keys)
        workspace.report(f"{source.name}: points", seen, total)


def _whose(fields: PointFields, layout: CollectionLayout, people: Mapping[str, PersonIds]) -> PersonIds:
    """Who has to do with a point; with one that repeats messages, who has to do with these."""
    nobody: PersonIds = ([], [])
    if not fields.is_window or fields.asset_id in people:
        return people.get(fields.asset_id, nobody)
    return union(people.get(asset_id, nobody) for asset_id in layout.members(fields))


def change_of(point: LegacyPoint, fields: PointFields, whose: PersonIds, layout: CollectionLayout) -> PointChange:
    """What is to be written into a point: all of its fields if it has none, and who it is of if that differs."""
    payload = point.payload or {}
    values: dict[str, Any] = {}
    for name, ids in zip(PEOPLE_FIELDS, whose, strict=True):
        if list(payload.get(name) or []) != ids:
            values[name] = ids
    if not payload.get("asset_id"):
        lacking = {name: value for name, value in universal(fields).items() if payload.get(name) in (None, "")}
        graph = (fields.asset_id, fields.parent_asset_id, fields.thread_id, fields.asset_id)
        values |= lacking | dict(zip(GRAPH_FIELDS, graph, strict=True))
    removed = tuple(name for name in OLD_VECTORS if name in payload)
    return PointChange(point.key, values, removed, layout.old_vectors.get(point.key, ()))


def universal(fields: PointFields) -> dict[str, Any]:
    """The universal fields that a point's record has, its time as ISO 8601."""
    fields_ = dict(fields.universal)
    if fields.ts is not None:
        try:
            moment = datetime.fromtimestamp(fields.ts, UTC).isoformat()
        except (OverflowError, ValueError, OSError):  # a year that no calendar has
            return fields_
        fields_["timestamp"] = moment[:10] if fields.date_quality == "day" else moment.replace("+00:00", "Z")
    return fields_


def _select_changes(
    changes: Iterable[tuple[str, PointChange]], channels: Collection[str], limit: int | None, report: BackfillReport
) -> Iterator[PointChange]:
    """The changes that are to be made now, all counted."""
    for channel, change in changes:
        is_new = "asset_id" in change.values
        report.done += not is_new
        if not (change.values or change.removed_fields or change.vectors):
            continue
        if channel not in channels or (limit is not None and report.changed >= limit):
            report.waiting += is_new
            continue
        report.changed += 1
        report.new += is_new
        report.people += any(name in change.values for name in PEOPLE_FIELDS)
        report.vectors += bool(change.removed_fields or change.vectors)
        yield change
