"""The archive as a service for pages, API and MCP: many concurrent callers, each request within one generation."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.stores.neighbors import Direction
from relrag_query.archive import Archive, ArchiveError
from relrag_query.graphrag.answer import Method
from relrag_query.graphrag.answer_reply import GraphAnswerReply
from relrag_query.graphrag.chunk_lookup import get_chunks_batch
from relrag_query.graphrag.entity_exploration import explore
from relrag_query.people.indexed_person import PeopleError, is_number
from relrag_query.results import Results
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.question_reader import Filters
from relrag_query.service import record_replies, replies, search_overview
from relrag_query.service.archive_status import Status, collect, redact
from relrag_query.service.cursors import MAX_ENTRIES, cursor, offset_of
from relrag_query.service.errors import NotServed, UnknownRef
from relrag_query.service.graph_index_cache import GraphIndexes, ReportsReply
from relrag_query.service.graph_replies import GraphLimits, GraphReply, GraphReplyCache
from relrag_query.service.live_settings import LiveSettings
from relrag_query.service.open_generation import OpenGeneration
from relrag_query.service.person_replies import (
    ExploreReply,
    PeopleReply,
    PersonChoice,
    PersonReply,
    person_briefs,
    person_reply,
)
from relrag_query.service.record_replies import ShowReply
from relrag_query.service.replies import local_time
from relrag_query.service.search_overview import Order

_WHOLE_THREAD = 10**7
"""records, more than any thread has"""
_WARM_UP_QUESTION = "Who wrote to +420 777 123 456 about the schedule in March 2024?"


class Service:
    """One archive, usable from any thread. Use it in a `with` block, or close it."""

    def __init__(
        self,
        settings: Settings,
        graphrag_index: Path | None = None,
        config: Path | None = None,
        clients: Sequence[str] = (),
    ) -> None:
        """`graphrag_index` is the folder of the index in which `trace` looks up citations, `config` the relrag.toml.

        With `clients`, only their records exist, and operations on the whole archive are not served.
        """
        self.config, self.clients = config, tuple(clients)
        self._settings = LiveSettings(settings, config)
        self.graphs = GraphIndexes(self._settings, graphrag_index, served=not clients)
        self._graph = GraphReplyCache()
        self._generation = OpenGeneration(self._settings, self.clients, self._graph.drop, self._poll)

    @classmethod
    def open(cls, config: Path | None = None, graphrag_index: Path | None = None) -> Service:
        """The service of a relrag.toml, by default the nearest one. Raises SettingsError if there is none."""
        path = config or settings_module.find_config()
        return cls(settings_module.load(path), graphrag_index, path)

    def close(self) -> None:
        """Closes the archive when the requests that read it have ended."""
        self._generation.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm_up(self) -> None:
        """Loads models, phrases and recognisers in advance.

        Loading cannot be cancelled, so it does not wait for the first question. Sends nothing to a language model.
        """
        with suppress(ArchiveError), self.reading() as archive:
            archive.search(_WARM_UP_QUESTION)
            if archive.settings.answerer == "extractive":
                archive.ask(_WARM_UP_QUESTION)

    @property
    def settings(self) -> Settings:
        """The current settings; raises ArchiveError if relrag.toml has become invalid."""
        return self._settings()

    @property
    def name(self) -> str:
        """Name of the archive; while relrag.toml is invalid the one that it had before."""
        return self._settings.valid.archive

    @property
    def zone(self) -> ZoneInfo:
        """The owner's time zone; raises ArchiveError if relrag.toml has become invalid."""
        return ZoneInfo(self.settings.timezone)

    def reload_settings(self) -> None:
        """Uses relrag.toml as it is now, after a change by this service."""
        self._settings.reload()

    def reading(self) -> AbstractContextManager[Archive]:
        """The newest generation, which stays open until the block ends. Raises ArchiveError."""
        return self._generation.reading()

    def search(
        self,
        query: str,
        filters: Filters | None = None,
        limit: int | None = None,
        after: str | None = None,
        order: Order = "relevance",
        overview: bool = False,
    ) -> replies.SearchReply:
        """The best passages for a query; `after` is the cursor of an earlier page of the same size and order.

        Without words, the records that the filters leave, the newest first unless the oldest are asked for.

        By date, and with an `overview`, the pages are cut from a search for MAX_ENTRIES passages. Else the first page
        is the result of `Archive.search`; later pages come from the larger search, whose order may differ because there
        are more candidates, so the passages of the first page are removed from it.
        """
        with self.reading() as archive:
            size, number = min(limit or archive.settings.search_limit, MAX_ENTRIES), archive.generation.number
            offset = offset_of(after, number)
            if not query.strip():
                return self._list(archive, filters or Filters(), size, offset, order, overview=overview)
            search = functools.partial(archive.search, query, **_limits(filters))
            if overview or order != "relevance":
                results = search(limit=MAX_ENTRIES)
                ranked = results.hits
                hits = _in_order(ranked, order)
            else:
                results = search(limit=size)
                ranked = hits = _with_later(results.hits, search) if offset else results.hits
            results.hits = hits[offset : offset + size]
            reply = replies.search_reply(results, self.zone, number)
            if overview:
                is_complete, with_people = len(ranked) < MAX_ENTRIES, not self.clients
                reply.overview = search_overview.overview(
                    archive, ranked, self.zone, complete=is_complete, with_people=with_people
                )
            if len(results.hits) == size and offset + size < MAX_ENTRIES:
                reply.next_cursor = cursor(number, offset + size)
            return reply

    def _list(
        self, archive: Archive, filters: Filters, size: int, offset: int, order: Order, *, overview: bool
    ) -> replies.SearchReply:
        """A page of the records that filters leave, and with an `overview` their counts."""
        results = archive.list_records(filters, size + 1, offset, oldest_first=order == "oldest")
        has_more = len(results.hits) > size
        results.hits = results.hits[:size]
        reply = replies.search_reply(results, self.zone, archive.generation.number)
        if overview:
            counts = archive.count_records(filters)
            reply.overview = search_overview.list_overview(archive, counts, with_people=not self.clients)
        if has_more:
            reply.next_cursor = cursor(archive.generation.number, offset + size)
        return reply

    def ask(
        self,
        question: str,
        filters: Filters | None = None,
        limit: int | None = None,
        on_text: Callable[[str], None] | None = None,
        follows: Sequence[str] = (),
    ) -> replies.AnswerReply:
        """An answer with its sources; see `Archive.ask`. `follows` holds the earlier questions, newest first."""
        with self.reading() as archive:
            answer = archive.ask(
                _require_text(question), **_limits(filters), limit=limit, follows=list(follows), on_text=on_text
            )
            return replies.answer_reply(answer, self.zone, archive.generation.number)

    def show(self, ref: str, limit: int = 50) -> ShowReply:
        """The object of an id: a record, passage (chunk:...), chat window, thread (thread:...) or person (person:<id>).

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
                reply.record = record_replies.record_reply(record, self.zone, archive.index_entries([ref]))
            else:
                reply.passages = self._passages(archive, ref)
            reply.related = self._related(archive, ref, limit=limit)
            if not (reply.members or reply.record or reply.passages or reply.related):
                raise _unknown_ref(ref)
            return reply

    def _passages(self, archive: Archive, ref: str) -> list[record_replies.PassageReply]:
        """The passage of an id, or those of a chat window."""
        chunk = archive.chunk(ref.removeprefix("chunk:"))
        chunks = [chunk] if chunk else archive.chunks_of(ref)
        entries = archive.index_entries([chunk.chunk_id for chunk in chunks])
        return [record_replies.passage_reply(chunk, self.zone, entries.get(chunk.chunk_id)) for chunk in chunks]

    def thread(self, thread_id: str, limit: int = 50, after: str | None = None) -> record_replies.ThreadReply:
        """The records of a thread, newest first, with or without `thread:` before its id. Raises UnknownRef."""
        thread_id, size = thread_id.removeprefix("thread:"), min(limit, MAX_ENTRIES)
        with self.reading() as archive:
            number = archive.generation.number
            offset = offset_of(after, number)
            members = self._members(archive, thread_id, size + 1, offset)
            if not members and not offset:
                raise _unknown_ref(f"thread:{thread_id}")
            next_cursor = cursor(number, offset + size) if len(members) > size else None
            return record_replies.ThreadReply(
                thread_id=thread_id, generation=number, members=members[:size], next_cursor=next_cursor
            )

    def cursor_around(self, thread_id: str, ref: str, limit: int) -> str:
        """The cursor of the page of a thread that has a record in its middle; empty if the thread does not hold it."""
        with self.reading() as archive:
            refs = [member.asset_ref for member in archive.thread(thread_id.removeprefix("thread:"), _WHOLE_THREAD)]
            start = max(0, refs.index(ref) - limit // 2) if ref in refs else None
            return "" if start is None else cursor(archive.generation.number, start)

    def briefs(self, refs: Sequence[str]) -> list[record_replies.BriefReply]:
        """What a list says of each of these records; only `ref` for what is not published."""
        with self.reading() as archive:
            briefs = archive.briefs(refs)
            return [record_replies.brief_reply(ref, briefs, self.zone) for ref in refs]

    def neighbors(
        self,
        ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        after: str | None = None,
    ) -> record_replies.NeighborsReply:
        """The direct relations of a record, passage or thread; empty for an unknown id."""
        size = min(limit, MAX_ENTRIES)
        with self.reading() as archive:
            number = archive.generation.number
            offset = offset_of(after, number)
            neighbors = self._related(archive, ref, relation_types, direction, size + 1, offset)
            next_cursor = cursor(number, offset + size) if len(neighbors) > size else None
            return record_replies.NeighborsReply(
                ref=ref, generation=number, neighbors=neighbors[:size], next_cursor=next_cursor
            )

    def chunks(self, chunk_ids: Sequence[str]) -> dict[str, Any]:
        """`chunks` and their `count` for the first 50 of the ids; unknown ids are left out."""
        with self.reading() as archive:
            return get_chunks_batch(archive, chunk_ids)

    def chunk(self, chunk_id: str) -> dict[str, Any]:
        """A passage as `chunks` gives it. Raises UnknownRef."""
        for row in self.chunks([chunk_id])["chunks"]:
            return dict(row)
        raise _unknown_ref(chunk_id)

    def person(self, name: str) -> PersonReply:
        """The page about a person, by name, alias or number. Raises PeopleError with the choices if it is ambiguous."""
        with self.reading() as archive:
            return person_reply(archive.person(name), self.zone, archive.generation.number)

    def explore(self, query: str, search_relationships: bool = True, person: str = "", limit: int = 5) -> ExploreReply:
        """People, records and relationships that a query is about; see `exploration.explore`.

        `person` limits them to one person. Raises PeopleError with the choices if that name is ambiguous.
        """
        with self.reading() as archive:
            corpus, size = self.graphs.own_corpus(), min(limit, MAX_ENTRIES)
            exploration = explore(
                archive,
                _require_text(query),
                corpus,
                search_relationships=search_relationships,
                person=person,
                limit=size,
            )
            return ExploreReply(generation=archive.generation.number, **dataclasses.asdict(exploration))

    def people(self, limit: int = 50, after: str | None = None) -> PeopleReply:
        """The people of the archive, those with most records first."""
        size = min(limit, MAX_ENTRIES)
        with self.reading() as archive:
            number = archive.generation.number
            offset = offset_of(after, number)
            with archive.people() as people:
                briefs = person_briefs(people.every().values(), archive.records_of_people())
            next_cursor = cursor(number, offset + size) if len(briefs) > offset + size else None
            return PeopleReply(generation=number, people=briefs[offset : offset + size], next_cursor=next_cursor)

    def people_to_choose(self, person_ids: Sequence[int]) -> list[PersonChoice]:
        """These people, those with most records first, with what tells them apart."""
        with self.reading() as archive:
            with archive.people() as people:
                briefs = person_briefs(people.by_id(person_ids).values(), archive.records_of_people())
                newest = people.newest_records(person_ids)
            return [
                PersonChoice(**dict(brief), latest=local_time(newest.get(brief.person_id), self.zone))
                for brief in briefs
            ]

    def full_graph(self, limits: GraphLimits | None = None) -> GraphReply:
        """The graph of the archive with the position of each node, computed once per generation."""
        with self.reading() as archive:
            return self._graph.reply(archive, limits or GraphLimits())

    def graph_around(self, ref: str, limit: int = 30) -> GraphReply:
        """A record or person of the graph and its direct relations, without positions. Raises UnknownRef."""
        with self.reading() as archive:
            graph = archive.graph_around(ref, limit)
            if not graph.nodes:
                raise _unknown_ref(ref)
            return GraphReply(generation=archive.generation.number, **dict(graph))

    def status(self) -> Status:
        """The redacted state of the archive. Raises NotServed if the service is limited to clients."""
        if self.clients:
            raise NotServed("this is for those who see the whole archive", code="whole_archive")
        settings = self.settings
        return redact(collect(settings), settings)

    @property
    def writes(self) -> bool:
        """Whether programs may add statements."""
        return self.settings.web_writes_enabled and not self.clients

    def sources(self) -> list[Source]:
        """The sources that can be used as a filter."""
        if not self.clients:
            return self.settings.sources
        with self.reading() as archive:
            return archive.settings.sources

    def source_names(self) -> list[str]:
        """Names of the sources."""
        return [source.name for source in self.sources()]

    def graphrag(self, question: str, collection: str = "archive", method: Method = "global") -> GraphAnswerReply:
        """The answer of a GraphRAG index, with traced citations. Raises NotServed if there is no such index."""
        with self.reading() as archive:
            return self.graphs.query(archive, collection, _require_text(question), method)

    def reports(self, collection: str = "archive", limit: int = 20, after: str | None = None) -> ReportsReply:
        """The reports of a GraphRAG index, those with most passages first. Raises NotServed."""
        size = min(limit, MAX_ENTRIES)
        with self.reading() as archive:
            number = archive.generation.number
            offset = offset_of(after, number)
            page = self.graphs.reports(collection, size, offset)
            if offset + size < page.count:
                page.next_cursor = cursor(number, offset + size)
            return page

    def _person(self, archive: Archive, ref: str) -> PersonReply:
        number = ref.removeprefix("person:")
        try:
            if is_number(number):
                return person_reply(archive.person(number), self.zone, archive.generation.number)
        except PeopleError:
            pass
        raise _unknown_ref(ref)

    def _members(self, archive: Archive, thread_id: str, limit: int, offset: int) -> list[record_replies.BriefReply]:
        members = archive.thread(thread_id, limit, offset)
        briefs = archive.briefs([member.asset_ref for member in members])
        return [record_replies.brief_reply(member.asset_ref, briefs, self.zone) for member in members]

    def _related(
        self,
        archive: Archive,
        ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        offset: int = 0,
    ) -> list[record_replies.NeighborReply]:
        neighbors = archive.neighbors(ref, relation_types, direction, limit, offset)
        briefs = archive.briefs([neighbor.asset_ref for neighbor in neighbors])
        return [record_replies.neighbor_reply(neighbor, briefs, self.zone) for neighbor in neighbors]

    def _poll(self) -> None:
        self._graph.drop_other(self._generation.number)
        self.graphs.evict_changed()


def _in_order(hits: list[Hit], order: Order) -> list[Hit]:
    """The hits, best first; in an order of time without those that are similar by meaning alone."""
    if order == "relevance":
        return hits
    return search_overview.by_date(search_overview.with_words(hits), newest_first=order == "newest")


def _with_later(first_page: list[Hit], search: Callable[..., Results]) -> list[Hit]:
    """The hits of the first page, then the others of a search for MAX_ENTRIES."""
    first_ids = {hit.chunk.chunk_id for hit in first_page}
    return [*first_page, *(hit for hit in search(limit=MAX_ENTRIES).hits if hit.chunk.chunk_id not in first_ids)]


def _limits(filters: Filters | None) -> dict[str, Any]:
    filters = filters or Filters()
    return {field.name: getattr(filters, field.name) for field in dataclasses.fields(filters)}


def _require_text(text: str) -> str:
    if not text.strip():
        raise WrongQuestion("the question is empty", code="question_empty")
    return text


def _unknown_ref(ref: str) -> UnknownRef:
    return UnknownRef(f'the archive has nothing named "{ref}" (any more); search shows ids', code="ref_absent", ref=ref)
