"""Reads a question, once, and builds the context that all steps of a query share."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import repeat
from zoneinfo import ZoneInfo

import duckdb

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores.vectors.protocol import ChunkFilter, Vectors, VectorStore
from relrag_pipelines.workspace import Workspace
from relrag_query.retrieval import catalog_reader, reranker
from relrag_query.retrieval.attachment_filter import TYPES, Attachment
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.context import MIN_CANDIDATES, QueryContext
from relrag_query.retrieval.named_assets import named_assets
from relrag_query.retrieval.question import Question
from relrag_query.retrieval.question_length import heaviest
from relrag_query.retrieval.spelling import correct, respell, spellings, spellings_in_use
from relrag_query.retrieval.term_coverage import Frequencies, Term, query_terms
from relrag_query.retrieval.translation import translate, translation_tokens, translations
from relrag_query.understanding.intent import (
    QueryIntent,
    asked_values,
    asks_for_latest,
    classify_query_intent,
    listed_types,
    named_channel,
    question_form,
)
from relrag_query.understanding.people_question import PeopleInQuestion
from relrag_query.understanding.question_language import question_language
from relrag_query.understanding.time_expressions import TimeRange, day_range, seconds, time_range

DateLike = str | date | None
"""`2024`, `2024-03`, `2024-03-15`, a date or a datetime with a zone"""
Infer = Callable[[str], tuple[list[QueryIntent], str]]
"""a redacted question -> its intents as a language model reads them, none where rules decide, and a trace line"""
_YEAR = 365 * 86_400
"""seconds"""


@dataclass(frozen=True)
class Filters:
    """The limits of a query, named like the arguments of `Archive.search`."""

    sources: Sequence[str] = ()
    kinds: Sequence[str] = ()
    since: DateLike = None
    until: DateLike = None
    person: str = ""
    """a name, an alias or a number"""
    attachment: Attachment | None = None
    """a type of attachment, `any` for each"""
    added: DateLike = None
    """first published then or later: a date, or a time with a zone"""


def rules_decide(redacted: str) -> tuple[list[QueryIntent], str]:
    """No intents of a language model: those by rules are taken."""
    return [], ""


def read_question(
    question: str,
    settings: Settings,
    store: VectorStore,
    connection: duckdb.DuckDBPyConnection,
    frequencies: Frequencies,
    embed: Callable[[str], tuple[Vectors | None, str]],
    filters: Filters,
    *,
    infer: Infer,
    follows: Sequence[str] = (),
    people: PeopleInQuestion,
    wordings: Callable[[str], Collection[str]] = lambda word: (),
    languages: Collection[str] = (),
    limit: int,
) -> QueryContext:
    """The question with its words, time, intents and vector, within the limits that are given.

    A question that `follows` others means their time and channel where it names none, and their words beside its own.
    `people` are the people whom it names; `wordings` gives how else a word of it may be put; `languages` are those of
    the archive, as far as they are known. `embed` gives the vector of a redacted question, or why it has none.
    `infer` gives its intents as a language model reads them.
    Raises ArchiveError where a kind is unknown or the limits leave nothing, SettingsError where a source is unknown,
    WhenError where a date is none.
    """
    zone = ZoneInfo(settings.timezone)
    where = limits_of(filters, settings, limit, zone)
    questions = [question, *follows]
    whole = redact_question(questions[0], settings)
    assets = named_assets(whole, connection)
    inferred, trace_line = infer(whole)
    intents = inferred or classify_query_intent(questions[0], people.named, assets)
    times, topics, latest = _times(questions, intents, where, zone, connection)
    redacted = [whole if topic == questions[0] else redact_question(topic, settings) for topic in topics]
    spoken = [question_language(text, languages) for text in questions]
    terms = _terms(topics, redacted, times, spoken, frequencies)
    worded = spellings_in_use([term for term in terms if not term.light], wordings, store, connection)
    terms = respell(terms, worded)
    near = spellings(terms, frequencies, store, connection)
    foreign = translations(terms, topics[0])
    embedded_text = correct("\n".join(redacted), near)
    meaning, why = embed(embedded_text)
    context = QueryContext(
        question=Question(
            text=questions[0], redacted=whole, terms=translate(respell(terms, near), foreign),
            time=next(filter(None, times), None), latest=latest, channels=_channels(questions, intents),
            listed=listed_types(questions[0]), values=asked_values(questions[0]), intents=intents, assets=assets,
            people=people, form=question_form(questions[0], spoken[0]), language=spoken[0],
        ),
        redacted_text=redacted[0],
        search_text="\n".join(dict.fromkeys([*topics, *redacted, *itertools.chain(*worded.values(), *near.values())])),
        spellings=near, translated=translation_tokens(foreign, frequencies), limits=where,
        limit=max(limit, MIN_CANDIDATES), settings=settings, connection=connection,
        vectors=store, frequencies=frequencies, meaning=meaning, embedded_text=embedded_text, lexical_reason=why,
        rank=None if settings.reranker == "none" else functools.partial(reranker.rank, settings),
    )  # fmt: skip
    _note_variants(context, "wordings", worded)
    _note_variants(context, "spelling", near)
    if trace_line:
        context.note("intents", trace_line)
    return context


def _note_variants(context: QueryContext, step: str, variants: Mapping[str, Collection[str]]) -> None:
    """Traces by which other words some words of the question are searched."""
    if variants:
        context.note(step, "; ".join(f'for "{word}" also {", ".join(forms)}' for word, forms in variants.items()))


def limits_of(filters: Filters, settings: Settings, limit: int, zone: ZoneInfo) -> ChunkFilter:
    """The sources, kinds and times of filters. Raises as `read_question` does."""
    since, until = filters.since, filters.until
    for name in filters.sources:
        settings.source(name)
    if unknown := sorted(set(filters.kinds) - KINDS.keys()):
        raise WrongQuestion(f'no kind is named "{unknown[0]}"; known kinds: {", ".join(sorted(KINDS))}')
    if filters.attachment is not None and filters.attachment not in TYPES:
        raise WrongQuestion(f'no type of attachment is named "{filters.attachment}"; known types: {", ".join(TYPES)}')
    if limit < 1:
        raise WrongQuestion(f"the limit is {limit}; give 1 or more")
    ts_from, ts_to = _seconds(since, zone, end=False), _seconds(until, zone, end=True)
    if ts_from is not None and ts_to is not None and ts_from >= ts_to:
        raise WrongQuestion(f"{since} is later than {until}; give the earlier time first", code="dates_contradict")
    return ChunkFilter(sources=tuple(filters.sources), kinds=tuple(filters.kinds), ts_from=ts_from, ts_to=ts_to)


def _times(
    questions: Sequence[str],
    intents: Sequence[QueryIntent],
    where: ChunkFilter,
    zone: ZoneInfo,
    connection: duckdb.DuckDBPyConnection,
) -> tuple[list[TimeRange | None], list[str], bool]:
    """The time that each question means, the questions without it, and whether the first asks for the newest."""
    times = [_time(text, where, zone, connection) for text in questions]
    topics = [_topic(text, when) for text, when in zip(questions, times, strict=True)]
    latest = asks_for_latest(questions[0], intents)
    if latest and times[0] and asks_for_latest(times[0].phrase, []):
        times[0] = None  # today means now
    return times, topics, latest


def _time(question: str, where: ChunkFilter, zone: ZoneInfo, connection: duckdb.DuckDBPyConnection) -> TimeRange | None:
    """The time that a question means: a month or a date without a year is the last one that the archive reaches.

    What lies outside the sources and kinds that the question is limited to does not count. What only ends at a month
    stays where records of the year before it are there: an archive some days old has all of these before March.
    """
    when = time_range(question, settings_module.now(), zone)
    bound = _bound(when)
    if when is None or when.relative or bound is None:
        return when
    newest = catalog_reader.newest(connection, int(settings_module.now().timestamp()), where.sources, where.kinds)
    year = 0 if when.since is not None else _YEAR
    if newest is None or bound <= newest + year:
        return when
    reached = time_range(question, datetime.fromtimestamp(newest, UTC), zone)
    last = _bound(reached)
    # of another year, and not of another week: last Friday is last Friday, whatever has been synced since
    if reached is None or last is None or last == bound or _date(last, zone) != _date(bound, zone):
        return when
    return replace(reached, newest=newest)


def _bound(when: TimeRange | None) -> int | None:
    """The beginning of a range, or its end if it has no beginning."""
    return None if when is None else when.until if when.since is None else when.since


def _date(second: int, zone: ZoneInfo) -> tuple[int, int]:
    """Month and day."""
    moment = datetime.fromtimestamp(second, zone)
    return moment.month, moment.day


def _topic(question: str, when: TimeRange | None) -> str:
    return when.remove_from(question) if when and when.relative else question


def _channels(questions: Sequence[str], intents: Sequence[QueryIntent]) -> frozenset[str]:
    """The record types named by the first of `questions` that names any; the first has these intents."""
    first, *earlier = questions
    named = (named_channel(text, classify_query_intent(text, [], [])) for text in earlier)
    return next(filter(None, (named_channel(first, intents), *named)), frozenset())


def _terms(
    topics: Sequence[str],
    redacted: Sequence[str],
    times: Sequence[TimeRange | None],
    languages: Sequence[str],
    frequencies: Frequencies,
) -> list[Term]:
    """The words of the question, then further words of earlier ones, each weighted half as much as the next."""
    phrases = [when.phrase if when and not when.relative else "" for when in times]
    first, *earlier = [
        query_terms(*parts) for parts in zip(topics, repeat(frequencies), redacted, phrases, languages, strict=False)
    ]
    tokens = {token for term in first for token in term.tokens}
    terms = list(first)
    for age, older in enumerate(earlier, 1):
        new = [term for term in older if not (term.light or term.is_time) and tokens.isdisjoint(term.tokens)]
        terms += [replace(term, weight=term.weight / 2**age, adjacent=False, is_earlier=True) for term in new]
        tokens.update(token for term in new for token in term.tokens)
    return heaviest(terms)


def redact_question(question: str, settings: Settings) -> str:
    """The question with personal data replaced, as in the index."""
    return Workspace(settings).redactor.redact_query(question) if settings.pii_redaction_enabled else question


def _seconds(moment: DateLike, zone: ZoneInfo, *, end: bool) -> int | None:
    if moment is None:
        return None
    if isinstance(moment, datetime):
        return int(moment.timestamp())
    return seconds(day_range(str(moment))[end], zone)
