"""Step 1, hybrid search: passages by the words and the meaning of the question."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores.vectors import ChunkFilter
from relrag_pipelines.text.language import is_english
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import FusedHit
from relrag_query.retrieval.fusion import hybrid_search as fused_search
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.lexical_score import bm25_like_score
from relrag_query.retrieval.steps.contents import load_dates
from relrag_query.retrieval.steps.mail import labelled_hits
from relrag_query.retrieval.term_coverage import passage_tokens

_OVERFETCH = 4
"""so many times the hits wanted are looked up, since windows of one chat overlap and are shown once"""
_REORDER_FACTOR = 2
"""so many times the hits wanted are put in order by their words in any form; more change nothing"""
_OF_ONE_RECORD = 4
"""passages of one record that stand before those of others: a long document could fill a list by itself"""


def hybrid_search(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Passages by the words and the meaning of the question; those of the time that it speaks of stand first.

    What the catalog does not know is dropped, and so are windows of a chat that mostly repeat a better one.
    """
    wanted = context.limit * _OVERFETCH

    def search(where: ChunkFilter) -> list[FusedHit]:
        return fused_search(context.vectors, context.search_text, context.meaning, wanted, where, context.translated)

    searches = [(search(where), types) for where, types in _scopes(context)]
    found = {one.chunk_id for some, _ in searches for one in some}
    known = _deduplicate(_existing_hits(some, types, context) for some, types in searches)
    members: dict[str, list[str]] = {}
    apart = _spread(_drop_overlapping_windows(_order_by_forms(known, context), members), context.limit)
    kept = list(itertools.islice(apart, context.limit))
    by_words = f"; by words only: {context.lexical_reason}" if context.lexical_reason else ""
    context.note("search", f"{len(found)} passages found, {len(kept)} kept{by_words}")
    return [*hits, *(replace(hit, members=tuple(members[hit.chunk.chunk_id])) for hit in kept)]


def _scopes(context: QueryContext) -> Iterator[tuple[ChunkFilter, frozenset[str]]]:
    """Where to search, the narrowest first: where the question says that its answer lies, and anywhere.

    Each with the types of records that count there; none: all.
    """
    kinds = {
        kind.name
        for kind in KINDS.values()
        if kind.any_type or any(one.name in context.channels for one in kind.record_types)
    }
    allowed = tuple(sorted(kinds.intersection(context.limits.kinds or kinds)))
    if context.channels and allowed:
        yield replace(context.limits_in_time, kinds=allowed), context.channels
    if context.time:
        yield context.limits_in_time, frozenset()
    yield context.limits, frozenset()


def _deduplicate(lists: Iterable[Iterator[Hit]]) -> Iterator[Hit]:
    seen: set[str] = set()
    for hit in itertools.chain.from_iterable(lists):
        if hit.chunk.chunk_id not in seen:
            seen.add(hit.chunk.chunk_id)
            yield hit


def _existing_hits(found: list[FusedHit], types: frozenset[str], context: QueryContext) -> Iterator[Hit]:
    """The hits that the catalog knows, of these types if there are any, read only as far as they are wanted."""
    for start in range(0, len(found), context.limit):
        part = found[start : start + context.limit]
        known = catalog_reader.chunks(context.connection, [hit.chunk_id for hit in part])
        hits = [
            Hit(known[one.chunk_id], one.score, 0.0, similarity=one.similarity, why=_ranks(one))
            for one in part
            if one.chunk_id in known
        ]
        hidden = {hit.chunk.chunk_id for hit in labelled_hits(hits, context)} if context.excluded_labels else ()
        yield from (
            hit
            for hit in hits
            if hit.chunk.chunk_id not in hidden and (not types or hit.chunk.rag_source_type in types)
        )


def _ranks(found: FusedHit) -> str:
    """How a hit was found, for the trace."""
    return f"rank {found.lexical_rank or '-'} by words, {found.semantic_rank or '-'} by meaning"


def _order_by_forms(hits: Iterator[Hit], context: QueryContext) -> Iterator[Hit]:
    """The hits in the order of what they say of the question's words, where these have many forms.

    Sparse search adds up all that a text shares with a word, its forms, beginnings, and what is left without prefixes,
    so that the same form counts several times.
    """
    if context.meaning is not None or is_english(context.search_text):
        return hits

    def sort_key(hit: Hit) -> tuple[bool, bool, float]:
        length, when = len(hit.chunk.text.split()), context.time
        inside = when is not None and not hit.dated_by_file and when.holds(*hit.span)
        there = hit.chunk.rag_source_type in context.channels
        return inside, there, bm25_like_score(context.terms, passage_tokens(hit.chunk), context.frequencies, length)

    nearest = load_dates(list(itertools.islice(hits, _REORDER_FACTOR * context.limit)), context)
    scores = sorted((hit.score for hit in nearest), reverse=True)
    ordered = sorted(nearest, key=sort_key, reverse=True)
    return itertools.chain((replace(hit, score=score) for hit, score in zip(ordered, scores, strict=True)), hits)


def _drop_overlapping_windows(hits: Iterator[Hit], members: dict[str, list[str]]) -> Iterator[Hit]:
    """The hits without windows that mostly repeat a better one, which takes over their other messages.

    `members` is given the messages of each window that is kept, by chunk_id; they grow while others are looked at.
    """
    owners: dict[str, str] = {}
    for hit in hits:
        own, chunk_id = hit.chunk.members, hit.chunk.chunk_id
        repeated = [owners[ref] for ref in own if ref in owners]
        owner = repeated[0] if 2 * len(repeated) > len(own) else chunk_id
        if owner == chunk_id:
            members[chunk_id] = list(own)
        else:
            members[owner] += [ref for ref in own if ref not in owners]
        owners |= dict.fromkeys(own, owner) | owners
        if owner == chunk_id:
            yield hit


def _spread(hits: Iterator[Hit], wanted: int) -> Iterator[Hit]:
    """The hits, of one record a few before what others say; the rest of it stands behind what is wanted of these."""
    counted: Counter[str] = Counter()
    spare: list[Hit] = []
    passed = 0
    for hit in hits:
        counted[hit.chunk.asset_id] += 1
        if counted[hit.chunk.asset_id] > _OF_ONE_RECORD and passed < wanted:
            spare.append(hit)
            continue
        passed += 1
        yield hit
    yield from spare
