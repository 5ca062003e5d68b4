"""Columns are searched as quickly as they are read, and no row that holds a value is missed."""

from __future__ import annotations

import zlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.pii import known_columns
from relrag_pipelines.pii.known_values import NO_VALUES, KnownValues

KNOWN = KnownValues.from_pairs(
    [
        ("PHONE_NUMBER", "052-123-4567"),
        ("PHONE_NUMBER", "+420 777 123 456"),
        ("EMAIL_ADDRESS", "Dana@Example.org"),
        ("CREDIT_CARD", "4111 1111 1111 1111"),
        ("API_KEY", "STRASSE-geheim"),
    ]
)
HOLDING = {
    "in any grouping": "+972 (52) 12-34-567",
    "behind a letter": "ל0521234567",
    "in other digits": "٠٥٢١٢٣٤٥٦٧",
    "in capitals": "DANA@EXAMPLE.ORG",
    "folded": "straße-GEHEIM",
    "within an address": "mailto:dana%40example.org",
    "escaped": '{"said": "\\u0030521234567"}',
    "beside a NUL": "a\0 052 123 4567",
    "apart by wide blanks": "777\u3000123\u3000\u3000456",
}
CLEAN = [
    "",
    None,
    "052x1234567",
    "05212345678",
    "dana@example.org.il",
    "052\0001234567",
    "<PHONE_NUMBER:k1:052123456789>",
]


@pytest.mark.parametrize("text", HOLDING.values(), ids=HOLDING)
@pytest.mark.parametrize(
    "column",
    [
        lambda texts: pa.array(texts, pa.string()),
        lambda texts: pa.chunked_array([pa.array(texts[:2], pa.string()), pa.array(texts[2:], pa.string())]),
        lambda texts: pa.array([["x", one] for one in texts]),
        lambda texts: pa.array([{"a": 1, "b": [{"c": one}]} for one in texts]),
        lambda texts: pa.array([one and one.encode() for one in texts]),
        lambda texts: pa.array([one and zlib.compress(one.encode()) for one in texts]),
        lambda texts: pa.array(texts, pa.string()).dictionary_encode(),
    ],
    ids=["strings", "chunks", "lists", "structs", "bytes", "packed", "dictionary"],
)
def test_the_row_that_holds_a_value_is_told(text: str, column: object) -> None:
    texts = [*CLEAN, text, *CLEAN]
    table = pa.table({"n": range(len(texts)), "said": column(texts)})  # type: ignore[operator]
    assert [row for row, _ in known_columns.rows_that_hold(table, KNOWN)] == [len(CLEAN)]


@given(st.lists(st.text("0521347776@dana.example org-+()/_\u00a0\u0660ß%\\u\0", max_size=40), max_size=8))
def test_no_row_is_missed(texts: list[str]) -> None:
    texts = [*texts, *(f"{one}0521234567" for one in texts), *(f"{one} dana@example.org" for one in texts)]
    told = set(known_columns.rows_that_may_hold(pa.table({"said": texts}), KNOWN).tolist())
    assert {row for row, text in enumerate(texts) if KNOWN.values_in(text)} <= told


def test_few_rows_are_looked_at_twice() -> None:
    texts = [f"order {number:09} of 2024-03-{number % 28 + 1:02} is ready" for number in range(20_000)]
    assert len(known_columns.rows_that_may_hold(pa.table({"said": texts}), KNOWN)) < 5
    texts[7] += "\0"  # what cuts texts apart stands in one itself: that one alone is looked at
    assert len(known_columns.rows_that_may_hold(pa.table({"said": texts}), KNOWN)) < 6


def test_a_table_without_values_or_without_rows_holds_none() -> None:
    assert list(known_columns.rows_that_hold(pa.table({"said": ["052-123-4567"]}), NO_VALUES)) == []
    assert list(known_columns.rows_that_hold(pa.table({"said": pa.array([], pa.string())}), KNOWN)) == []


def test_values_of_some_entities_alone() -> None:
    table = pa.table({"said": ["dana@example.org", "0521234567"]})
    found = known_columns.rows_that_hold(table, KNOWN.restrict({"PHONE_NUMBER"}))
    assert [(row, {one.entity for one in held}) for row, held in found] == [(1, {"PHONE_NUMBER"})]
