"""How the points of a collection belong together: parts, attachments, repetitions; no point alone tells."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter

from relrag_pipelines.sources.legacy.collection import LegacyPoint
from relrag_pipelines.sources.legacy.payload import ATTACHMENT, MAIL, MESSAGE, PointFields, parse
from relrag_pipelines.sources.legacy.payload_values import PayloadError, whole_number


@dataclass
class CollectionLayout:
    """What was found in one pass over all points."""

    timezone: str
    """IANA name of the zone of times without one"""
    points: Counter[str] = field(default_factory=Counter)
    """channel -> how many points"""
    unreadable: list[int | str] = field(default_factory=list)
    """points that cannot be read"""
    synthetic: int = 0
    """points that the older system made for itself, and that say nothing"""
    _rows: list[tuple[str, bool, str, int, str, int | str]] = field(default_factory=list)
    """chat, whether it is a window, asset_id, position, id and key of each point"""
    _attachments: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _messages: defaultdict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """chat -> time and asset_id of its messages, in order"""
    _ordinals: dict[int | str, int] = field(default_factory=dict)
    """key of a message that shares its id with earlier ones -> its number among them, from 2"""
    threads: set[str] = field(default_factory=set)
    old_vectors: dict[int | str, tuple[str, ...]] = field(default_factory=dict)
    """key of a point -> which of OLD_VECTORS it has"""

    @classmethod
    def of(cls, points: Iterable[LegacyPoint], timezone: str) -> CollectionLayout:
        """The layout of all points of a collection, in whatever order they come."""
        found = cls(timezone)
        same: defaultdict[tuple[str, int], list[tuple[str, int, int | str]]] = defaultdict(list)
        for point in points:
            try:
                fields = found._parse(point)
            except PayloadError:
                found.unreadable.append(point.id)
                continue
            if fields is None:
                found.synthetic += 1
                continue
            found._add(point, fields)
            if fields.type == MESSAGE:
                same[fields.asset_id, fields.position].append((str(point.id), hash(fields.text), point.key))
        found._number(same.values())
        found._rows = [(*row[:2], found._numbered(row[2], row[5]), *row[3:]) for row in found._rows]
        found._rows.sort(key=itemgetter(slice(5)))
        for messages in found._messages.values():
            messages.sort()
        return found

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

    def _number(self, alike: Iterable[list[tuple[str, int, int | str]]]) -> None:
        """Two messages of one chat and second share an id; the second, by the ids of their points, gets a number."""
        for group in alike:
            texts = list(dict.fromkeys(text for _, text, _ in sorted(group, key=itemgetter(0))))
            if len(texts) > 1:
                self._ordinals |= {key: texts.index(text) + 1 for _, text, key in group if text != texts[0]}

    def _numbered(self, asset_id: str, key: int | str) -> str:
        ordinal = self._ordinals.get(key)
        return f"{asset_id}:{ordinal}" if ordinal else asset_id

    def fields(self, point: LegacyPoint) -> PointFields | None:
        """What a point says, with what follows from the others; None for one that says nothing.

        So it does for one that was readable when the layout was made, and is so no more.
        """
        try:
            found = self._parse(point)
        except PayloadError:
            return None
        if found is None:
            return None
        found = replace(found, asset_id=self._numbered(found.asset_id, point.key))
        if found.type == ATTACHMENT and found.parent_asset_id:
            together = sorted(self._attachments[found.parent_asset_id])
            place = {"index_in_parent": together.index(found.asset_id), "total_siblings": len(together)}
            return replace(found, universal=place | dict(found.universal))
        if found.type == MAIL and (attached := self._attachments.get(found.asset_id)):
            return replace(found, universal={"total_siblings": len(attached)} | dict(found.universal))
        return found

    def records(self) -> Iterator[list[int | str]]:
        """The keys of the points of each record, in order; in a chat windows come behind its messages."""
        for _, rows in itertools.groupby(self._rows, key=itemgetter(0, 1, 2)):
            yield [row[5] for row in rows]

    def members(self, window: PointFields) -> list[str]:
        """asset_ids of the messages that a window may repeat: those of its chat from its first to its last."""
        messages = self._messages.get(window.thread_id or "", [])
        first, last = (whole_number(one) for one in ["", "", *window.native_id.split(":")][-2:])
        if first is None or last is None:
            return []
        since, until = bisect_left(messages, (first, "")), bisect_right(messages, (last + 1, ""))
        return [asset_id for _, asset_id in messages[since:until]]

    def asset_ids(self) -> set[str]:
        """The records, windows among them."""
        return {row[2] for row in self._rows}

    @property
    def counts(self) -> dict[str, int]:
        """How many records, threads and attachments there will be."""
        assets = Counter(row[2] for row in self._rows)
        return {
            "records": len(assets),
            "threads": len(self.threads),
            "attachments": sum(map(len, self._attachments.values())),
            "records of several points": sum(count > 1 for count in assets.values()),
        }
