"""Passages found by words and by meaning, as one list.

Both scores are divided by the best of their kind, and a passage ranks by their mean (a convex combination, Bruch et
al. 2023, https://doi.org/10.1145/3596512). Each passage that one side found is scored by the other side too, so the
result does not depend on how deep either looks. A passage without a dense vector, in a language that the model does not
know, ranks by its words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.stores.vectors import ChunkFilter, ScoredPoint, VectorStore

_BY_MEANING = 0.5
"""weight of the dense score: measured on two sets, 0.5 and 0.6 are equal, 0.4 and 0.7 are worse on one of them"""


class FusedHit(NamedTuple):
    """A passage, its score from 0 to 1, and its rank by words and by meaning, where that found it."""

    chunk_id: str
    score: float
    by_words: int | None
    by_meaning: int | None


def hybrid_search(
    store: VectorStore, words: str, meaning: Vectors | None, limit: int, where: ChunkFilter
) -> list[FusedHit]:
    """The best passages, best first; by words alone where the question has no vector."""
    sparse = store.search(words, limit, where)
    if meaning is None:
        return [FusedHit(hit.chunk_id, hit.score, rank, None) for rank, hit in enumerate(sparse, 1)]
    dense = store.nearest(meaning, limit, where)
    words_only, meaning_only = _missing(sparse, dense), _missing(dense, sparse)
    words_too = store.search(words, len(meaning_only), replace(where, chunk_ids=meaning_only)) if meaning_only else []
    meaning_too = store.nearest(meaning, len(words_only), replace(where, chunk_ids=words_only)) if words_only else []
    return convex_fusion(sparse, dense, [*sparse, *words_too], [*dense, *meaning_too])[:limit]


def convex_fusion(
    sparse: Sequence[ScoredPoint],
    dense: Sequence[ScoredPoint],
    words: Sequence[ScoredPoint],
    meanings: Sequence[ScoredPoint],
) -> list[FusedHit]:
    """One list of two, ranked by all scores that are known of their passages: `words` and `meanings`."""
    by_words, by_meaning = _normalised(words), _normalised(meanings)
    ranks = [{hit.chunk_id: rank for rank, hit in enumerate(hits, 1)} for hits in (sparse, dense)]
    found = []
    for chunk_id in dict.fromkeys(hit.chunk_id for hit in (*sparse, *dense)):
        said = by_words.get(chunk_id, 0.0)
        score = (1 - _BY_MEANING) * said + _BY_MEANING * by_meaning.get(chunk_id, said)
        found.append(FusedHit(chunk_id, score, ranks[0].get(chunk_id), ranks[1].get(chunk_id)))
    return sorted(found, key=lambda one: (-one.score, one.chunk_id))


def _missing(there: Sequence[ScoredPoint], elsewhere: Sequence[ScoredPoint]) -> tuple[str, ...]:
    known = {hit.chunk_id for hit in elsewhere}
    return tuple(hit.chunk_id for hit in there if hit.chunk_id not in known)


def _normalised(hits: Sequence[ScoredPoint]) -> dict[str, float]:
    best = max((hit.score for hit in hits), default=0.0)
    return {hit.chunk_id: max(0.0, hit.score / best) if best > 0 else 0.0 for hit in hits}
