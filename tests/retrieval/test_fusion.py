"""Passages found by words and by meaning, as one list."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval import batches
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.vectors.protocol import ChunkFilter, ScoredPoint, Vectors, VectorStore
from relrag_query.retrieval.fusion import FusedHit, convex_fusion, hybrid_search

ANGLES = {0: 0, 1: 10, 2: 80, 3: 60, 4: None}
"""of each passage's vector in a plane, degrees; the last has none"""
ROWS: list[dict[str, Any]] = [
    {"text": "the pump in the cellar leaks", "source": "mail"},
    {"text": "water on the floor downstairs", "source": "mail"},
    {"text": "the pump of the bicycle", "source": "chat"},
    {"text": "a song about summer", "source": "chat"},
    {"text": "čerpadlo pump ve sklepě leaks", "source": "chat"},
]


def at(degrees: float) -> Vectors:
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32) * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hybrid") / "vectors"
    rows = [{"chunk_id": str(uuid.UUID(int=number)), **row} for number, row in enumerate(ROWS)]
    made = [None if angle is None else at(angle) for angle in ANGLES.values()]
    assert vector_store.build(path, batches(rows, made), dimension=2) == 5
    return path


@pytest.fixture
def store(folder: Path) -> Iterator[VectorStore]:
    with closing(vector_store.open(folder)) as opened:
        yield opened


def numbers(hits: list[ScoredPoint] | list[FusedHit]) -> list[int]:
    return [uuid.UUID(hit.chunk_id).int for hit in hits]


def test_the_nearest_come_first_by_cosine_and_those_without_a_vector_never(store: VectorStore) -> None:
    hits = store.nearest(at(4), 10)
    assert numbers(hits) == [0, 1, 3, 2]
    assert [hit.score for hit in hits] == pytest.approx([np.cos(np.radians(turn)) for turn in (4, 6, 56, 76)], abs=1e-3)
    assert numbers(store.nearest(at(75), 1)) == [2]


@pytest.mark.requirement("S0-22")
def test_filters_hold_for_both(store: VectorStore) -> None:
    for where, passages in ((ChunkFilter(sources=("chat",)), [2, 3, 4]), (ChunkFilter(sources=("mail",)), [0, 1])):
        assert sorted(numbers(hybrid_search(store, "pump water song leaks", at(0), 10, where))) == passages
    only = ChunkFilter(chunk_ids=(str(uuid.UUID(int=3)), str(uuid.UUID(int=4))))
    assert numbers(store.nearest(at(0), 10, only)) == [3]
    assert numbers(store.search("pump", 10, only)) == [4]


def test_both_sides_count_and_tell_their_ranks(store: VectorStore) -> None:
    found = hybrid_search(store, "the pump in the cellar", at(4), 10, ChunkFilter())
    ranks = {number: (one.lexical_rank, one.semantic_rank) for number, one in zip(numbers(found), found, strict=True)}
    assert ranks == {0: (1, 1), 1: (None, 2), 2: (2, 4), 3: (None, 3), 4: (3, None)}
    assert found[0].score == pytest.approx(1.0)
    assert numbers(found).index(1) < numbers(found).index(3)


def test_a_passage_ranks_by_its_nearest_span_too(tmp_path: Path) -> None:
    """The third, 80 degrees away, has a span at 10: the mean of both cosines; one farther away takes nothing."""
    rows = [{"chunk_id": str(uuid.UUID(int=number)), **row} for number, row in enumerate(ROWS)]
    made = [None if angle is None else at(angle) for angle in ANGLES.values()]
    spans = [[*at(50), *at(90)], None, [*at(10), *at(120)], None, None]
    vector_store.build(tmp_path / "vectors", batches(rows, made, spans), dimension=2, spans=True)
    with closing(vector_store.open(tmp_path / "vectors")) as store:
        found = {numbers([one])[0]: one.similarity for one in hybrid_search(store, "", at(0), 10, ChunkFilter())}
    cosine = {turn: float(np.cos(np.radians(turn))) for turn in (0, 10, 60, 80)}
    expected = {0: 1.0, 1: cosine[10], 2: (cosine[80] + cosine[10]) / 2, 3: cosine[60]}
    assert found == pytest.approx(expected, abs=2e-3)


def test_a_passage_without_a_vector_ranks_by_its_words(store: VectorStore) -> None:
    assert numbers(hybrid_search(store, "čerpadlo sklep", at(5), 10, ChunkFilter()))[0] == 4


def test_by_words_alone_it_is_the_search_by_words(store: VectorStore) -> None:
    words = store.search("pump", 10)
    assert [(one.chunk_id, one.score) for one in hybrid_search(store, "pump", None, 10, ChunkFilter())] == words


def test_the_result_does_not_depend_on_how_deep_it_looks(store: VectorStore) -> None:
    deep = hybrid_search(store, "pump leaks", at(80), 10, ChunkFilter())
    for limit in (2, 3):
        shallow = hybrid_search(store, "pump leaks", at(80), limit, ChunkFilter())
        assert [(one.chunk_id, pytest.approx(one.score)) for one in deep[:limit]] == [
            (one.chunk_id, one.score) for one in shallow
        ]


HITS = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 9), max_size=8).map(
    lambda scores: sorted((ScoredPoint(name, score) for name, score in scores.items()), key=lambda hit: -hit.score)
)


@given(HITS, HITS)
def test_every_passage_stands_there_once_with_a_score_from_0_to_1(
    sparse: list[ScoredPoint], dense: list[ScoredPoint]
) -> None:
    found = convex_fusion(sparse, dense, sparse, dense)
    assert sorted(one.chunk_id for one in found) == sorted({hit.chunk_id for hit in (*sparse, *dense)})
    assert all(0 <= one.score <= 1 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert one.lexical_rank is None or sparse[one.lexical_rank - 1].chunk_id == one.chunk_id
        assert one.semantic_rank is None or dense[one.semantic_rank - 1].chunk_id == one.chunk_id
