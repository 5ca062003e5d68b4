"""The index of relationships chooses few of many, by vector and by parts of words, and quickly."""

from __future__ import annotations

import time
from collections.abc import Iterator

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from relrag_query.people.relationship_index import RelationshipIndex
from relrag_query.retrieval.term_coverage import terms_of
from tests.cases import cases

ROWS, NUMBERS = 10_000, 384
Floats = npt.NDArray[np.float32]
TYPES = ("colleague", "friend", "mentor", "former_manager")


@pytest.fixture(scope="module")
def vectors() -> Floats:
    made = np.random.default_rng(7).standard_normal((ROWS, NUMBERS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def connection(vectors: Floats) -> Iterator[duckdb.DuckDBPyConnection]:
    """Relationship N is of person N to person N + 1, its type the Nth of the four, its client by turns."""
    with duckdb.connect() as opened:
        opened.execute(
            """CREATE TABLE person_relationships AS SELECT range AS from_person_id, range + 1 AS to_person_id,
            $types[range % 4 + 1] AS relationship_type, ['acme', NULL][range % 2 + 1] AS client_id,
            'hash' || range AS text_hash, 'Meets about matter ' || range AS description,
            [if(range = 4242, 'Vyráží na kajak', 'Nothing')] AS notes FROM range($rows)""",
            {"rows": ROWS, "types": list(TYPES)},
        )
        opened.execute("CREATE TABLE persons AS SELECT range AS person_id, 'Given' || range AS name FROM range(10001)")
        embedded = pa.table({"hash": [f"hash{row}" for row in range(ROWS)], "vector": pa.array(list(vectors))})
        opened.register("embedded", embedded)
        opened.execute(
            "CREATE TABLE relationship_embeddings AS SELECT hash AS text_hash, vector AS relationship_embedding, "
            "'model' AS model FROM embedded"
        )
        yield opened


@pytest.fixture(scope="module")
def index(connection: duckdb.DuckDBPyConnection) -> RelationshipIndex:
    return RelationshipIndex(connection, "model", {})


@pytest.mark.requirement("S2-20", "S2-21")
def test_ten_thousand_are_searched_in_little_time(index: RelationshipIndex, vectors: Floats) -> None:
    index.likely(vectors[1], terms_of("a first question loads the words"), index.matching("", None, None), 1)
    begun = time.process_time()
    near = index.nearest(vectors[77], index.matching("", None, None), 20)
    terms = terms_of("who goes by kayak and meets about matters")
    likely = index.likely(vectors[77], terms, index.matching("", None, None), 24)
    took = time.process_time() - begun
    assert near[0] == likely[0] == (77, 78, "friend")
    assert (len(near), len(likely)) == (20, 24)
    assert took < 0.1, took


@pytest.mark.parametrize(*cases(__file__, "words_choose_without_a_vector"))
def test_words_choose_without_a_vector(
    index: RelationshipIndex, question: str, types: set[str] | None, best: tuple[int, int, str]
) -> None:
    assert index.likely(None, terms_of(question), index.matching("", types, None), 3)[0] == best


@pytest.mark.requirement("S2-11")
def test_who_sees_which_rows(index: RelationshipIndex, vectors: Floats) -> None:
    assert index.nearest(vectors[77], index.matching("acme", None, None), 1) != [(77, 78, "friend")]
    assert index.nearest(vectors[78], index.matching("acme", None, None), 1) == [(78, 79, "mentor")]
    assert not index.matching("another", None, None).any()
    assert index.nearest(vectors[77], index.matching("", {"mentor"}, None), 1)[0][2] == "mentor"
    assert index.nearest(vectors[77], index.matching("", None, {500}), 9) in (
        [(499, 500, "former_manager"), (500, 501, "colleague")],
        [(500, 501, "colleague"), (499, 500, "former_manager")],
    )
