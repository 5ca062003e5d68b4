"""Cache of open GraphRAG indexes: each is opened once, and again when its files change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from relrag_pipelines.settings import Settings
from relrag_query.archive import Archive
from relrag_query.graphrag import collections, integrity
from relrag_query.graphrag.answer import Method
from relrag_query.graphrag.answer_reply import GraphAnswerReply, answer_reply
from relrag_query.graphrag.collections import CollectionError, NamedIndex
from relrag_query.graphrag.corpus import Corpus
from relrag_query.graphrag.index import Index, IndexMissing, State, state
from relrag_query.graphrag.reports import ReportReply, reports
from relrag_query.graphrag.service import ask_index
from relrag_query.graphrag.trace import trace
from relrag_query.graphrag.trace_reply import TraceReply, trace_reply
from relrag_query.service.errors import NotServed
from relrag_query.service.trace_index import TraceIndex

ARCHIVE = "archive"
"""the collection of all records"""


class CollectionReply(BaseModel):
    """An index that can be asked."""

    name: str
    own: bool = Field(description="made of this archive")
    problems: list[str]


class CollectionsReply(BaseModel):
    """All indexes that can be asked."""

    collections: list[CollectionReply]


class CollectionStatusReply(BaseModel):
    """What an index contains."""

    collection: str
    schema_version: str = Field(description="layout of its files: 3.x, 2.x, 1.x or 0.x")
    counts: dict[str, int] = Field(description="rows of each table that has any")
    problems: list[str]


class ReportsReply(BaseModel):
    """The reports of an index on its communities, those of most passages first."""

    collection: str
    count: int
    reports: list[ReportReply]
    next_cursor: str | None = None


@dataclass(frozen=True)
class _OpenIndex:
    named: NamedIndex
    settings: Settings
    """the settings at the time it was opened"""
    files: State
    index: Index
    corpus: Corpus

    def is_current(self, named: NamedIndex, settings: Settings) -> bool:
        """Whether reopening the index would give the same result."""
        return self.named == named and self.settings is settings and self.files == state(self.index.folder)


class GraphIndexes:
    """The indexes of an archive, and an index in a given folder, in which `trace` looks up citations."""

    def __init__(self, settings: Callable[[], Settings], folder: Path | None = None, *, served: bool = True) -> None:
        """`settings` returns the current settings, the same object until they change.

        With `served` false, for users who may see only a part of the archive, no index exists.
        """
        self._settings, self._served = settings, served
        self.trace_index = TraceIndex(folder, settings) if folder and served else None
        self._lock = threading.Lock()
        self._indexes: dict[str, _OpenIndex] = {}

    @property
    def can_trace(self) -> bool:
        """Whether there is an index to look up citations in."""
        return self.trace_index is not None or bool(self._list_indexes())

    def collections(self) -> CollectionsReply:
        """The registered indexes."""
        return CollectionsReply(
            collections=[
                CollectionReply(name=index.name, own=index.own, problems=list(collections.problems(index)))
                for index in self._list_indexes()
            ]
        )

    def query(self, archive: Archive | None, collection: str, question: str, method: Method) -> GraphAnswerReply:
        """The answer of an index to a question; passages of `archive` are searched by meaning too. Raises NotServed."""
        index = self._open(collection)
        answer = ask_index(index.settings, index.named, index.corpus, question, method, archive)
        return answer_reply(answer, collection)

    def status(self, collection: str) -> CollectionStatusReply:
        """What an index contains, and what is wrong with it. Raises NotServed."""
        index = self._open(collection).index
        return CollectionStatusReply(
            collection=collection,
            schema_version=index.layout,
            counts=index.counts,
            problems=[*index.problems, *integrity.problems(index)],
        )

    def reports(self, collection: str, limit: int, offset: int = 0) -> ReportsReply:
        """The reports on the communities of the top level. Raises NotServed."""
        community_reports = reports(self._open(collection).index)
        return ReportsReply(
            collection=collection, count=len(community_reports), reports=community_reports[offset : offset + limit]
        )

    def trace(self, answer: str, question: str = "", collection: str = "") -> TraceReply:
        """The documents and pages behind the citations of an answer from a collection.

        The default collection is the index given at the start of the service, or else the archive's own index.
        """
        if not collection and not self.can_trace:
            raise NotServed(
                "no GraphRAG index is served; start it with --index FOLDER, or write [graphrag] into its toml"
            )
        index = (
            self._open(collection or ARCHIVE).index if collection or not self.trace_index else self.trace_index.index()
        )
        return trace_reply(trace(answer, index, question), index)

    def own_corpus(self) -> Corpus | None:
        """The archive's own index of all records; None if there is none."""
        try:
            return self._open(ARCHIVE).corpus
        except NotServed:
            return None

    def evict_changed(self) -> None:
        """Closes indexes whose files have changed, so that forgotten text does not stay in memory."""
        with self._lock, suppress(OSError):
            self._indexes = {
                name: opened for name, opened in self._indexes.items() if opened.files == state(opened.index.folder)
            }
        if self.trace_index:
            self.trace_index.evict_changed()

    def _list_indexes(self) -> Sequence[NamedIndex]:
        return collections.list_indexes(self._settings()) if self._served else []

    def _open(self, name: str) -> _OpenIndex:
        if not self._served:
            raise NotServed("this is for those who see the whole archive")
        with self._lock:
            try:
                settings = self._settings()
                named, opened = collections.find(settings, name), self._indexes.get(name)
                if opened and opened.is_current(named, settings):
                    return opened
                self._indexes.pop(name, None)
                named, index = collections.load(settings, name)
            except (CollectionError, IndexMissing, FileNotFoundError) as error:
                raise NotServed(str(error)) from None
            opened_index = self._indexes[name] = _OpenIndex(named, settings, state(index.folder), index, Corpus(index))
            return opened_index
