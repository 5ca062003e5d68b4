"""The interface of a store of search vectors, and the filters that its backends share; points.py makes the points.

A store knows passages by chunk_id and the few payload fields that are filtered on; the texts stand in the catalog.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from relrag_pipelines.errors import SafeError

Vectors = npt.NDArray[np.float32]
"""dense vectors: one row a text, or a single vector"""

KEYWORDS = ("asset_id", "parent_asset_id", "thread_id", "chunk_group_id", "source", "kind")
INTEGERS = ("person_ids", "mentioned_person_ids", "ts")

WORDS, MEANING, SPANS = "text", "meaning", "spans"
"""names of the sparse and of the dense vector of a point, and of the dense ones of its spans"""
EXACT_UP_TO = 50_000
"""dense vectors that are all compared; an index of more is worth the time that it takes to build"""
BREADTH = 128
"""how widely the index is searched: recall at 10 of 0.99"""
SCROLLED = 2_000
"""points that are read at a time"""


class StoreError(SafeError):
    """A server of vectors cannot be used; the message says why and what to do, and holds neither key nor text."""


class ScoredPoint(NamedTuple):
    """A passage that was found."""

    chunk_id: str
    score: float
    """higher is better; comparable within one search only"""


@dataclass(frozen=True)
class ChunkFilter:
    """Conditions that must all hold; within one field any of its values will do; an empty field is no condition."""

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    ts_from: int | None = None
    """first second, UTC"""
    ts_to: int | None = None
    """second behind the last, UTC"""
    thread_ids: tuple[str, ...] = ()
    asset_ids: tuple[str, ...] = ()
    parent_asset_ids: tuple[str, ...] = ()
    chunk_group_ids: tuple[str, ...] = ()
    person_ids: tuple[int, ...] = ()
    """people who wrote, received or took part, or are mentioned"""
    chunk_ids: tuple[str, ...] = ()
    within: frozenset[str] = frozenset()
    """ids of passages, beside `chunk_ids`: both must hold"""

    def allows(self, source: str, kind: str, ts: int | None) -> bool:
        """Whether a passage of that source, kind and time meets what is said of these."""
        after = self.ts_from is None or (ts is not None and ts >= self.ts_from)
        before = self.ts_to is None or (ts is not None and ts < self.ts_to)
        return (
            (not self.sources or source in self.sources) and (not self.kinds or kind in self.kinds) and after and before
        )


ANYWHERE = ChunkFilter()


class VectorStore(Protocol):
    """What a backend offers."""

    def search(
        self,
        query: str | Collection[str],
        limit: int,
        where: ChunkFilter = ANYWHERE,
        also: Mapping[str, float] | None = None,
    ) -> list[ScoredPoint]:
        """The best passages for a question, or for tokens, best first; none where there is no word to look for.

        `also` are tokens that are looked for beside these, such as those of translations, with what each counts.
        """
        ...

    def nearest(self, vector: Vectors, limit: int, where: ChunkFilter = ANYWHERE) -> list[ScoredPoint]:
        """The passages nearest in meaning, by cosine, best first; those without a dense vector are not among them."""
        ...

    def nearest_spans(self, vector: Vectors, chunk_ids: Collection[str]) -> list[ScoredPoint]:
        """Of these passages those with spans, each with the cosine of its nearest one; none in a store without any."""
        ...

    def fetch_ids(self, where: ChunkFilter, limit: int) -> list[str]:
        """Passages that meet the conditions, in the order of their ids; of more than `limit` always the same ones."""
        ...

    def point_ids(self, chunk_ids: Collection[str]) -> dict[str, str]:
        """The id of the point of each of these passages that is in the store."""
        ...

    def count(self, where: ChunkFilter = ANYWHERE) -> int:
        """How many passages meet the conditions."""
        ...

    def close(self) -> None:
        """Lets go of the files, or of the server."""
        ...


def match_conditions(where: ChunkFilter) -> list[tuple[str, list[str]]]:
    """The payload fields that must have one of some values."""
    fields = {
        "source": where.sources,
        "kind": where.kinds,
        "thread_id": where.thread_ids,
        "asset_id": where.asset_ids,
        "parent_asset_id": where.parent_asset_ids,
        "chunk_group_id": where.chunk_group_ids,
    }
    return [(field, list(values)) for field, values in fields.items() if values]
