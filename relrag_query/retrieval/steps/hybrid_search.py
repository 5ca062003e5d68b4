"""Step 1, hybrid search: passages by the words and the meaning of the question."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores.vectors.protocol import ChunkFilter
from relrag_pipelines.text.language import in_default_language
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import FusedHit
from relrag_query.retrieval.fusion import hybrid_search as fused_search
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.lexical_score import bm25_like_score
from relrag_query.retrieval.steps.contents import load_dates
from relrag_query.retrieval.steps.mail import labelled_hits
from relrag_query.retrieval.term_coverage import passage_tokens

_OVERFETCH_FACTOR = 4
"""number of passages fetched, as a multiple of the limit: windows of one chat overlap and are shown once"""
_REORDER_FACTOR = 2
"""number of hits reordered by inflected forms, as a multiple of the limit; more change nothing"""
_MAX_PER_RECORD = 4
"""passages of one record before those of others: a long document could fill a list by itself"""


def hybrid_search(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Passages by the words and the meaning of the question; those of the time that it mentions come first.

    Passages missing from the catalog are dropped, and so are chat windows that mostly repeat a better one.
    """
    max_results = context.limit * _OVERFETCH_FACTOR

    def search(where: ChunkFilter) -> list[FusedHit]:
        return fused_search(
            context.vectors, context.search_text, context.meaning, max_results, where, context.translated
        )

    searches = [(search(where), types) for where, types in _scopes(context)]
    chunk_ids = {result.chunk_id for results, _ in searches for result in results}
    unique_hits = _deduplicate(existing_hits(results, types, context) for results, types in searches)
    members: dict[str, list[str]] = {}
    spread_hits = _spread(drop_overlapping_windows(_order_by_forms(unique_hits, context), members), context.limit)
    selected = list(itertools.islice(spread_hits, context.limit))
    reason = f"; by words only: {context.lexical_reason}" if context.lexical_reason else ""
    context.note("search", f"{len(chunk_ids)} passages found, {len(selected)} kept{reason}")
    return [*hits, *(replace(hit, members=tuple(members[hit.chunk.chunk_id])) for hit in selected)]


def _scopes(context: QueryContext) -> Iterator[tuple[ChunkFilter, frozenset[str]]]:
    """Filters to search with, the narrowest first: the channel and time that the question names, its time, anything.

    Each comes with the record types to keep; an empty set keeps all.
    """
    kinds = {
        kind.name
        for kind in KINDS.values()
        if kind.any_type or any(record_type.name in context.question.channels for record_type in kind.record_types)
    }
    allowed = tuple(sorted(kinds.intersection(context.limits.kinds or kinds)))
    if context.question.channels and allowed:
        yield replace(context.limits_in_time, kinds=allowed), context.question.channels
    if context.question.time:
        yield context.limits_in_time, frozenset()
    yield context.limits, frozenset()


def _deduplicate(lists: Iterable[Iterator[Hit]]) -> Iterator[Hit]:
    seen: set[str] = set()
    for hit in itertools.chain.from_iterable(lists):
        if hit.chunk.chunk_id not in seen:
            seen.add(hit.chunk.chunk_id)
            yield hit


def _stored_hits(results: list[FusedHit], context: QueryContext) -> list[Hit]:
    """The hits whose passages the catalog knows."""
    chunks = catalog_reader.chunks(context.connection, [result.chunk_id for result in results])
    return [
        Hit(chunks[result.chunk_id], result.score, 0.0, similarity=result.similarity, why=_ranks(result))
        for result in results
        if result.chunk_id in chunks
    ]


def existing_hits(results: list[FusedHit], types: frozenset[str], context: QueryContext) -> Iterator[Hit]:
    """The hits that exist in the catalog, of these types if any are given; read lazily, in batches."""
    for start in range(0, len(results), context.limit):
        part = results[start : start + context.limit]
        hits = _stored_hits(part, context)
        hidden = {hit.chunk.chunk_id for hit in labelled_hits(hits, context)} if context.excluded_labels else ()
        yield from (
            hit
            for hit in hits
            if hit.chunk.chunk_id not in hidden and (not types or hit.chunk.rag_source_type in types)
        )


def _ranks(result: FusedHit) -> str:
    """How a hit was found, for the trace."""
    return f"rank {result.lexical_rank or '-'} by words, {result.semantic_rank or '-'} by meaning"


def _order_by_forms(hits: Iterator[Hit], context: QueryContext) -> Iterator[Hit]:
    """The hits reordered by `bm25_like_score`, for questions by words in an inflected language.

    Sparse search adds up all tokens that a text shares with a word (forms, beginnings, forms without prefixes), so that
    one form counts several times.
    """
    if context.meaning is not None or in_default_language(context.search_text):
        return hits

    def sort_key(hit: Hit) -> tuple[bool, bool, float]:
        length, when = len(hit.chunk.text.split()), context.question.time
        in_time = when is not None and not hit.dated_by_file and when.holds(*hit.span)
        in_channel = hit.chunk.rag_source_type in context.question.channels
        return (
            in_time,
            in_channel,
            bm25_like_score(context.question.terms, passage_tokens(hit.chunk), context.frequencies, length),
        )

    nearest = load_dates(list(itertools.islice(hits, _REORDER_FACTOR * context.limit)))
    scores = sorted((hit.score for hit in nearest), reverse=True)
    ordered = sorted(nearest, key=sort_key, reverse=True)
    return itertools.chain((replace(hit, score=score) for hit, score in zip(ordered, scores, strict=True)), hits)


def drop_overlapping_windows(hits: Iterator[Hit], members: dict[str, list[str]]) -> Iterator[Hit]:
    """The hits without windows that mostly repeat a better one, which takes over their other messages.

    Fills `members` with the messages of each remaining window, by chunk_id; later windows may extend them.
    """
    owners: dict[str, str] = {}
    for hit in hits:
        messages, chunk_id = hit.chunk.members, hit.chunk.chunk_id
        repeated = [owners[ref] for ref in messages if ref in owners]
        owner = repeated[0] if 2 * len(repeated) > len(messages) else chunk_id
        if owner == chunk_id:
            members[chunk_id] = list(messages)
        else:
            members[owner] += [ref for ref in messages if ref not in owners]
        owners |= dict.fromkeys(messages, owner) | owners
        if owner == chunk_id:
            yield hit


def _spread(hits: Iterator[Hit], limit: int) -> Iterator[Hit]:
    """The hits with at most `_MAX_PER_RECORD` passages per record among the first `limit`; the others come last."""
    counted: Counter[str] = Counter()
    spare: list[Hit] = []
    passed = 0
    for hit in hits:
        counted[hit.chunk.asset_id] += 1
        if counted[hit.chunk.asset_id] > _MAX_PER_RECORD and passed < limit:
            spare.append(hit)
            continue
        passed += 1
        yield hit
    yield from spare
