"""An open archive: one published generation, read-only, held by a shared lock while it is open."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from zoneinfo import ZoneInfo

import duckdb

from relrag_pipelines import settings as settings_module
from relrag_pipelines.embedders import Vectors
from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.links import later_links
from relrag_pipelines.privacy import keys
from relrag_pipelines.records import Chunk, ManualLink, Record
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog, generations, neighbors, vector_store
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.neighbors import Direction, Member, Neighbor
from relrag_pipelines.stores.vectors.protocol import StoreError
from relrag_pipelines.workspace import Workspace
from relrag_query import pipeline
from relrag_query.answering import intent_model
from relrag_query.answering.unread_hint import unread_hint
from relrag_query.display.page_texts import page_texts
from relrag_query.graph.full_graph import FullGraph, get_full_graph_data, get_graph_around
from relrag_query.people import described_relatives, questions, references, statement_reader, wordings, writers
from relrag_query.people.archive_people import ArchivePeople
from relrag_query.people.later_statements import LaterStatements
from relrag_query.people.page import PersonPage, page
from relrag_query.people.people import People
from relrag_query.people.relationship_index import RelationshipIndex
from relrag_query.people.relationship_search import RelationshipSearch, RelationshipSearchResult
from relrag_query.results import Answer, Results
from relrag_query.retrieval import (
    archive_contents,
    attachment_filter,
    catalog_reader,
    client_generation,
    record_list,
    record_reader,
    redacted_views,
)
from relrag_query.retrieval.attachment_filter import Attachment
from relrag_query.retrieval.connection_sharing import ArchiveError, Readers
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.question_length import NOTICE, shorten, shorten_all, valid_text
from relrag_query.retrieval.question_reader import (
    DateLike,
    Filters,
    Infer,
    limits_of,
    read_question,
    redact_question,
    rules_decide,
)
from relrag_query.retrieval.question_vectors import QuestionVectors
from relrag_query.retrieval.record_list import EntryCounts, Selection
from relrag_query.retrieval.record_reader import Brief, IndexEntry
from relrag_query.retrieval.term_coverage import Frequencies, tokens
from relrag_query.understanding.intent import Expansion
from relrag_query.understanding.people_question import PeopleInQuestion

__all__ = ["Archive", "ArchiveError", "DateLike"]

_KEPT_COUNTS = 32
"""lists of records whose counts are kept"""
_MOST_SENT = 10_000
"""ids of passages that a store of vectors is sent as a condition, 0.4 MB; hits are checked against more"""


class Archive:
    """The newest generation of an archive, for any number of threads. Use it in a `with` block, or close it."""

    def __init__(self, settings: Settings, generation: Generation, held: ExitStack, clients: Sequence[str] = ()):
        self.settings, self.generation, self._held, self._clients = settings, generation, held, clients
        # point lookups are faster on one thread, and many readers may run at once
        self._catalog = held.enter_context(catalog.open(generation.path / catalog.NAME, threads=1))
        self._vectors = vector_store.open(generation.path / "vectors")
        held.callback(self._vectors.close)
        if clients:
            scoped = client_generation.limit(clients, self._catalog, self._vectors, generation, settings)
            self._vectors, self.generation, self.settings = scoped
        redacted_views.redact(self._catalog, settings, generation)
        self._readers = Readers(self._catalog, lambda: self._held.close())
        self._questions = QuestionVectors(settings, generation.manifest)
        self._once = threading.RLock()
        """held where something is made that all questions share: `cached_property` alone makes it for each thread"""
        self._frequencies: Frequencies = {}
        # an archive is of one generation, and of the clients who may see it
        self._record_counts = functools.lru_cache(_KEPT_COUNTS)(self._count_selection)
        self._relationships: RelationshipIndex | None = None

    @classmethod
    def open(cls, config: Path | None = None) -> Archive:
        """The archive of that relrag.toml, else of the nearest one.

        Raises ArchiveError when nothing is published yet or its files are damaged, SettingsError when relrag.toml is
        missing or wrong.
        """
        return cls.of(settings_module.load(config))

    @classmethod
    def of(cls, settings: Settings, clients: Sequence[str] = ()) -> Archive:
        """The archive of these settings, of which only the records of `clients` exist, if any are named.

        Raises as `open` does.
        """
        with ExitStack() as held:
            try:
                generation = held.enter_context(generations.open_current(settings.home_path))
            except (generations.NothingPublished, generations.GenerationError) as error:
                raise ArchiveError(str(error), code=error.code, **error.values) from None
            try:
                archive = cls(settings, generation, held, clients)
            except RelragError as error:
                raise ArchiveError(str(error), code=error.code, **error.values) from None
            except Exception as error:  # Qdrant Edge raises Exception itself
                raise ArchiveError(
                    f"generation {generation.number} cannot be opened; `relrag verify` names the files that differ"
                ) from error
            archive._held = held.pop_all()
            return archive
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Lets go of the generation, once the threads that still read it have ended; nothing is waited for."""
        self._readers.close()

    def _reading(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        return self._readers.cursor()

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def search(
        self,
        query: str,
        *,
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        person: str = "",
        since: DateLike = None,
        until: DateLike = None,
        attachment: Attachment | None = None,
        added: DateLike = None,
        limit: int | None = None,
    ) -> Results:
        """The passages that fit a query best; with a `person` (a name, an alias or a number) those that have to do with
        that person. Raises PeopleError, which offers the choices, where nobody is meant, or several may be.

        With an `attachment` (a type of it, or `any`) those of attachments and of what they are attached to.
        `since` and `until` (to the end of that day, month or year) leave out everything else; a time phrase in the
        query itself only puts what lies within it first. `added` keeps only what was first published then or later.
        A smaller `limit` gives the first of the same hits. Without words, `list_records` answers.
        """
        shown = self.settings.search_limit if limit is None else limit
        filters = Filters(sources, kinds, since, until, person, attachment, added)
        if not query.strip():
            return self.list_records(filters, shown)
        query = valid_text(query)
        words = shorten(query)
        with self._reading() as connection:
            context = self._context(connection, words, filters, shown)
            results = pipeline.search(context, shown)
            return results if words == query else replace(results, query=query, head=[NOTICE, *results.head])

    def list_records(self, filters: Filters, limit: int, offset: int = 0, *, oldest_first: bool = False) -> Results:
        """The records that filters leave, in order of time, without the first `offset`; of a chat its windows.

        Raises as `search` does.
        """
        with self._reading() as connection:
            selection = self._selection(connection, filters, limit)
            hits = record_list.hits(connection, selection, limit, offset, oldest_first=oldest_first)
            return Results("", hits, None, [], [f"list: {len(hits)} entries"])

    def count_records(self, filters: Filters) -> EntryCounts:
        """What `list_records` lists, counted once for all pages of a list. Raises as that does."""
        with self._reading() as connection:
            merged = self._people(connection).statements.survivors
            selection = self._selection(connection, filters, 1)
        return self._record_counts(selection, frozenset(merged.items()))

    def _count_selection(self, selection: Selection, merged: frozenset[tuple[int, int]]) -> EntryCounts:
        with self._reading() as connection:
            return record_list.counts(connection, selection, ZoneInfo(self.settings.timezone), dict(merged))

    def _selection(self, connection: duckdb.DuckDBPyConnection, filters: Filters, limit: int) -> Selection:
        zone = ZoneInfo(self.settings.timezone)
        limits = limits_of(filters, self.settings, limit, zone)
        if filters.person:
            limits = replace(limits, person_ids=self._people(connection).filter_ids(filters.person))
        return Selection(limits, filters.attachment, record_list.moment(filters.added, zone))

    def _within(self, connection: duckdb.DuckDBPyConnection, filters: Filters) -> frozenset[str]:
        """The passages that have the attachment and were added when filters say; empty where they say neither."""
        chosen = []
        if filters.attachment:
            chosen.append(attachment_filter.passages(connection, filters.attachment))
        if added := record_list.moment(filters.added, ZoneInfo(self.settings.timezone)):
            chosen.append(record_list.added_passages(connection, added))
        return (frozenset.intersection(*chosen) or attachment_filter.NOWHERE) if chosen else frozenset()

    def ask(
        self,
        question: str,
        *,
        follows: Sequence[str] = (),
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        person: str = "",
        since: DateLike = None,
        until: DateLike = None,
        attachment: Attachment | None = None,
        added: DateLike = None,
        limit: int | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """The sentences that answer a question, with the records that say so; `limit` caps the sentences and sources.

        `person` is as in `search`; `follows` are the questions that it follows up, the last one first. Where a language
        model answers, `on_text` is called with each piece as it is written.
        """
        candidates = max(limit or 0, 3 * self.settings.search_limit)
        question = valid_text(question)
        words, earlier = shorten_all(question, follows)
        cut = "" if words == question else NOTICE
        with self._reading() as connection:
            limits = Filters(sources, kinds, since, until, person, attachment, added)
            people, notice = self._people_or_why(connection)
            context = self._context(connection, words, limits, candidates, earlier, people)
            context.excluded_labels = frozenset(map(str.casefold, self.settings.answer_excluded_labels))
            if earlier:
                asked_before = self._context(
                    connection, earlier[0], limits, candidates, earlier[1:], people, infer=rules_decide
                )
                asked_before.excluded_labels = context.excluded_labels
                context.matter = pipeline.matter(asked_before)
            answer = pipeline.ask(context, limit, on_text, ArchivePeople(people, connection), self._reader())
            # who may see some clients only is told of no file: none belongs to a client before it is read
            is_hinted = not answer.found and not self._clients
            unread = (
                unread_hint(context.question.terms, self.settings, page_texts(answer.language)) if is_hinted else ""
            )
            notices = " ".join(filter(None, (cut, notice, answer.notice, unread)))
            return replace(answer, question=question, notice=notices)

    def _reader(self) -> pipeline.Read | None:
        """Has the configured language model answer; None if excerpts are the answer."""
        if self.settings.answerer == "extractive":
            return None
        # imported only here: most archives have no model
        from relrag_query.answering import llm
        from relrag_query.answering.reader import reading

        return lambda question, passages, on_text: reading.read(llm.writer(self.settings), question, passages, on_text)

    @contextmanager
    def people(self) -> Iterator[People]:
        """Who is who, with what the owner said since the generation was made."""
        with self._reading() as connection:
            yield self._people(connection)

    def person(self, name: str) -> PersonPage:
        """The page about a person, by a name, an alias or a number. Raises PeopleError, which offers the choices."""
        with self._reading() as connection:
            people = self._people(connection)
            return page(connection, people, references.one_person(name, people), self.settings.timezone)

    def records_of_people(self) -> dict[int, int]:
        """How many records each person wrote, received or took part in, by id; what only names somebody is apart."""
        with self._reading() as connection:
            return self._people(connection).record_counts()

    def newest_addition(self) -> datetime | None:
        """When a passage was first published last, UTC, without a zone; None of an empty archive."""
        with self._reading() as connection:
            return record_list.newest_addition(connection)

    def added_by_source(self, added: datetime) -> dict[str, int]:
        """Source -> entries of `list_records` that were first published then or later; sources with any."""
        with self._reading() as connection:
            return record_list.added_by_source(connection, added)

    def frequent_subjects(self, limit: int) -> list[str]:
        """Subjects of the mail threads with most mails."""
        with self._reading() as connection:
            return archive_contents.frequent_subjects(connection, limit)

    def people_of_passages(self, chunk_ids: Collection[str]) -> list[list[int]]:
        """For each passage, the ids of the people who wrote, received or took part in it, or whom it names."""
        with self._reading() as connection:
            return archive_contents.people_of_passages(connection, chunk_ids)

    def meaning(self, redacted: str) -> tuple[Vectors | None, str]:
        """The vector of a redacted question as it is compared, or why it has none."""
        return self._questions.embed(redacted)

    def likeness(self, redacted: str, texts: Sequence[str]) -> list[float] | None:
        """How alike each text is to a redacted question, token by token, up to 1; None without e5."""
        meaning, _ = self.meaning(redacted)
        if meaning is None or not self._questions.means or not texts:
            return None
        similarities, _ = self._questions.similarities(redacted, meaning, texts)
        return [float(value) for value in similarities[:, 1]]

    def relationship_search(
        self,
        people: People,
        query: str,
        user_id: str = "",
        types: Collection[str] | None = None,
        ends: Collection[int] | None = None,
    ) -> RelationshipSearch:
        """A search among the relationships of these people; the fields are those of `RelationshipSearch`."""
        meaning, _ = self.meaning(redact_question(query, self.settings))
        model = str(self.generation.manifest.get("embedder", ""))
        return RelationshipSearch(
            people, self._relationship_index(), self.settings, model, meaning, user_id, types, ends
        )

    def _relationship_index(self) -> RelationshipIndex:
        """The index of this generation's relationships, read once."""
        with self._once:
            if self._relationships is None:
                manifest = self.generation.manifest
                with self._reading() as connection:
                    self._relationships = RelationshipIndex(
                        connection, str(manifest.get("embedder", "")), manifest.get("means", {})
                    )
            return self._relationships

    def term_frequencies(self) -> Frequencies:
        """How many passages hold a word."""
        with self._reading() as connection:
            return self._counted(connection)

    def _later_links(self, connection: duckdb.DuckDBPyConnection) -> list[ManualLink]:
        """The owner's links since the generation was published; none for clients, or where the journal is damaged."""
        if self._clients:
            return []
        try:
            links = later_links.read(self.settings, self.generation.manifest.get("journal", 0))
        except JournalError:  # `ask` says so, and `relrag verify` what to do
            return []
        return later_links.with_both_ends(connection, links)

    def _people(self, connection: duckdb.DuckDBPyConnection) -> People:
        if self._clients:  # what the owner says of people is for none of them
            return People(connection, LaterStatements())
        return People(connection, statement_reader.read(self.settings, self.generation.manifest.get("journal", 0)))

    def _people_or_why(self, connection: duckdb.DuckDBPyConnection) -> tuple[People, str]:
        """The people, and why without what was said of them since the generation, where that cannot be read."""
        try:
            return self._people(connection), ""
        except JournalError as error:
            why = f"What you said of people since the last sync is left out: {error}."
            return People(connection, LaterStatements()), why

    def record(self, asset_id: str) -> Record | None:
        """The record of that id; None where the archive has none."""
        with self._reading() as connection:
            return record_reader.record(connection, asset_id)

    def knows(self, native_id: str) -> bool:
        """Whether some record has that id, its native id, or the part of it behind its source's name."""
        with self._reading() as connection:
            return record_reader.is_record_id(connection, native_id)

    def stored_id(self, native_id: str) -> str:
        """The id as it stands in the index: one that could hold a phone number or an address is a hash there."""
        store = self.settings.key_store
        return keys.safe_native_id(native_id, store.load()) if store.exists() else native_id

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The passage of that id; None where the archive has none."""
        with self._reading() as connection:
            return catalog_reader.chunks(connection, [chunk_id]).get(chunk_id)

    def index_entries(self, refs: Sequence[str]) -> dict[str, IndexEntry]:
        """What the index knows of these passages, or of the passages of these records, by chunk_id.

        Without points if a server of vectors fails.
        """
        with self._reading() as connection:
            times = record_reader.created_at(connection, refs)
        try:
            points = self._vectors.point_ids(times)
        except StoreError:
            points = {}
        return {
            chunk_id: IndexEntry(time, [points[chunk_id]] if chunk_id in points else [])
            for chunk_id, time in times.items()
        }

    def chunks_of(self, asset_id: str) -> list[Chunk]:
        """The passages of a record or chat window, in order.

        Of a window that an earlier generation had, those of the window that holds its first message now.
        """
        with self._reading() as connection:
            chunks = catalog_reader.asset_chunks(connection, [asset_id])
            return chunks or record_reader.successors(connection, asset_id)[:1]

    def cited_chunk(self, chunk_id: str, asset_id: str = "", quote: str = "") -> Chunk | None:
        """The passage of that id; where it was made anew since, that of its record or window with most of the quote.

        None where the archive has neither.
        """
        if passage := self.chunk(chunk_id):
            return passage
        others = self.chunks_of(asset_id) if asset_id else []
        quoted = tokens(quote)
        return max(others, key=lambda chunk: len(quoted & tokens(chunk.text)), default=None)

    def cited_record(self, chunk: Chunk, quote: str) -> str:
        """The record that a quote of a passage is from: of a chat window the message with most of its words."""
        quoted = tokens(quote)
        messages = filter(None, map(self.record, chunk.members))
        cited = max(messages, key=lambda record: len(quoted & tokens(record.text)), default=None)
        return cited.asset_id if cited else chunk.asset_id

    def thread(self, thread_id: str, limit: int = 100, offset: int = 0) -> list[Member]:
        """The records of a thread, newest first."""
        with self._reading() as connection:
            return neighbors.thread_members(connection, thread_id, limit, offset, later=self._later_links(connection))

    def neighbors(
        self,
        asset_ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
        offset: int = 0,
    ) -> list[Neighbor]:
        """What a record, passage or thread is directly related to."""
        with self._reading() as connection:
            later = self._later_links(connection)
            return neighbors.neighbors(connection, asset_ref, relation_types, direction, limit, offset, later=later)

    def full_graph(
        self,
        limit_persons: int = 100,
        limit_assets_per_person: int = 10,
        include_asset_edges: bool = True,
        records: int = 0,
    ) -> FullGraph:
        """People, their records, and what relates them; see `get_full_graph_data`."""
        with self._reading() as connection:
            return get_full_graph_data(connection, limit_persons, limit_assets_per_person, include_asset_edges, records)

    def graph_around(self, ref: str, limit: int = 30) -> FullGraph:
        """A record or person and what it is directly related to."""
        with self._reading() as connection:
            return get_graph_around(connection, ref, limit)

    def briefs(self, refs: Sequence[str]) -> dict[str, Brief]:
        """What a list says of each record, chat window or passage of these that exists, by ref."""
        with self._reading() as connection:
            return record_reader.briefs(connection, refs)

    def _context(
        self,
        connection: duckdb.DuckDBPyConnection,
        question: str,
        filters: Filters,
        limit: int,
        follows: Sequence[str] = (),
        people: People | None = None,
        infer: Infer | None = None,
    ) -> QueryContext:
        """Builds the context of a question. Only if `people` is given does it hold the people whom the question names.

        `infer` reads the intents; without it the configured model does.
        """
        named = self._people_asked_about(question, follows, people) if people else PeopleInQuestion()
        persons = people.by_id(named.named).values() if people else ()
        context = read_question(
            question, self.settings, self._vectors, connection, self._counted(connection), self._questions.embed,
            filters, infer=infer or functools.partial(intent_model.infer, settings=self.settings), follows=follows,
            people=named, wordings=wordings.wordings(persons), languages=self._questions.means.keys(), limit=limit,
        )  # fmt: skip
        context.passage_count = self.generation.manifest["counts"]["chunks"]
        context.redact = functools.partial(redact_question, settings=self.settings)
        context.later_links = self._later_links(connection)
        within = self._within(connection, filters)
        context.limits = replace(context.limits, within=within)
        if len(within) > _MOST_SENT:
            context.vectors = client_generation.ScopedVectors(self._vectors, within)
        if filters.person:
            context.limits = replace(context.limits, person_ids=self._people(connection).filter_ids(filters.person))
        if context.meaning is not None and self._questions.means:
            similarities = self._questions.similarities
            context.similarities = functools.partial(similarities, context.embedded_text, context.meaning)
        if people:
            context.question = replace(context.question, people=_with_relatives(named, people, context.expansion))
            related = functools.partial(self._related, people, context)
            context.settle = functools.partial(described_relatives.settle, search=related)
            context.usual_names = functools.partial(writers.usual_names, people=people, connection=connection)
            context.sent_by_named = functools.partial(
                writers.sent_by, named.named, people=people, connection=connection
            )
        return context

    def _related(
        self, people: People, context: QueryContext, types: Collection[str] | None
    ) -> list[RelationshipSearchResult]:
        """The relationships of some types that are nearest to a question by meaning."""
        model = str(self.generation.manifest.get("embedder", ""))
        index, meaning = self._relationship_index(), context.meaning
        return RelationshipSearch(people, index, self.settings, model, meaning, types=types).nearest()

    def _people_asked_about(self, question: str, follows: Sequence[str], people: People) -> PeopleInQuestion:
        """The people in a question, and what it asks of them; where it names nobody, those of the last that did."""
        own = self._people_in(question, people)
        if own.named:
            return own
        earlier = (self._people_in(text, people) for text in follows)
        last = next((others for others in earlier if others.named), own)
        return replace(own, named=last.named, in_index=last.in_index)

    def _people_in(self, question: str, people: People) -> PeopleInQuestion:
        """The people in a question, and what it asks of them."""

        def key_of(kind: str, normalised: str) -> str:
            # the keys are read only where a number or address is asked about: a keyring may ask its owner
            store = self.settings.key_store
            return store.load().pseudonym(kind, normalised) if store.exists() else ""

        return questions.people_in(question, people, key_of, Workspace(self.settings).regions)

    def _counted(self, connection: duckdb.DuckDBPyConnection) -> Frequencies:
        """How many passages hold a word, read once."""
        with self._once:
            self._frequencies = self._frequencies or catalog_reader.frequencies(connection)
            return self._frequencies


def _with_relatives(named: PeopleInQuestion, people: People, expansion: Expansion) -> PeopleInQuestion:
    """The people in a question, with their relatives where the question's intents go as far."""
    if not (named.named and expansion.relationships):
        return named
    relatives = people.expand_person_ids_with_relationships(named.named, depth=expansion.depth)
    others = [person_id for person_id in relatives if person_id not in named.named and person_id != people.owner]
    return replace(named, relatives_in_index=tuple(people.ids_in_index(others)))
