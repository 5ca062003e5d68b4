"""How the points of a collection relate: parts, attachments, repetitions. No point alone shows it."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter

from relrag_pipelines.sources.legacy.payload import ATTACHMENT, MAIL, MESSAGE, PointFields, parse
from relrag_pipelines.sources.legacy.payload_values import PayloadError, whole_number
from relrag_pipelines.sources.legacy_collection import LegacyPoint


@dataclass
class CollectionLayout:
    """The result of one pass over all points."""

    timezone: str
    """IANA name of the zone of times without one"""
    points: Counter[str] = field(default_factory=Counter)
    """channel -> number of points"""
    unreadable: list[int | str] = field(default_factory=list)
    """points that cannot be read"""
    synthetic: int = 0
    """number of points that the older system made for itself, without content"""
    _rows: list[tuple[str, bool, str, int, str, int | str]] = field(default_factory=list)
    """chat, whether it is a window, asset_id, position, id and key of each point"""
    _attachments: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _messages: defaultdict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """chat -> time and asset_id of its messages, in order"""
    _ordinals: dict[int | str, int] = field(default_factory=dict)
    """key of a message that shares its id with earlier ones -> its number among them, from 2"""
    threads: set[str] = field(default_factory=set)
    old_vectors: dict[int | str, tuple[str, ...]] = field(default_factory=dict)
    """key of a point -> names in OLD_VECTORS of its vectors"""

    @classmethod
    def from_points(cls, points: Iterable[LegacyPoint], timezone: str) -> CollectionLayout:
        """The layout of all points of a collection, in any order."""
        layout = cls(timezone)
        messages_by_id: defaultdict[tuple[str, int], list[tuple[str, int, int | str]]] = defaultdict(list)
        for point in points:
            try:
                fields = layout._parse(point)
            except PayloadError:
                layout.unreadable.append(point.id)
                continue
            if fields is None:
                layout.synthetic += 1
                continue
            layout._add(point, fields)
            if fields.type == MESSAGE:
                message = (str(point.id), hash(fields.text), point.key)
                messages_by_id[fields.asset_id, fields.position].append(message)
        layout._number(messages_by_id.values())
        layout._rows = [(*row[:2], layout._numbered(row[2], row[5]), *row[3:]) for row in layout._rows]
        layout._rows.sort(key=itemgetter(slice(5)))
        for messages in layout._messages.values():
            messages.sort()
        return layout

    def _parse(self, point: LegacyPoint) -> PointFields | None:
        if point.payload is None:
            raise PayloadError
        return parse(point.id, point.payload, self.timezone)

    def _add(self, point: LegacyPoint, fields: PointFields) -> None:
        self.points[fields.channel] += 1
        chat = fields.thread_id or "" if fields.channel == "whatsapp" else ""
        self._rows.append((chat, fields.is_window, fields.asset_id, fields.position, str(point.id), point.key))
        if point.old_vectors:
            self.old_vectors[point.key] = point.old_vectors
        if fields.thread_id:
            self.threads.add(fields.thread_id)
        if fields.parent_asset_id and fields.type == ATTACHMENT:
            self._attachments[fields.parent_asset_id].add(fields.asset_id)
        if fields.type == MESSAGE and chat and fields.ts is not None:
            self._messages[chat].append((fields.ts, fields.asset_id))

    def _number(self, groups: Iterable[list[tuple[str, int, int | str]]]) -> None:
        """Numbers messages of one chat and second, which share an id: from the second text on, ordered by point id."""
        for group in groups:
            texts = list(dict.fromkeys(text for _, text, _ in sorted(group, key=itemgetter(0))))
            if len(texts) > 1:
                self._ordinals |= {key: texts.index(text) + 1 for _, text, key in group if text != texts[0]}

    def _numbered(self, asset_id: str, key: int | str) -> str:
        ordinal = self._ordinals.get(key)
        return f"{asset_id}:{ordinal}" if ordinal else asset_id

    def fields(self, point: LegacyPoint) -> PointFields | None:
        """The fields of a point, completed from its related points.

        None for a point without content, and for one that has become unreadable since the layout was made.
        """
        try:
            fields = self._parse(point)
        except PayloadError:
            return None
        if fields is None:
            return None
        fields = replace(fields, asset_id=self._numbered(fields.asset_id, point.key))
        if fields.type == ATTACHMENT and fields.parent_asset_id:
            siblings = sorted(self._attachments[fields.parent_asset_id])
            position = {"index_in_parent": siblings.index(fields.asset_id), "total_siblings": len(siblings)}
            return replace(fields, universal=position | dict(fields.universal))
        if fields.type == MAIL and (attached := self._attachments.get(fields.asset_id)):
            return replace(fields, universal={"total_siblings": len(attached)} | dict(fields.universal))
        return fields

    def records(self) -> Iterator[list[int | str]]:
        """The keys of the points of each record, in order; a chat's windows come after its messages."""
        for _, rows in itertools.groupby(self._rows, key=itemgetter(0, 1, 2)):
            yield [row[5] for row in rows]

    def members(self, window: PointFields) -> list[str]:
        """asset_ids of the messages that a window may repeat: those of its chat from its first to its last."""
        messages = self._messages.get(window.thread_id or "", [])
        first, last = (whole_number(second) for second in ["", "", *window.native_id.split(":")][-2:])
        if first is None or last is None:
            return []
        since, until = bisect_left(messages, (first, "")), bisect_right(messages, (last + 1, ""))
        return [asset_id for _, asset_id in messages[since:until]]

    def asset_ids(self) -> set[str]:
        """The records, windows among them."""
        return {row[2] for row in self._rows}

    @property
    def counts(self) -> dict[str, int]:
        """The expected numbers of records, threads and attachments."""
        assets = Counter(row[2] for row in self._rows)
        return {
            "records": len(assets),
            "threads": len(self.threads),
            "attachments": sum(map(len, self._attachments.values())),
            "records of several points": sum(count > 1 for count in assets.values()),
        }
