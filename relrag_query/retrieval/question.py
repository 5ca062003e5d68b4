"""What a question asks for, and of which generation: the context that all steps of a query share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

import duckdb

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import vectors
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.stores.vectors import VectorStore
from relrag_query.retrieval.connection_sharing import ArchiveError
from relrag_query.retrieval.search import MIN_CANDIDATES, QueryContext
from relrag_query.retrieval.term_coverage import Frequencies, query_terms
from relrag_query.understanding.intent import classify_query_intent, named_channel
from relrag_query.understanding.time_expressions import day_range, seconds, time_range

DateLike = str | date | None
"""`2024`, `2024-03`, `2024-03-15`, a date or a datetime with a zone"""

_PERSONAL = re.compile(r"[\d@＠﹫([{]")
"""a question without digit or @ holds no personal data that is replaced in the index"""


def read_question(
    question: str,
    settings: Settings,
    store: VectorStore,
    connection: duckdb.DuckDBPyConnection,
    frequencies: Frequencies,
    embed: Callable[[str], tuple[Vectors | None, str]],
    *,
    sources: Sequence[str] = (),
    kinds: Sequence[str] = (),
    since: DateLike = None,
    until: DateLike = None,
    limit: int,
) -> QueryContext:
    """The question with its words, time, intents and vector, within the limits that are given.

    `embed` gives the vector of a redacted question, or why it has none. Raises ArchiveError where a kind is unknown or
    the limits leave nothing, SettingsError where a source is unknown, WhenError where a date is none.
    """
    for name in sources:
        settings.source(name)
    if unknown := sorted(set(kinds) - KINDS.keys()):
        raise ArchiveError(f'no kind is named "{unknown[0]}"; known kinds: {", ".join(sorted(KINDS))}')
    if limit < 1:
        raise ArchiveError(f"a limit of {limit} leaves nothing; name 1 or more")
    zone = ZoneInfo(settings.timezone)
    ts_from, ts_to = _seconds(since, zone, end=False), _seconds(until, zone, end=True)
    if ts_from is not None and ts_to is not None and ts_from >= ts_to:
        raise ArchiveError(f"nothing lies from {since} to {until}; name the earlier one first")
    question = question.encode(errors="replace").decode()  # bytes of the command line that are no UTF-8
    intents = classify_query_intent(question, [], [])
    when = time_range(question, settings_module.now(), zone)
    topic = when.without(question) if when and when.relative else question
    redacted = redact_question(topic, settings)
    meaning, why = embed(redacted)
    return QueryContext(
        question=question,
        search_text=topic if redacted == topic else f"{topic}\n{redacted}",
        terms=query_terms(topic, frequencies, redacted, when.phrase if when and topic == question else ""),
        intents=intents,
        said_in=named_channel(question, intents),
        when=when,
        where=vectors.ChunkFilter(sources=tuple(sources), kinds=tuple(kinds), ts_from=ts_from, ts_to=ts_to),
        limit=max(limit, MIN_CANDIDATES),
        settings=settings,
        connection=connection,
        vectors=store,
        frequencies=frequencies,
        meaning=meaning,
        why_words_only=why,
    )


def redact_question(question: str, settings: Settings) -> str:
    """The question as it would stand in the index: personal data replaced as in any text."""
    if not (settings.pii_redaction_enabled and _PERSONAL.search(question)):
        return question
    # imported only here: it takes longer than the search
    from relrag_pipelines.workspace import Workspace

    return Workspace(settings).redactor.redact_query(question)


def _seconds(moment: DateLike, zone: ZoneInfo, *, end: bool) -> int | None:
    if moment is None:
        return None
    if isinstance(moment, datetime):
        return int(moment.timestamp())
    return seconds(day_range(str(moment))[end], zone)
