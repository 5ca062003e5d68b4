"""How texts from outside are put on a page: direction by line, commands as code, moments by the owner's clock."""

import re
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from markupsafe import escape

from relrag_query.graph.full_graph import FullGraph, FullGraphNode, GraphEdge
from relrag_query.web.graph_cards import cards
from relrag_query.web.rendering import by_clock, commands, direction, explain_pseudonyms, split_at_quote
from relrag_query.web.wording import wording
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_line_runs_as_most_of_its_letters_do"))
def test_a_line_runs_as_most_of_its_letters_do(line: str, way: str) -> None:
    assert direction(line) == way


@pytest.mark.parametrize(*cases(__file__, "commands_are_code_and_everything_else_is_escaped"))
def test_commands_are_code_and_everything_else_is_escaped(text: str, page: str) -> None:
    assert str(commands(text)) == page


@pytest.mark.parametrize("utc", ["2025-01-15T23:30:00+00:00", "2025-01-15T23:30:00Z", "2025-01-15T23:30:00"])
def test_a_moment_is_told_by_the_owners_clock_and_says_so(utc: str) -> None:
    assert by_clock(utc, ZoneInfo("Asia/Jerusalem"), wording("en")) == "16 January 2025, 01:30 (Asia/Jerusalem)"


def test_a_card_holds_people_first_then_the_newest_records_and_says_what_it_leaves_out() -> None:
    people = [FullGraphNode(id=f"person:{number}", type="person", label=f"P{number}") for number in (1, 2)]
    records = [
        FullGraphNode(id=f"r{number}", type="document", label="", timestamp=f"2024-01-0{number}")
        for number in range(1, 9)
    ]
    edges = [GraphEdge(source="person:1", target=f"r{number}", type="sender") for number in range(1, 9)]
    related = GraphEdge(source="person:2", target="person:1", type="friend")
    one, two = cards(FullGraph(nodes=[*people, *records], edges=[*edges, related], omitted={}))
    assert [(type_, node.id) for type_, node in one.entries] == [
        ("friend", "person:2"),
        *(("sender", f"r{number}") for number in (8, 7, 6, 5, 4)),
    ]
    assert (one.more, two.more, len(two.entries)) == (3, 0, 1)


def test_a_line_without_letters_runs_as_what_is_around_it() -> None:
    assert direction("<IBAN_CODE:k1:b993b8cb072c>", "rtl") == "rtl"
    assert direction("Dana", "rtl") == "ltr"


def test_a_mark_ends_with_its_line_and_an_empty_line_has_none() -> None:
    assert split_at_quote("One two.\n \nThree four. Five.", "One two. Three four") == [
        ("One two.", True), ("\n \n", False), ("Three four.", True), (" Five.", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Call <PHONE_NUMBER:k1:88a31ea6ebff>.", "relrag reveal &#39;&lt;PHONE_NUMBER:k1:88a31ea6ebff&gt;&#39;"),
        ("Pay to <IBAN_CODE:k12:00ff00ff00ff>", "relrag reveal &#39;&lt;IBAN_CODE:k12:00ff00ff00ff&gt;&#39;"),
        ("id <IL_ID_NUMBER> of Mia", "type: relrag reveal, with the record&#39;s id"),
        ("<CREDIT_CARD>", "open the record&#39;s page"),
    ],
)
def test_a_pseudonym_tells_its_owner_how_to_reveal_it(text: str, told: str) -> None:
    shown = explain_pseudonyms(text, wording("en"), reveals=True)
    assert '<abbr class="replaced" tabindex="0" title="' in shown
    assert told in shown
    assert "relrag reveal" not in explain_pseudonyms(text, wording("en"), reveals=False)
    assert unescape(re.sub(r"<[^<>]+>", "", shown)) == text


@pytest.mark.parametrize(
    "text", ["<b>bold</b>", "a < b and c > d", "<script>alert(1)</script>", "x\u202ey", "List<T> of <B>"]
)
def test_what_is_no_pseudonym_is_only_escaped(text: str) -> None:
    assert explain_pseudonyms(text, wording("en"), reveals=True) == escape(text.replace("\u202e", ""))
