"""When a later record is said to supersede an earlier one: only where both give a value of one type."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from relrag_pipelines.text.values import ValueType
from relrag_query.answering import superseded
from relrag_query.answering.candidates import Candidate, candidates
from relrag_query.answering.features import FEATURES, column
from relrag_query.answering.ranker import RankedCandidate
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record


def candidate(text: str) -> Candidate:
    return candidates([Hit(passages(record("jsonl:1", text))[0], 1.0, 1.0)])[0]


@pytest.mark.parametrize(
    ("new", "old", "asked", "is_other"),
    [
        ("The rent is 980 € from January.", "The rent is 920 € from January.", ("amount",), True),
        ("From February it rises from 60 to 68 € a month.", "It is 60 € a month.", ("amount",), True),
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


@pytest.mark.parametrize(
    ("new", "old", "types", "is_so"),
    [
        ("The rent is 980 € from January.", "The rent is 920 € from January.", ("amount",), True),
        ("From February it rises from 60 to 68 € a month.", "It is 60 € a month.", ("amount",), True),
        ("It rises from 60 € to 68 €.", "It is 60 € a month.", ("amount",), False),
        ("The first said 8,400 €, the corrected one 7,980 €.", "The total is 7,980 €.", ("amount",), False),
        ("The rent is 980 € from January.", "The rent is 920 € from January.", (), False),
    ],
)
def test_only_a_value_asked_for_that_is_not_repeated_is_contradicted(
    new: str, old: str, types: tuple[ValueType, ...], is_so: bool
) -> None:
    assert superseded.contradicts(candidate(new), candidate(old), frozenset(types)) is is_so


MARCH, APRIL = "2026-03-02T10:00:00", "2026-04-02T10:00:00"


def ranked(name: str, text: str, written: str, degrees: float | None = 0, coverage: float = 1.0) -> RankedCandidate:
    """A candidate of a record of its own, whose meaning is at so many degrees from that of the others."""
    passage = passages(record(f"jsonl:{name}", text, written))[0]
    row = np.zeros(len(FEATURES), np.float32)
    row[column("near_coverage")] = coverage
    angle = math.radians(degrees or 0)
    vector = None if degrees is None else np.array([math.cos(angle), math.sin(angle)], np.float32)
    return RankedCandidate(candidates([Hit(passage, 1.0, 1.0)])[0], 1.0, 0.5, row, vector)


RENT = ("1", "The rent of the shop is 1,150 EUR.", MARCH)


@pytest.mark.parametrize(
    ("later", "degrees", "is_so"),
    [
        ("The rent of the shop is 1,195 EUR.", 30, True),
        ("The insurance of the shop costs 689 EUR a year.", 70, False),
        ("A kilogram of flour costs 22 EUR.", 90, False),
        ("The rent of the shop is 1,195 EUR.", None, False),
    ],
)
def test_only_what_means_nearly_the_same_supersedes(later: str, degrees: float | None, is_so: bool) -> None:
    new = ranked("2", later, APRIL, degrees)
    chosen = superseded.superseding(ranked(*RENT), [new], frozenset({"amount"}))
    assert (chosen is new) is is_so


@pytest.mark.parametrize(
    ("old", "new", "types", "is_so"),
    [
        ("VAT form 303 of 2T: 2,318 EUR.", "VAT form 303 of 3T: 1,964 EUR.", ("amount",), False),
        ("VAT form 303 of 2T: 2,318 EUR.", "VAT form 303 of 2T, corrected: 2,290 EUR.", ("amount",), True),
        ("Flour T65 costs 21.90 EUR.", "Flour T65 costs 23.40 EUR.", ("amount",), True),
        ("Flour T65 costs 21.90 EUR.", "Flour T80 costs 19.40 EUR.", ("amount",), False),
        ("Our stall is B7.", "Our stall is C12.", ("number",), True),
    ],
)
def test_another_quarter_or_product_supersedes_nothing(
    old: str, new: str, types: Sequence[ValueType], is_so: bool
) -> None:
    later = ranked("2", new, APRIL)
    assert (superseded.superseding(ranked("1", old, MARCH), [later], frozenset(types)) is later) is is_so


@pytest.mark.parametrize(("old_share", "new_share", "is_so"), [(0.5, 0.5, True), (0.0, 0.5, False), (0.5, 0.0, False)])
def test_only_what_is_about_the_question_is_said_to_be_replaced(
    old_share: float, new_share: float, is_so: bool
) -> None:
    later = ranked("2", "The rent of the shop is 1,195 EUR.", APRIL, coverage=new_share)
    assert superseded.replaces(later, ranked(*RENT, coverage=old_share), frozenset({"amount"})) is is_so
