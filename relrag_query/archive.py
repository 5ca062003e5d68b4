"""An open archive: one published generation, read-only, held by a shared lock while it is open."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from zoneinfo import ZoneInfo

import duckdb

from relrag_pipelines import embedders
from relrag_pipelines import settings as settings_module
from relrag_pipelines.embedders import Embedder, EmbeddingError, Vectors
from relrag_pipelines.embedders.embed_chunks import supports_language
from relrag_pipelines.links import neighbors
from relrag_pipelines.links.neighbors import Direction, Member, Neighbor
from relrag_pipelines.pii.pseudonyms import to_entity_type
from relrag_pipelines.privacy import keys
from relrag_pipelines.records import Chunk, Record
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import catalog, generations, vectors
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.vectors import StoreError
from relrag_query.answering import explanation, listing
from relrag_query.answering.extractive import ExtractiveAnswer, answer
from relrag_query.answering.generative import GeneratedAnswer, fit_token_budget, generate
from relrag_query.answering.llm import AnswerError, writer
from relrag_query.answering.named_records import add_named_records
from relrag_query.answering.reply_expansion import attach_replies
from relrag_query.results import (
    Answer,
    CitedSource,
    Results,
    cited_sources,
    displayed_sources,
    main_record,
    make_quote,
    nearest_hits,
)
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.neighborhood import expand_step
from relrag_query.retrieval.search import MIN_CANDIDATES, SEARCH, QueryContext, Step, add_siblings, run
from relrag_query.retrieval.term_coverage import PART, Frequencies, mentions_time, passage_tokens, query_terms
from relrag_query.retrieval.thread_readers import ArchiveError, Readers
from relrag_query.understanding.intent import asks_for_value, classify_query_intent, named_channel
from relrag_query.understanding.time_expressions import day_range, seconds, time_range

__all__ = ["Archive", "ArchiveError", "DateLike"]

DateLike = str | date | None
"""`2024`, `2024-03`, `2024-03-15`, a date or a datetime with a zone"""

_ASK: tuple[Step, ...] = (*SEARCH, attach_replies, add_siblings, expand_step)
_PERSONAL = re.compile(r"[\d@＠﹫([{]")
"""a question without digit or @ holds no personal data that is replaced in the index"""


class Archive:
    """The newest generation of an archive, for any number of threads. Use it in a `with` block, or close it."""

    def __init__(self, settings: Settings, generation: Generation, held: ExitStack) -> None:
        self.settings = settings
        self.generation = generation
        self._held = held
        self._zone = ZoneInfo(settings.timezone)
        # point lookups are faster on one thread, and many readers may run at once
        self._catalog = held.enter_context(catalog.open(generation.path / catalog.NAME, threads=1))
        self._vectors = vectors.open(generation.path / "vectors")
        held.callback(self._vectors.close)
        self._readers = Readers(self._catalog, self._let_go)
        self._once = threading.RLock()
        """held where something is made that all questions share: `cached_property` alone makes it for each thread"""
        self._frequencies: Frequencies = {}

    @classmethod
    def open(cls, config: Path | None = None) -> Archive:
        """The archive of that relrag.toml, else of the nearest one.

        Raises ArchiveError when nothing is published yet or its files are damaged, SettingsError when relrag.toml is
        missing or wrong.
        """
        return cls.of(settings_module.load(config))

    @classmethod
    def of(cls, settings: Settings) -> Archive:
        """The archive of these settings; raises as `open` does."""
        with ExitStack() as held:
            try:
                generation = held.enter_context(generations.open_current(settings.home_path))
            except (generations.NothingPublished, generations.GenerationError) as error:
                raise ArchiveError(str(error)) from None
            try:
                archive = cls(settings, generation, held)
            except StoreError as error:
                raise ArchiveError(str(error)) from None
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

    def _let_go(self) -> None:
        self._held.close()

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
        since: DateLike = None,
        until: DateLike = None,
        limit: int | None = None,
    ) -> Results:
        """The passages that fit a query best.

        `since` and `until` (to the end of that day, month or year) leave out everything else; a time phrase in the
        query itself only puts what lies within it first. A smaller `limit` gives the first of the same hits.
        """
        shown = self.settings.search_limit if limit is None else limit
        with self._reading() as connection:
            context = self._context(connection, query, sources, kinds, since, until, shown)
            wanted = listing.parse_listing(context)
            hits = run(listing.listing_steps(wanted, shown) if wanted else SEARCH, context)[:shown]
            return Results(
                query,
                hits,
                context.when,
                context.intents,
                context.trace,
                head=explanation.explain_query(context, wanted, hits, self._zone)
                + explanation.explain_semantic_only(context, hits),
                searched="" if hits else self._searched(context, listed=wanted is not None),
                missing=[] if hits or wanted else self._missing(context, hits),
            )

    def ask(
        self,
        question: str,
        *,
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        since: DateLike = None,
        until: DateLike = None,
        limit: int | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Answer:
        """The sentences that answer a question, with the records that say so; `limit` caps the sentences and sources.

        Where a language model answers, `on_text` is called with each piece as it is written.
        """
        most = 2 * self.settings.search_limit if limit is None else limit
        with self._reading() as connection:
            context = self._context(
                connection, question, sources, kinds, since, until, max(most, 2 * self.settings.search_limit)
            )
            return self._asked(context, most, limit, on_text)

    def _asked(
        self, context: QueryContext, most: int, limit: int | None, on_text: Callable[[str], None] | None
    ) -> Answer:
        settings = self.settings
        wanted = listing.parse_listing(context)
        at_most = min(most, settings.source_display_max_count)
        if wanted:
            at_most = limit or at_most or most  # of a list so many are shown as are asked for
            hits = run(listing.listing_steps(wanted, at_most), context)
            evidence = listing.listing_answer(hits)
        else:
            hits, evidence = self._evidence(context, run(_ASK, context), most)
        context.note("answer", f"{len(evidence.sentences)} sentences; best coverage {evidence.best:.2f}")
        hits += [] if wanted else add_named_records(evidence, hits, context)
        written, notice = self._written(context, hits if limit is None else hits[:limit], on_text)
        found = written.found if written else bool(evidence.sentences)
        shown = self._shown(context, hits, evidence, written, at_most)
        numbers = {source.hit.chunk.chunk_group_id: source.number for source in shown}
        quotes = [] if written else [make_quote(sentence, numbers) for sentence in evidence.sentences]
        elsewhere = not written and found and evidence.elsewhere
        return Answer(
            question=context.question,
            found=found,
            # a sentence whose source has no room is left out with it
            quotes=[one for one in quotes if one.sources] or quotes,
            sources=shown,
            closest=[] if found else nearest_hits(hits),
            searched=self._searched(context, listed=wanted is not None),
            missing=[] if wanted else self._missing(context, hits),
            intents=context.intents,
            when=context.when,
            trace=context.trace,
            written=written,
            head=explanation.explain_query(
                context, wanted, [one.hit for one in shown] or hits, self._zone, elsewhere=elsewhere
            ),
            notice=notice,
        )

    def _evidence(self, context: QueryContext, hits: list[Hit], most: int) -> tuple[list[Hit], ExtractiveAnswer]:
        """The sentences that answer, and the hits that may: those of the time that is asked for."""
        if context.when:
            hits = [hit for hit in hits if hit.in_time or hit.role or mentions_time(hit.chunk, context.when)]
        least, figures = self.settings.answer_min_coverage, asks_for_value(context.question)
        return hits, answer(hits, context.terms, context.intents, least, context.said_in, most, figures)

    def _shown(
        self,
        context: QueryContext,
        hits: list[Hit],
        evidence: ExtractiveAnswer,
        written: GeneratedAnswer | None,
        at_most: int,
    ) -> list[CitedSource]:
        """The sources that are listed: those that a written answer cites, else those that the sentences come from."""
        if written:
            return self._located(context, cited_sources(written) if written.found else [])
        displayed = {"source_display_max_count": at_most}
        types = frozenset[str]() if evidence.elsewhere else context.said_in
        fitting = [hit for hit in hits if hit.role or not types or hit.chunk.rag_source_type in types]
        return self._located(context, displayed_sources(fitting, evidence, self.settings.model_copy(update=displayed)))

    def _written(
        self, context: QueryContext, hits: list[Hit], on_text: Callable[[str], None] | None
    ) -> tuple[GeneratedAnswer | None, str]:
        """The answer of the configured language model, and what is to be said of it; None where it gives none."""
        if self.settings.answerer == "extractive" or not hits:
            return None, ""
        given = fit_token_budget(hits, self.settings.answer_context_tokens)
        try:
            model = writer(self.settings)
            answer = generate(model, self._redacted(context.question), given, on_text or (lambda piece: None))
        except AnswerError as error:
            context.note("write", str(error))
            return None, f"No answer was written: {error}."
        did = f"{answer.model} at {answer.host} was given {len(given)} passages and cites {len(answer.cited)} records"
        context.note("write", f"{did}; {answer.invented} invented citations taken out")
        return answer, f"{answer.invented} invented citations were taken out." if answer.invented else ""

    def record(self, asset_id: str) -> Record | None:
        """The record of that id; None where the archive has none."""
        with self._reading() as connection:
            return catalog_reader.record(connection, asset_id)

    def knows(self, native_id: str) -> bool:
        """Whether some record has that id, its native id, or the part of it behind its source's name."""
        with self._reading() as connection:
            return catalog_reader.named(connection, native_id)

    def stored_id(self, native_id: str) -> str:
        """The id as it stands in the index: one that could hold a phone number or an address is a hash there."""
        path = self.settings.keys_path
        return keys.safe_native_id(native_id, keys.load(path)) if path.exists() else native_id

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The passage of that id; None where the archive has none."""
        with self._reading() as connection:
            return catalog_reader.chunks(connection, [chunk_id]).get(chunk_id)

    def chunks_of(self, asset_id: str) -> list[Chunk]:
        """The passages of a record or chat window, in order."""
        with self._reading() as connection:
            return catalog_reader.of_assets(connection, [asset_id])

    def thread(self, thread_id: str, limit: int = 100, offset: int = 0) -> list[Member]:
        """The records of a thread, newest first."""
        with self._reading() as connection:
            return neighbors.thread_members(connection, thread_id, limit, offset)

    def neighbors(
        self,
        asset_ref: str,
        relation_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
    ) -> list[Neighbor]:
        """What a record, passage or thread is directly related to."""
        with self._reading() as connection:
            return neighbors.neighbors(connection, asset_ref, relation_types, direction, limit)

    def _context(
        self,
        connection: duckdb.DuckDBPyConnection,
        question: str,
        sources: Sequence[str],
        kinds: Sequence[str],
        since: DateLike,
        until: DateLike,
        limit: int,
    ) -> QueryContext:
        for name in sources:
            self.settings.source(name)
        if unknown := sorted(set(kinds) - KINDS.keys()):
            raise ArchiveError(f'no kind is named "{unknown[0]}"; known kinds: {", ".join(sorted(KINDS))}')
        if limit < 1:
            raise ArchiveError(f"a limit of {limit} leaves nothing; name 1 or more")
        ts_from, ts_to = self._seconds(since, end=False), self._seconds(until, end=True)
        if ts_from is not None and ts_to is not None and ts_from >= ts_to:
            raise ArchiveError(f"nothing lies from {since} to {until}; name the earlier one first")
        question = question.encode(errors="replace").decode()  # bytes of the command line that are no UTF-8
        intents = classify_query_intent(question, [], [])
        when = time_range(question, settings_module.now(), self._zone)
        topic = when.without(question) if when and when.relative else question
        redacted = self._redacted(topic)
        meaning, why = self._meaning(redacted)
        frequencies = self._counted(connection)
        return QueryContext(
            question=question,
            search_text=topic if redacted == topic else f"{topic}\n{redacted}",
            terms=query_terms(topic, frequencies, redacted, when.phrase if when and topic == question else ""),
            intents=intents,
            said_in=named_channel(question, intents),
            when=when,
            where=vectors.ChunkFilter(
                sources=tuple(sources),
                kinds=tuple(kinds),
                ts_from=ts_from,
                ts_to=ts_to,
            ),
            limit=max(limit, MIN_CANDIDATES),
            settings=self.settings,
            connection=connection,
            vectors=self._vectors,
            frequencies=frequencies,
            meaning=meaning,
            why_words_only=why,
        )

    def _meaning(self, redacted: str) -> tuple[Vectors | None, str]:
        """The vector of a question, or why it has none."""
        try:
            model = embedders.model(self.settings)
            if model is None:
                return None, ""
            with self._once:
                asked_with = self._asked_with
            if asked_with is None:
                why = "not made yet, or nothing is in its language"
                return None, f"the generation holds no vectors of {model.name}: {why}"
            model = embedders.model(asked_with) or model
            text = to_entity_type(redacted)
            if not supports_language(model, text, None):
                return None, f"{model.name} does not know the language of the question"
            with self._once:
                embedder = self._embedder
            return embedder.query(text), ""
        except EmbeddingError as error:
            return None, str(error)

    @functools.cached_property
    def _asked_with(self) -> Settings | None:
        """The settings by which questions are embedded for this generation."""
        return embedders.query_settings(self.settings, str(self.generation.manifest.get("embedder", "")))

    @functools.cached_property
    def _embedder(self) -> Embedder:
        return embedders.load(self._asked_with or self.settings)

    def _counted(self, connection: duckdb.DuckDBPyConnection) -> Frequencies:
        """How many passages hold a word, read once."""
        with self._once:
            self._frequencies = self._frequencies or catalog_reader.frequencies(connection)
            return self._frequencies

    def _located(self, context: QueryContext, listed: list[CitedSource]) -> list[CitedSource]:
        records = {source.number: main_record(source) for source in listed}
        known = catalog_reader.locations(context.connection, list(records.values())) if records else {}
        for source in listed:
            source.locations = known.get(records[source.number], [])
        return listed

    def _missing(self, context: QueryContext, hits: list[Hit]) -> list[str]:
        """Words that no passage holds; of the time that is asked for only where nothing is of that time.

        A word that one passage alone holds is not counted, but then that passage is among the hits.
        """
        rare = [one for one in context.terms if not (one.light or one.known(context.frequencies))]
        if any(one.timed for one in rare) and self._vectors.count(context.within):
            rare = [one for one in rare if not one.timed]
        held = frozenset[str]().union(*(passage_tokens(hit.chunk) for hit in hits)) if rare else frozenset()
        return [one.said for one in rare if one.found(held) <= PART]

    def _redacted(self, question: str) -> str:
        if not (self.settings.pii_redaction_enabled and _PERSONAL.search(question)):
            return question
        # imported only here: it takes longer than the search
        from relrag_pipelines.workspace import Workspace

        return Workspace(self.settings).redactor.redact_query(question)

    def _seconds(self, moment: DateLike, end: bool) -> int | None:
        if moment is None:
            return None
        if isinstance(moment, datetime):
            return int(moment.timestamp())
        return seconds(day_range(str(moment))[end], self._zone)

    def _searched(self, context: QueryContext, *, listed: bool) -> str:
        return explanation.describe_scope(
            context, self.generation.manifest["counts"]["chunks"], self._zone, listed=listed
        )
