"""Marks of a record's own text are never taken for relrag's citations."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.text.citation_marks import disarm
from relrag_query.display.inert_text import safe
from relrag_query.graphrag.citations import parse
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_mark_gets_other_brackets"))
def test_a_mark_gets_other_brackets(text: str, shown: str) -> None:
    assert disarm(text) == shown
    assert parse(safe(shown)) == []


@pytest.mark.parametrize(
    "text", ["[ ] buy milk", "[x] done", "a[i] = 7", "[Database: none]", "[7a]", "no mark", "f(7)"]
)
def test_other_brackets_stay(text: str) -> None:
    assert disarm(text) == text


@given(st.text(st.sampled_from("[]Data: Sources(0,1)7\u200b"), max_size=40))
def test_nothing_is_left_that_reads_as_a_citation(text: str) -> None:
    shown = disarm(text)
    assert len(shown) == len(text)
    assert parse(safe(shown)) == []
    assert not re.search(r"\[\s*\d+(?:\s*[,;]\s*\d+)*\s*\]", safe(shown))
