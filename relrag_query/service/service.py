"""The archive as pages, API and MCP ask it: any number of callers, each request within one generation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.links.neighbors import Direction
from relrag_pipelines.settings import Settings, Source
from relrag_query.archive import Archive, ArchiveError
from relrag_query.graphrag.answer import Method
from relrag_query.graphrag.answer_reply import GraphAnswerReply
from relrag_query.graphrag.chunk_lookup import get_chunks_batch
from relrag_query.graphrag.entity_exploration import explore
from relrag_query.people.indexed_person import PeopleError, is_number
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.question import Filters
from relrag_query.service import record_replies, replies
from relrag_query.service.archive_status import Status, collect, redact
from relrag_query.service.cursors import MOST, cursor, offset_of
from relrag_query.service.errors import NotServed, UnknownRef
from relrag_query.service.graph_index_cache import GraphIndexes, ReportsReply
from relrag_query.service.graph_replies import GraphLimits, GraphReply, PlacedGraph
from relrag_query.service.live_settings import LiveSettings
from relrag_query.service.open_generation import OpenGeneration
from relrag_query.service.person_replies import ExploreReply, PeopleReply, PersonReply, person_briefs, person_reply
from relrag_query.service.record_replies import ShowReply

_WARM_UP = "Who wrote to +420 777 123 456 about the schedule in March 2024?"


class Service:
    """One archive, for any number of threads. Use it in a `with` block, or close it."""

    def __init__(
        self,
        settings: Settings,
        graphrag_index: Path | None = None,
        config: Path | None = None,
        clients: Sequence[str] = (),
    ) -> None:
        """`graphrag_index` is the folder of the index in which `trace` looks citations up, `config` its relrag.toml.

        With `clients` only their records exist, and what is about the archive as a whole is not served.
        """
        self.name, self.config, self.clients = settings.archive, config, tuple(clients)
        self.zone = ZoneInfo(settings.timezone)
        self._settings = LiveSettings(settings, config)
        self.graphs = GraphIndexes(self._settings, graphrag_index, served=not clients)
        self._graph = PlacedGraph()
        self._generation = OpenGeneration(self._settings, self.clients, self._graph.drop, self._look)

    @classmethod
    def open(cls, config: Path | None = None, graphrag_index: Path | None = None) -> Service:
        """The service of that relrag.toml, else of the nearest one; SettingsError where there is none."""
        path = config or settings_module.find_config()
        return cls(settings_module.load(path), graphrag_index, path)

    def close(self) -> None:
        """Lets go of the archive once the requests that read it have ended."""
        self._generation.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm_up(self) -> None:
        """Loads what the first question would: models, phrases, the recognisers of personal data.

        Loading cannot be given up, so it is not left to a question. Nothing is sent to a language model.
        """
        with suppress(ArchiveError), self.reading() as archive:
            archive.search(_WARM_UP)
            if archive.settings.answerer == "extractive":
                archive.ask(_WARM_UP)

    @property
    def settings(self) -> Settings:
        """The settings of now; raises ArchiveError where relrag.toml is wrong now."""
        return self._settings()

    def reading(self) -> AbstractContextManager[Archive]:
        """The newest generation, open until the block ends whatever is published meanwhile; raises ArchiveError."""
        return self._generation.reading()

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
                reply.record = record_replies.record_reply(record, self.zone)
            else:
                chunk = archive.chunk(ref.removeprefix("chunk:"))
                chunks = [chunk] if chunk else archive.chunks_of(ref)
                reply.passages = [record_replies.passage_reply(one, self.zone) for one in chunks]
            reply.related = self._related(archive, ref, limit=limit)
            if not (reply.members or reply.record or reply.passages or reply.related):
                raise UnknownRef(_unknown(ref))
            return reply

    def thread(self, thread_id: str, limit: int = 50, after: str | None = None) -> record_replies.ThreadReply:
        """The records of a thread, newest first, with or without `thread:` before its id. Raises UnknownRef."""
        thread_id, size = thread_id.removeprefix("thread:"), min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            members = self._members(archive, thread_id, size + 1, skipped)
            if not members and not skipped:
                raise UnknownRef(_unknown(f"thread:{thread_id}"))
            more = cursor(number, skipped + size) if len(members) > size else None
            return record_replies.ThreadReply(
                thread_id=thread_id, generation=number, members=members[:size], next_cursor=more
            )

    def neighbors(
        self,
        ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        after: str | None = None,
    ) -> record_replies.NeighborsReply:
        """What a record, passage or thread is directly related to; nothing for an id that the archive does not have."""
        size = min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            found = self._related(archive, ref, relation_types, direction, size + 1, skipped)
            more = cursor(number, skipped + size) if len(found) > size else None
            return record_replies.NeighborsReply(ref=ref, generation=number, neighbors=found[:size], next_cursor=more)

    def chunks(self, chunk_ids: Sequence[str]) -> dict[str, Any]:
        """`chunks` and their `count`: the first 50 of these ids, without those that are not known."""
        with self.reading() as archive:
            return get_chunks_batch(archive, chunk_ids)

    def person(self, name: str) -> PersonReply:
        """What is known of a person, by a name, an alias or a number. Raises PeopleError, which offers the choices."""
        with self.reading() as archive:
            return person_reply(archive.person(name), self.zone, archive.generation.number)

    def explore(self, query: str, search_relationships: bool = True, person: str = "", limit: int = 5) -> ExploreReply:
        """People, records and relationships that a query is about; see `exploration.explore`.

        With a `person` those that have to do with that person; raises PeopleError, which offers the choices.
        """
        with self.reading() as archive:
            corpus, most = self.graphs.own_corpus(), min(limit, MOST)
            found = explore(
                archive, _words(query), corpus, search_relationships=search_relationships, person=person, limit=most
            )
            return ExploreReply(generation=archive.generation.number, **dataclasses.asdict(found))

    def people(self, limit: int = 50, after: str | None = None) -> PeopleReply:
        """The people of the archive, those of most records first."""
        size = min(limit, MOST)
        with self.reading() as archive:
            number = archive.generation.number
            skipped = offset_of(after, number)
            with archive.people() as people:
                briefs = person_briefs(people.every().values(), archive.records_of_people())
            more = cursor(number, skipped + size) if len(briefs) > skipped + size else None
            return PeopleReply(generation=number, people=briefs[skipped : skipped + size], next_cursor=more)

    def full_graph(self, asked: GraphLimits | None = None) -> GraphReply:
        """The graph of the archive with the place of each node; the same until another generation is published."""
        with self.reading() as archive:
            return self._graph.of(archive, asked or GraphLimits())

    def graph_around(self, ref: str, limit: int = 30) -> GraphReply:
        """A record or person of the graph and what it is directly related to, without places. Raises UnknownRef."""
        with self.reading() as archive:
            graph = archive.graph_around(ref, limit)
            if not graph.nodes:
                raise UnknownRef(_unknown(ref))
            return GraphReply(generation=archive.generation.number, **dict(graph))

    def status(self) -> Status:
        """What there is of the archive, redacted; NotServed to those who see a part of it."""
        if self.clients:
            raise NotServed("this is for those who see the whole archive")
        settings = self.settings
        return redact(collect(settings), settings)

    @property
    def writes(self) -> bool:
        """Whether programs may state things."""
        return self.settings.web_writes_enabled and not self.clients

    def sources(self) -> list[Source]:
        """The sources that a query may be limited to."""
        if not self.clients:
            return self.settings.sources
        with self.reading() as archive:
            return archive.settings.sources

    def source_names(self) -> list[str]:
        """Their names."""
        return [source.name for source in self.sources()]

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

    def _members(self, archive: Archive, thread_id: str, limit: int, offset: int) -> list[record_replies.BriefReply]:
        members = archive.thread(thread_id, limit, offset)
        briefs = archive.briefs([one.asset_ref for one in members])
        return [record_replies.brief_reply(one, briefs, self.zone) for one in members]

    def _related(
        self,
        archive: Archive,
        ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        offset: int = 0,
    ) -> list[record_replies.NeighborReply]:
        found = archive.neighbors(ref, relation_types, direction, limit, offset)
        briefs = archive.briefs([one.asset_ref for one in found])
        return [record_replies.neighbor_reply(one, briefs, self.zone) for one in found]

    def _look(self) -> None:
        self._graph.drop_other(self._generation.number)
        self.graphs.let_go()


def _limits(filters: Filters | None) -> dict[str, Any]:
    chosen = filters or Filters()
    return {field.name: getattr(chosen, field.name) for field in dataclasses.fields(chosen)}


def _words(text: str) -> str:
    if not text.strip():
        raise WrongQuestion("the question is empty")
    return text


def _unknown(ref: str) -> str:
    return f'the archive has nothing named "{ref}" (any more); search shows ids'
