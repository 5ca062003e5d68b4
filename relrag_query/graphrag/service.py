"""Asks an index by its name, for the command line and other programs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines.errors import RelragError
from relrag_pipelines.language_models.model import ModelError
from relrag_pipelines.language_models.model import load as load_json_model
from relrag_pipelines.settings import Settings, now
from relrag_query.answering import llm
from relrag_query.answering.chat_model import AnswerError
from relrag_query.archive import Archive, ArchiveError
from relrag_query.graphrag import collections, generative
from relrag_query.graphrag.answer import NOTHING, GraphAnswer, Method, SemanticMatches, ask
from relrag_query.graphrag.collections import NamedIndex
from relrag_query.graphrag.corpus import Corpus
from relrag_query.graphrag.index import Index
from relrag_query.graphrag.scope import words_of
from relrag_query.graphrag.trace import Source, Trace, trace
from relrag_query.retrieval.question_length import shorten
from relrag_query.retrieval.question_reader import redact_question

_SEARCH_LIMIT = 60
"""passages that a search of the archive gives"""
_COMPARED = 20
"""passages of it that are compared with the question token by token"""
_NEAREST_ENTITIES = 10
"""entities by which text units of a registered index are found"""


class QuestionEmpty(RelragError):
    """The question is empty."""


@dataclass(frozen=True)
class TracedAnswer:
    """An answer, and the trace of its citations."""

    answer: GraphAnswer
    index: Index
    trace: Trace


def query(settings: Settings, collection: str, question: str, method: Method = "local") -> TracedAnswer:
    """Asks the index of that name.

    Raises CollectionError, IndexMissing, and QuestionEmpty.
    """
    named, index = collections.load(settings, collection)
    corpus = Corpus(index)
    if named.own or corpus.has_vectors:
        with suppress(ArchiveError), Archive.of(settings) as archive:
            return ask_index(settings, named, corpus, question, method, archive)
    return ask_index(settings, named, corpus, question, method)


def ask_index(
    settings: Settings, named: NamedIndex, corpus: Corpus, question: str, method: Method, archive: Archive | None = None
) -> TracedAnswer:
    """The answer of an opened index to a question; it searches by meaning too if there are vectors.

    Raises QuestionEmpty, and WrongQuestion where it is too long.
    """
    if not question.strip():
        raise QuestionEmpty("the question is empty")
    zone, redacted = ZoneInfo(settings.timezone), redact_question(shorten(question), settings)
    matches = _matches(settings, named, corpus, redacted, method, archive) if archive else SemanticMatches()
    relatives = _relatives(archive) if archive and named.own and method == "global" else {}
    answer = _write(settings, corpus, ask(redacted, corpus, method, now(), zone, matches, relatives))
    likeness = functools.partial(archive.likeness, redacted) if archive else None
    return TracedAnswer(answer, corpus.index, trace(answer.text, corpus.index, redacted, likeness=likeness))


def _matches(
    settings: Settings, named: NamedIndex, corpus: Corpus, redacted: str, method: Method, archive: Archive
) -> SemanticMatches:
    """What a search by meaning finds in an index of this archive, or in a registered one that has vectors."""
    if not named.own:
        has_vectors = corpus.has_vectors and method == "local"
        return _vector_matches(corpus, redacted, archive) if has_vectors else SemanticMatches()
    # of a question about everything only what it is about can be searched for
    searched = " ".join(words_of(redacted)) if method == "global" else redacted
    return _archive_matches(settings, named, corpus, searched, method, archive) if searched else SemanticMatches()


def global_query(settings: Settings, collection: str, query_: str, *, include_sources: bool = False) -> dict[str, Any]:
    """`answer`, and with `include_sources` the `sources` behind it: values that JSON knows."""
    traced = query(settings, collection, query_, "global")
    return {
        "answer": traced.answer.text,
        "sources": [_source(source) for source in traced.trace.sources if include_sources],
    }


def _write(settings: Settings, corpus: Corpus, quoted: GraphAnswer) -> GraphAnswer:
    """The answer as the configured model writes it; the quoted one if there is no model, or it fails."""
    if settings.answerer == "extractive" or quoted.text == NOTHING:
        return quoted
    try:
        model = llm.writer(settings)
        mapper = functools.partial(load_json_model, settings.answerer, model.model, settings.answer_url)
        return generative.AnswerWriter(model, mapper, corpus, settings.answer_context_tokens).answer(quoted)
    except (AnswerError, ModelError) as error:
        return replace(quoted, note=f"{error}; quoted instead")


def _source(source: Source) -> dict[str, Any]:
    return {
        "document": source.document,
        "page_number": source.page_number,
        "chunk_count": source.chunk_count,
        "quote": source.quote,
    }


def _relatives(archive: Archive) -> dict[str, set[int]]:
    """The people to whom the owner of the archive is related, by relationship type."""
    people_by_type: dict[str, set[int]] = {}
    with archive.people() as people:
        for relationship in people.relationships([people.owner]) if people.owner is not None else ():
            people_by_type.setdefault(relationship.type, set()).add(relationship.other_id)
    return people_by_type


def _archive_matches(
    settings: Settings, named: NamedIndex, corpus: Corpus, question: str, method: Method, archive: Archive
) -> SemanticMatches:
    """The text units that the archive's own search finds; local: entities and relationships by their vectors, too."""
    collection, index = settings.graphrag.collections.get(named.name), corpus.index
    since, until = (collection.since or None, collection.until or None) if collection else (None, None)
    sources = [source.name for source in settings.sources if collection is None or collection.holds(source)]
    result = archive.search(question, sources=sources, limit=_SEARCH_LIMIT, since=since, until=until)
    units = [index.row_of("text_unit_chunks", "chunk_id", hit.chunk.chunk_id) for hit in result.hits]
    ids = [str(index.cell("text_unit_chunks", "text_unit_id", row)) for row in units if row is not None]
    rows = index.rows_of("text_units", "id", ids)
    if method == "global":
        return SemanticMatches(rows, is_hybrid=True)
    entities, relationships = nearest(corpus, question, archive) if method == "local" else ([], [])
    return SemanticMatches(_by_likeness(rows, corpus, question, archive), entities, relationships, is_hybrid=True)


def _by_likeness(rows: Sequence[int], corpus: Corpus, question: str, archive: Archive) -> list[int]:
    """The text units, the first of them in the order of their likeness to a redacted question, if a model tells it."""
    first = rows[:_COMPARED]
    values = archive.likeness(question, [corpus.texts[row] for row in first])
    if values is None:
        return [*rows]
    ranked = sorted(zip(values, first, strict=True), reverse=True)
    return [*(row for _, row in ranked), *rows[_COMPARED:]]


def _vector_matches(corpus: Corpus, question: str, archive: Archive) -> SemanticMatches:
    """The entities of a registered index that are nearest to a question, and the text units that name most of them."""
    entities, relationships = nearest(corpus, question, archive)
    weights: dict[int, float] = {}
    for rank, row in enumerate(entities[:_NEAREST_ENTITIES]):
        units = corpus.units_of_entity[row]
        for unit in units:
            weights[unit] = weights.get(unit, 0.0) + 1 / (1 + rank) / len(units) ** 0.5
    return SemanticMatches(
        sorted(weights, key=lambda unit: (-weights[unit], unit))[:_SEARCH_LIMIT], entities, relationships
    )


def nearest(corpus: Corpus, question: str, archive: Archive) -> tuple[list[int], list[int]]:
    """Entities and relationships of an index nearest to a redacted question, by their vectors."""
    meaning, _ = archive.meaning(question)
    if meaning is None:
        return [], []
    vectors = corpus.vectors(archive.generation)
    return vectors.nearest("entities", meaning), vectors.nearest("relationships", meaning)
