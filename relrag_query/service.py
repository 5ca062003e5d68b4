"""The archive as pages, API and MCP ask it: any number of callers, each request within one generation.

A newer generation is opened between requests. A request that has begun ends in the one it began with, which is let go
of by the last that reads it: within a second of a publish where nobody does, so that `relrag forget` need not wait.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.errors import RelragError
from relrag_pipelines.links.neighbors import Direction
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import generations
from relrag_pipelines.stores.generations import GenerationError
from relrag_query import replies
from relrag_query.archive import Archive, ArchiveError
from relrag_query.archive_status import Status, collect
from relrag_query.cursors import cursor, offset_of
from relrag_query.exploration import explore
from relrag_query.full_graph import FullGraph
from relrag_query.graph_layout import layout
from relrag_query.graphrag.answer import Method
from relrag_query.graphrag.answer_reply import GraphAnswerReply
from relrag_query.graphrag.chunk_lookup import get_chunks_batch
from relrag_query.graphrag.served import ReportsReply, ServedIndexes
from relrag_query.people.people import PeopleError, is_number
from relrag_query.person_replies import ExploreReply, PeopleReply, PersonBrief, PersonReply, ShowReply, person_reply
from relrag_query.retrieval.question import DateLike

LOOK_SECONDS = 0.5
"""how often an idle service looks for a newer generation"""
MOST = 100
"""entries of one page of a list"""


class UnknownRef(RelragError):
    """The archive has nothing of that id."""


@dataclass
class _Held:
    """An open generation and how many requests read it."""

    archive: Archive
    requests: int = 0
    retired: bool = False


@dataclass(frozen=True)
class Filters:
    """What a query is limited to, by the names of `Archive.search`."""

    sources: Sequence[str] = ()
    kinds: Sequence[str] = ()
    since: DateLike = None
    until: DateLike = None


@dataclass(frozen=True)
class GraphLimits:
    """How much of a graph is wanted; see `get_full_graph_data`."""

    limit_persons: int = 100
    limit_assets_per_person: int = 10
    include_asset_edges: bool = True
    records: int = 0


class GraphReply(FullGraph):
    """A graph, and the generation that it is of."""

    generation: int


class Service:
    """One archive, for any number of threads. Use it in a `with` block, or close it."""

    def __init__(self, settings: Settings, graphrag_index: Path | None = None) -> None:
        """`graphrag_index` is the folder of the index in which `trace` looks citations up."""
        self.settings = settings
        self.zone = ZoneInfo(settings.timezone)
        self.graphs = ServedIndexes(settings, graphrag_index)
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._graph_lock = threading.Lock()
        self._graph: tuple[tuple[int, GraphLimits], GraphReply] | None = None
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._let_go_of_old, name="generation-watch", daemon=True)
        self._watch.start()

    @classmethod
    def open(cls, config: Path | None = None, graphrag_index: Path | None = None) -> Service:
        """The service of that relrag.toml, else of the nearest one; SettingsError where there is none."""
        return cls(settings_module.load(config), graphrag_index)

    def close(self) -> None:
        """Lets go of the archive once the requests that read it have ended."""
        self._closed.set()
        with self._lock:
            self._retire()
        self._watch.join()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Archive]:
        """The newest generation, open until the block ends whatever is published meanwhile; raises ArchiveError."""
        with self._lock:
            held = self._newest()
            held.requests += 1
        try:
            yield held.archive
        finally:
            with self._lock:
                held.requests -= 1
                last = held.retired and not held.requests
            if last:
                held.archive.close()

    def search(
        self, query: str, filters: Filters | None = None, limit: int | None = None, after: str | None = None
    ) -> replies.SearchReply:
        """The passages that fit a query best; `after` is the cursor of an earlier page of the same size.

        The first page is what `Archive.search` gives. Behind it come the others of the best MOST: with more candidates
        their order may be another, so those of the first page are taken out.
        """
        with self.reading() as archive:
            size, number = min(limit or archive.settings.search_limit, MOST), archive.generation.number
            skipped = offset_of(after, number)
            found = archive.search(_words(query), **_limits(filters), limit=size)
            if skipped:
                first = {hit.chunk.chunk_id for hit in found.hits}
                rest = archive.search(query, **_limits(filters), limit=MOST).hits
                later = [hit for hit in rest if hit.chunk.chunk_id not in first]
                found.hits = [*found.hits, *later][skipped : skipped + size]
            reply = replies.search_reply(found, self.zone, number)
            if len(found.hits) == size and skipped + size < MOST:
                reply.next_cursor = cursor(number, skipped + size)
            return reply

    def ask(
        self,
        question: str,
        filters: Filters | None = None,
        limit: int | None = None,
        on_text: Callable[[str], None] | None = None,
        follows: Sequence[str] = (),
    ) -> replies.AnswerReply:
        """An answer with its sources; see `Archive.ask`. `follows` are the questions before it, the last one first."""
        with self.reading() as archive:
            answer = archive.ask(
                _words(question), **_limits(filters), limit=limit, follows=list(follows), on_text=on_text
            )
            return replies.answer_reply(answer, self.zone, archive.generation.number)

    def show(self, ref: str, limit: int = 50) -> ShowReply:
        """What an id names: a record, passage (chunk:...), chat window, thread (thread:...) or person (person:<id>).

        Raises UnknownRef.
        """
        with self.reading() as archive:
            reply = ShowReply(ref=ref, generation=archive.generation.number)
            if ref.startswith("person:"):
                reply.person = self._person(archive, ref)
                return reply
            if ref.startswith("thread:"):
                reply.members = self._members(archive, ref.removeprefix("thread:"), limit, 0)
            elif record := archive.record(ref):
                reply.record = replies.record_reply(record, self.zone)
            else:
                chunk = archive.chunk(ref.removeprefix("chunk:"))
                chunks = [chunk] if chunk else archive.chunks_of(ref)
                reply.passages = [replies.passage_reply(one, self.zone) for one in chunks]
            reply.related = self._related(archive, ref, limit=limit)
            if not (reply.members or reply.record or reply.passages or reply.related):
                raise UnknownRef(_unknown(ref))
            return reply

    def thread(self, thread_id: str, limit: int = 50, after: str | None = None) -> replies.ThreadReply:
        """The records of a thread, newest first, with or without `thread:` before its id. Raises UnknownRef."""
        thread_id, size = thread_id.removeprefix("thread:"), min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            members = self._members(archive, thread_id, size + 1, skipped)
            if not members and not skipped:
                raise UnknownRef(_unknown(f"thread:{thread_id}"))
            more = cursor(number, skipped + size) if len(members) > size else None
            return replies.ThreadReply(thread_id=thread_id, generation=number, members=members[:size], next_cursor=more)

    def neighbors(
        self,
        ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        after: str | None = None,
    ) -> replies.NeighborsReply:
        """What a record, passage or thread is directly related to; nothing for an id that the archive does not have."""
        size = min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            found = self._related(archive, ref, relation_types, direction, size + 1, skipped)
            more = cursor(number, skipped + size) if len(found) > size else None
            return replies.NeighborsReply(ref=ref, generation=number, neighbors=found[:size], next_cursor=more)

    def chunks(self, chunk_ids: Sequence[str]) -> dict[str, Any]:
        """`chunks` and their `count`: the first 50 of these ids, without those that are not known."""
        with self.reading() as archive:
            return get_chunks_batch(archive, chunk_ids)

    def person(self, name: str) -> PersonReply:
        """What is known of a person, by a name, an alias or a number. Raises PeopleError, which offers the choices."""
        with self.reading() as archive:
            return person_reply(archive.person(name), self.zone, archive.generation.number)

    def explore(self, query: str, search_relationships: bool = True, limit: int = 5) -> ExploreReply:
        """People, records and relationships that a query is about; see `exploration.explore`."""
        with self.reading() as archive:
            found = explore(archive, _words(query), search_relationships=search_relationships, limit=min(limit, MOST))
            return ExploreReply(generation=archive.generation.number, **dataclasses.asdict(found))

    def people(self, limit: int = 50, after: str | None = None) -> PeopleReply:
        """The people of the archive, those of most records first."""
        size = min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            counted = archive.records_of_people()
            with archive.people() as people:
                known = sorted(people.every().values(), key=lambda one: (-counted.get(one.person_id, 0), one.person_id))
            page = [
                PersonBrief(
                    person_id=one.person_id,
                    name=one.name,
                    is_owner=one.is_owner,
                    records=counted.get(one.person_id, 0),
                )
                for one in known[skipped : skipped + size]
            ]
            more = cursor(number, skipped + size) if len(known) > skipped + size else None
            return PeopleReply(generation=number, people=page, next_cursor=more)

    def full_graph(self, asked: GraphLimits | None = None) -> GraphReply:
        """The graph of the archive with the place of each node; the same until another generation is published."""
        limits = asked or GraphLimits()
        with self.reading() as archive:
            key = (archive.generation.number, limits)
            with self._graph_lock:  # laid out once, however many ask at once
                if self._graph is None or self._graph[0] != key:
                    graph = archive.full_graph(**dataclasses.asdict(limits))
                    for node, (x, y) in zip(graph.nodes, layout(graph), strict=True):
                        node.x, node.y = x, y
                    self._graph = key, GraphReply(generation=archive.generation.number, **dict(graph))
                return self._graph[1]

    def graph_around(self, ref: str, limit: int = 30) -> GraphReply:
        """A record or person of the graph and what it is directly related to, without places. Raises UnknownRef."""
        with self.reading() as archive:
            graph = archive.graph_around(ref, limit)
            if not graph.nodes:
                raise UnknownRef(_unknown(ref))
            return GraphReply(generation=archive.generation.number, **dict(graph))

    def status(self) -> Status:
        """What there is of the archive, as `relrag status` says it."""
        return collect(self.settings)

    def graphrag(self, question: str, collection: str = "archive", method: Method = "global") -> GraphAnswerReply:
        """What a GraphRAG index says to a question, with citations traced. Raises NotServed where there is none."""
        with self.reading() as archive:
            return self.graphs.query(archive, collection, _words(question), method)

    def reports(self, collection: str = "archive", limit: int = 20, after: str | None = None) -> ReportsReply:
        """The reports of a GraphRAG index, those of most passages first. Raises NotServed."""
        size = min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            found = self.graphs.reports(collection, size, skipped)
            if skipped + size < found.count:
                found.next_cursor = cursor(number, skipped + size)
            return found

    def _person(self, archive: Archive, ref: str) -> PersonReply:
        number = ref.removeprefix("person:")
        try:
            if is_number(number):
                return person_reply(archive.person(number), self.zone, archive.generation.number)
        except PeopleError:
            pass
        raise UnknownRef(_unknown(ref))

    def _members(self, archive: Archive, thread_id: str, limit: int, offset: int) -> list[replies.BriefReply]:
        members = archive.thread(thread_id, limit, offset)
        briefs = archive.briefs([one.asset_ref for one in members])
        return [replies.brief_reply(one, briefs, self.zone) for one in members]

    def _related(
        self,
        archive: Archive,
        ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        offset: int = 0,
    ) -> list[replies.NeighborReply]:
        found = archive.neighbors(ref, relation_types, direction, limit, offset)
        briefs = archive.briefs([one.asset_ref for one in found])
        return [replies.neighbor_reply(one, briefs, self.zone) for one in found]

    def _newest(self) -> _Held:
        """The current generation, opened where it is not; held by the lock."""
        if self._closed.is_set():
            raise ArchiveError("the archive was closed; open it again")
        if self._held is None or self._outdated(self._held):
            opened = Archive.of(self.settings)
            self._retire()
            self._held = _Held(opened)
        return self._held

    def _outdated(self, held: _Held) -> bool:
        try:
            return generations.current_number(self.settings.home_path) != held.archive.generation.number
        except GenerationError as error:
            raise ArchiveError(str(error)) from None

    def _retire(self) -> None:
        """Gives up the open generation; held by the lock."""
        held, self._held, self._graph = self._held, None, None
        if held is None:
            return
        held.retired = True
        if not held.requests:
            held.archive.close()

    def _let_go_of_old(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            with self._lock, suppress(ArchiveError, OSError):
                if self._held and self._outdated(self._held):
                    self._retire()
            self.graphs.let_go()


def _limits(filters: Filters | None) -> dict[str, Any]:
    chosen = filters or Filters()
    return {"sources": chosen.sources, "kinds": chosen.kinds, "since": chosen.since, "until": chosen.until}


def _words(text: str) -> str:
    if not text.strip():
        raise ArchiveError("the question is empty")
    return text


def _unknown(ref: str) -> str:
    return f'the archive has nothing named "{ref}"; search shows ids'
