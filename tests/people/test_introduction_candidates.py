"""Who may have introduced somebody, where nothing states it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.text import fact_phrases
from relrag_query.archive import Archive
from relrag_query.people import introduction_candidates
from relrag_query.people.conversations import Said
from relrag_query.people.introduction_candidates import Introduced, Introducer, _is_about, score
from tuning.people import measure


@pytest.fixture(scope="module")
def rosen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with measure.opened("rosen", tmp_path_factory.mktemp("rosen")) as archive:
        yield archive


@pytest.fixture(scope="module")
def whitfield(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with measure.opened("whitfield", tmp_path_factory.mktemp("whitfield")) as archive:
        yield archive


def test_who_gave_a_name_is_offered_and_never_sure(rosen: Archive) -> None:
    answer = rosen.ask("kdo mi dal kontakt na Vadima?")
    assert answer.confidence == "unsure"
    assert any(one.text.startswith("Shira Peretz, perhaps introducer of Vadim") for one in answer.quotes)


def test_somebody_without_a_name_is_looked_for_by_what_he_does(whitfield: Archive) -> None:
    answer = whitfield.ask("who put me in touch with the spice guy?")
    assert answer.confidence == "unsure"
    assert answer.quotes[0].text.startswith("Orly Ben-David, perhaps introducer of Eleanor Whitfield")


def test_how_somebody_knows_the_owner_asks_for_it_too(whitfield: Archive) -> None:
    answer = whitfield.ask("how does Nadia Rahman know about me?")
    assert answer.quotes[0].text.startswith("Imogen Hart, perhaps introducer of Nadia Rahman")


def test_the_figures_of_who_may_have_introduced_somebody(rosen: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    every, seen = introduction_candidates.introducers, []

    def listen(*given: Any) -> Iterator[Introducer]:
        seen.extend(found := [*every(*given)])
        yield from found

    monkeypatch.setattr(introduction_candidates, "introducers", listen)
    rosen.ask("kdo mi dal kontakt na Vadima?")
    told = {(one.name, one.quote[:11]): one.figures for one in seen}
    shira = told["Shira Peretz", "Call Vadim,"]
    assert {name for name, value in shira.items() if value} == {"bias", "first", "from", "others"}
    dana = told["Dana Rosen", "Call Vadim,"]
    assert {name for name, value in dana.items() if value} == {"bias", "first", "writes", "others"}
    assert next(value for (name, _), value in told.items() if name == "Hello Tamar")["unlisted"] == 1


@pytest.mark.parametrize("figure", ["writes", "first", "from"])
def test_what_speaks_for_somebody_raises_the_score(figure: str) -> None:
    assert score({"bias": 1.0, figure: 1.0}) > score({"bias": 1.0})


@pytest.mark.parametrize("figure", ["by_owner", "others", "unlisted"])
def test_what_speaks_against_somebody_lowers_the_score(figure: str) -> None:
    assert score({"bias": 1.0, figure: 1.0}) < score({"bias": 1.0})


@pytest.mark.parametrize(
    ("before", "came_from"),
    [("I got him from ", True), ("Kontakt mám od pana ", True), ("קיבלתי מ", True), ("I saw ", False), ("hod ", False)],
)
def test_what_came_from_somebody_stands_before_his_name(before: str, came_from: bool) -> None:
    assert fact_phrases.is_from(before) is came_from


def test_a_passage_is_about_who_writes_reads_or_is_named_in_it() -> None:
    finder, vadim = MentionFinder({7: ["Vadim Levin"]}), Introduced((7,), "")
    for text, writer, reader, is_about in (
        ("Call Vadim Levin", 1, 2, True),
        ("hello", 7, 2, True),
        ("I got your number from Shira", 2, 7, True),
        ("hello", 1, 2, False),
    ):
        said = Said("m", text, 0, writer, reader, frozenset())
        assert _is_about(vadim, frozenset(), said, finder) is is_about


@pytest.mark.parametrize(
    ("words", "text", "is_about"),
    [("spice guy", "the spice man you need", True), ("spice guy", "a nice man", False)],
)
def test_a_passage_is_about_somebody_without_a_name_by_its_words(words: str, text: str, is_about: bool) -> None:
    said = Said("m", text, 0, 1, 2, frozenset())
    assert _is_about(Introduced((), words), frozenset(), said, MentionFinder({})) is is_about
