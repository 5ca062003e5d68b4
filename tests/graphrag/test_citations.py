"""Citations as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_query.graphrag.citations import Dataset, parse, parse_citation_ids
from tests.cases import cases


def numbers(text: str) -> dict[str, list[int]]:
    (citation,) = parse(text)
    found: dict[str, list[int]] = {}
    for one in citation.references:
        found.setdefault(one.dataset.value, []).append(one.number)
    return found


@pytest.mark.requirement("S1-2", "S1-17")
def test_the_ids_of_the_seed() -> None:
    assert parse_citation_ids("Agile is central [Data: Reports (5, 3, 47)]") == {
        "report_ids": {5, 3, 47},
        "entity_ids": set(),
        "relationship_ids": set(),
        "claim_ids": set(),
        "source_ids": set(),
    }


@pytest.mark.parametrize(*cases(__file__, "forms"))
def test_forms(written: str, meant: dict[str, list[int]]) -> None:
    assert numbers(written) == meant


@pytest.mark.parametrize(*cases(__file__, "what_names_no_record_is_kept_as_written"))
def test_what_names_no_record_is_kept_as_written(written: str, unread: tuple[str, ...]) -> None:
    (citation,) = parse(written)
    assert (citation.references, citation.unread) == ((), unread)


def test_more_is_told() -> None:
    assert [one.more for one in parse("[Data: Reports (1)] [Data: Reports (2, +more)] [Data: Reports (3), +more]")] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is. Two is [Data: Reports (1)]. Three is.", ["Two is."]),
        ("One is. Two is. [Data: Reports (1)] Three is.", ["Two is."]),
        (
            "Dr. Novák paid 7.980 [Data: Reports (1)], and left [Data: Reports (2)].",
            ["Dr. Novák paid 7.980, and left."] * 2,
        ),
        ("# Title\n\nFirst [Data: Reports (1)]\nSecond [Data: Reports (2)]", ["First", "Second"]),
        ("[Data: Reports (1)] begins.", ["begins."]),
    ],
)
def test_the_sentence_that_carries_a_citation(text: str, sentences: list[str]) -> None:
    assert [citation.sentence for citation in parse(text)] == sentences


def test_places() -> None:
    text = "Paid [Data: Reports (1)] and left [Data: Sources (2)]."
    assert [text[one.start : one.end] for one in parse(text)] == ["[Data: Reports (1)]", "[Data: Sources (2)]"]


def test_hostile_texts_take_linear_time() -> None:
    for piece in ("[Data: ", "[Data: a(", "a (", "(", "Reports (1, ", "+ more"):
        assert len(parse("[Data: " + piece * 20_000)) >= 1


@given(
    st.lists(
        st.tuples(st.sampled_from(list(Dataset)), st.lists(st.integers(0, 10**9), min_size=1, unique=True)),
        min_size=1,
        unique_by=lambda one: one[0],
    ),
    st.sampled_from(["; ", ", ", ";"]),
)
def test_whatever_is_written_is_read_back(cited: list[tuple[Dataset, list[int]]], between: str) -> None:
    written = between.join(f"{dataset} ({', '.join(map(str, found))})" for dataset, found in cited)
    assert numbers(f"It is so [Data: {written}].") == {dataset.value: found for dataset, found in cited}
