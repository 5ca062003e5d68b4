"""Excerpts as people read them."""

from __future__ import annotations

import time

import pytest

from relrag_pipelines.text.written_dates import join_dates
from relrag_query.retrieval.excerpts import plain
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "marks_for_programs_are_left_out"))
def test_marks_for_programs_are_left_out(text: str, shown: str) -> None:
    assert plain(text, "documentation") == shown


@pytest.mark.parametrize("kind", ["code", "whatsapp"])
def test_code_and_chats_are_shown_as_they_are(kind: str) -> None:
    text = "# a comment\nx = **y**\n---\nList<> of 12.\nledna 2025"
    assert plain(text, kind) == text


@pytest.mark.parametrize(*cases(__file__, "a_date_is_not_broken_across_lines"))
def test_a_date_is_not_broken_across_lines(text: str, joined: str) -> None:
    assert join_dates(text) == joined


@pytest.mark.parametrize("line", ["# ", "<!-- ", "**a", "[a](", "---\n", "| - ", "a <", "12.\n", "```\n"])
def test_what_it_costs_grows_with_the_text(line: str) -> None:
    """Four times the text costs about four times as much: eight times leaves room for a busy machine."""
    short, long = (_seconds(line * (size // len(line))) for size in (25_000, 100_000))
    assert long < max(8 * short, 0.5)


def _seconds(text: str) -> float:
    begun = time.process_time()
    plain(text, "documentation")
    return time.process_time() - begun
