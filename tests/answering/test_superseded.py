"""When a later record is said to supersede an earlier one: only where both give a value of one type."""

from __future__ import annotations

import pytest

from relrag_pipelines.text.values import ValueType
from relrag_query.answering import superseded
from relrag_query.answering.candidates import Candidate, candidates
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record


def candidate(text: str) -> Candidate:
    return candidates([Hit(passages(record("jsonl:1", text))[0], 1.0, 1.0)])[0]


@pytest.mark.parametrize(
    ("new", "old", "asked", "is_other"),
    [
        ("The rent is 980 € from January.", "The rent is 920 € from January.", ("amount",), True),
        ("La cita pasa al 26 de noviembre.", "La cita es el 12 de noviembre.", ("day",), True),
        ("We settled on 980 €.", "The rent stays at 980 €.", ("amount",), False),
        ("The router is new, its key lies in the box.", "The compressor makes a strange noise.", ("number",), False),
        ("The contract is signed at 980 €.", "The compressor makes a strange noise.", ("amount",), False),
        ("It costs 35 € more.", "See you on 12 November.", (), False),
        ("Now 45 €, the full service 79 €.", "From today 39 €.", (), True),
    ],
)
def test_a_value_of_the_same_type_is_another(new: str, old: str, asked: tuple[ValueType, ...], is_other: bool) -> None:
    assert superseded.gives_other_value(candidate(new), candidate(old), frozenset(asked)) is is_other
