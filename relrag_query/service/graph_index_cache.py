"""GraphRAG indexes for many callers: each is opened once, and again when its files change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from relrag_pipelines.settings import Settings
from relrag_query.archive import Archive
from relrag_query.graphrag import collections
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
"""the collection that holds everything"""


class CollectionReply(BaseModel):
    """An index that can be asked."""

    name: str
    own: bool = Field(description="made of this archive")
    problems: list[str]


class CollectionsReply(BaseModel):
    """All indexes that can be asked."""

    collections: list[CollectionReply]


class ReportsReply(BaseModel):
    """The reports of an index on its communities, those of most passages first."""

    collection: str
    count: int
    reports: list[ReportReply]
    next_cursor: str | None = None


@dataclass(frozen=True)
class _Opened:
    named: NamedIndex
    settings: Settings
    """of when it was opened"""
    files: State
    index: Index
    corpus: Corpus

    def is_current(self, named: NamedIndex, settings: Settings) -> bool:
        """Whether opening it now would give the same."""
        return self.named == named and self.settings is settings and self.files == state(self.index.folder)


class GraphIndexes:
    """The indexes of an archive, and another one by its folder, in which `trace` looks citations up."""

    def __init__(self, settings: Callable[[], Settings], folder: Path | None = None, *, served: bool = True) -> None:
        """`settings` gives those of now, the same object while nothing in them has changed.

        Where indexes are not `served`, to those who see a part of the archive, it is as if there were none.
        """
        self._settings, self._served = settings, served
        self.traced = TraceIndex(folder, settings) if folder and served else None
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}

    @property
    def traces(self) -> bool:
        """Whether there is an index in which citations can be looked up."""
        return self.traced is not None or bool(self._named())

    def collections(self) -> CollectionsReply:
        """The indexes that there are names for."""
        return CollectionsReply(
            collections=[
                CollectionReply(name=one.name, own=one.own, problems=list(collections.problems(one)))
                for one in self._named()
            ]
        )

    def query(self, archive: Archive | None, collection: str, question: str, method: Method) -> GraphAnswerReply:
        """What an index says to a question; `archive` is searched by meaning beside it. Raises NotServed."""
        opened = self._open(collection)
        found = ask_index(opened.settings, opened.named, opened.corpus, question, method, archive)
        return answer_reply(found, collection)

    def reports(self, collection: str, limit: int, offset: int = 0) -> ReportsReply:
        """The reports on communities of the uppermost level. Raises NotServed."""
        found = reports(self._open(collection).index)
        return ReportsReply(collection=collection, count=len(found), reports=found[offset : offset + limit])

    def trace(self, answer: str, question: str = "", collection: str = "") -> TraceReply:
        """The documents and pages behind the citations of an answer from a collection.

        Where none is named: from the index that was named when the service began, else from the archive's own.
        """
        if not collection and not self.traces:
            raise NotServed(
                "no GraphRAG index is served; start it with --index FOLDER, or write [graphrag] into its toml"
            )
        index = self._open(collection or ARCHIVE).index if collection or not self.traced else self.traced.index()
        return trace_reply(trace(answer, index, question), index)

    def own_corpus(self) -> Corpus | None:
        """The archive's own index of everything; None where none is made."""
        try:
            return self._open(ARCHIVE).corpus
        except NotServed:
            return None

    def let_go(self) -> None:
        """Lets go of indexes whose files have changed: what was forgotten of them stays in no memory."""
        with self._lock, suppress(OSError):
            self._opened = {name: one for name, one in self._opened.items() if one.files == state(one.index.folder)}
        if self.traced:
            self.traced.let_go_of_old()

    def _named(self) -> Sequence[NamedIndex]:
        return collections.list_indexes(self._settings()) if self._served else []

    def _open(self, name: str) -> _Opened:
        if not self._served:
            raise NotServed("this is for those who see the whole archive")
        with self._lock:
            try:
                settings = self._settings()
                found, known = collections.find(settings, name), self._opened.get(name)
                if known and known.is_current(found, settings):
                    return known
                self._opened.pop(name, None)
                found, index = collections.load(settings, name)
            except (CollectionError, IndexMissing, FileNotFoundError) as error:
                raise NotServed(str(error)) from None
            made = self._opened[name] = _Opened(found, settings, state(index.folder), index, Corpus(index))
            return made
