"""Excerpts as people read them."""

from __future__ import annotations

import time

import pytest

from relrag_pipelines.text.written_dates import join_dates
from relrag_query.retrieval.excerpts import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Router\n\n## The second one ##\nIts name is Božena.", "Router\n\nThe second one\nIts name is Božena."),
        ("   ### שלב ראשון\nטקסט", "שלב ראשון\nטקסט"),
        ("Lease\n=====\nText\n\n* * *\nMore", "Lease\nText\n\n* * *\nMore"),
        ("---\ntitle: Packing\ntags:\n  - travel\n---\n# Packing\nThe scarf.", "Packing\nThe scarf."),
        ("---\ntitle: Packing\n---\n", "title: Packing\n\n"),
        ("The **day rate** is [2,400](https://example.org/a_(b)).", "The day rate is 2,400."),
        ("![a plan](plan.png) of the <!-- hidden --> house", "a plan of the  house"),
        ("| who | rent |\n|---|:--:|\n| Eva | 900 |", "| who | rent |\n| Eva | 900 |"),
        ("```python\nx = 1\n```\nbehind", "x = 1\nbehind"),
        ("From: Dana Levi <>\nTo: Ota <>, Eva < >; Jan", "From: Dana Levi\nTo: Ota, Eva; Jan"),
        ("On Monday Dana <> wrote:\nyes", "On Monday Dana wrote:\nyes"),
        # what only looks like one of these
        ("Invoice #12 and C# and a #tag", "Invoice #12 and C# and a #tag"),
        ("where a <> b and 2 * 3 * 4 ** 5", "where a <> b and 2 * 3 * 4 ** 5"),
        ("- one\n- two -- three", "- one\n- two -- three"),
        ("array[0](x) is called with __init__", "array[0](x) is called with __init__"),
    ],
)  # fmt: skip
def test_marks_for_programs_are_left_out(text: str, shown: str) -> None:
    assert plain(text, "documentation") == shown


@pytest.mark.parametrize("kind", ["code", "whatsapp"])
def test_code_and_chats_are_shown_as_they_are(kind: str) -> None:
    text = "# a comment\nx = **y**\n---\nList<> of 12.\nledna 2025"
    assert plain(text, kind) == text


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("The plumber comes on 12\nMarch 2024 at nine.", "The plumber comes on 12 March 2024 at nine."),
        ("Schůzka je 12.\nledna 2025 v deset.", "Schůzka je 12. ledna 2025 v deset."),
        ("Platí do 15. 1.\n2025, potom ne.", "Platí do 15. 1. 2025, potom ne."),
        ("> due on January\n> 15, 2025", "> due on January 15, 2025"),
        ("הפגישה ב-12\nבינואר 2025", "הפגישה ב-12 בינואר 2025"),
        ("from 3rd of\n  April on", "from 3rd of April on"),
        # lines that end where they should
        ("Room 12\nMarch is on leave", "Room 12 March is on leave"),
        ("He paid 12.\n\nMarch was cold.", "He paid 12.\n\nMarch was cold."),
        ("1. one\n2. two\n3. three", "1. one\n2. two\n3. three"),
        ("It costs 900\nand more", "It costs 900\nand more"),
        ("Total: 15\n2025-01-13 Dana: yes", "Total: 15\n2025-01-13 Dana: yes"),
    ],
)
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
