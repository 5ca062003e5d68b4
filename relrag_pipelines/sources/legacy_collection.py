"""The interface to a collection of an older system, in a folder or on a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from relrag_pipelines.errors import SafeError


class CollectionError(SafeError):
    """A collection cannot be read or written; the message says why, without any of its text."""


class LegacyPoint(NamedTuple):
    """One point, without its vectors."""

    key: int | str
    """the collection's own key of the point"""
    id: int | str
    payload: Mapping[str, Any] | None
    """None if the point cannot be read"""
    old_vectors: tuple[str, ...] = ()
    """names in OLD_VECTORS of its vectors"""


class PointChange(NamedTuple):
    """A change to one point."""

    key: int | str
    values: Mapping[str, Any]
    """payload fields that are set; others stay"""
    removed_fields: tuple[str, ...] = ()
    """payload fields that are removed"""
    vectors: tuple[str, ...] = ()
    """vectors that are removed"""


class LegacyCollection(Protocol):
    """The interface of a backend."""

    name: str

    def points(self) -> Iterator[LegacyPoint]:
        """Every point once. Raises CollectionError."""
        ...

    def fetch(self, keys: Sequence[int | str]) -> Mapping[int | str, LegacyPoint]:
        """The points with these keys."""
        ...

    def write(self, changes: Iterable[PointChange]) -> None:
        """Makes the changes; repeating them has no further effect."""
        ...

    def exclusive(self) -> AbstractContextManager[None]:
        """Keeps others from writing at the same time, as far as the backend can."""
        ...

    def snapshot(self, moment: str) -> str:
        """Copies the collection; returns the copy's name, which contains `moment`."""
        ...

    def has_snapshot(self, name: str) -> bool:
        """Whether a copy with that name still exists."""
        ...
