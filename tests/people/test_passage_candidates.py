"""Who may be a relative whom nothing states, and what passages say of people whom no record knows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from relrag_pipelines.identity.mentions import Mention
from relrag_query.archive import Archive
from relrag_query.people import passage_candidates, passage_facts
from relrag_query.people.kin_words import kin_words
from relrag_query.people.passage_candidates import NameNear, names_in, score
from relrag_query.people.passage_facts import _bearers, _name_alone, _relatives, _values, said_of
from tuning.people import measure

_NEAR = {"bias": 1.0, "of_whom": 1.0, "same_sentence": 1.0, "same_text": 1.0, "behind": 1.0, "fits": 1.0}


@pytest.fixture(scope="module")
def whitfield(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with measure.opened("whitfield", tmp_path_factory.mktemp("whitfield")) as archive:
        yield archive


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("who are my nieces?", "Isla, perhaps nephew or niece of Eleanor Whitfield"),
        ("who is our dentist", "Mrs-Okafor, perhaps dentist of Eleanor Whitfield"),
        ("מי הבן של אורלי", "Ariel, perhaps child of Orly Ben-David"),
    ],
)
def test_who_is_named_near_a_word_for_a_relative_is_offered_and_never_sure(
    whitfield: Archive, question: str, line: str
) -> None:
    answer = whitfield.ask(question)
    assert answer.confidence == "unsure"
    assert any(one.text.startswith(line) for one in answer.quotes)
    assert answer.head[0].startswith(("Nobody is stated to be", "It is not certain who"))
    shown = [source.number for source in answer.sources]
    assert shown == [*range(1, len(shown) + 1)]
    assert all(set(one.sources) <= {*shown} for one in answer.quotes)


@pytest.fixture(scope="module")
def katz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with measure.opened("katz", tmp_path_factory.mktemp("katz")) as archive:
        yield archive


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("jak se jmenuje moje tchyně", "Milena, perhaps parent in law of Daniel Katz"),
        ("who is my father in law?", "Jaroslav, perhaps parent in law of Daniel Katz"),
    ],
)
def test_a_relative_by_marriage_is_looked_for_by_way_of_who_may_be_the_wife(
    katz: Archive, question: str, line: str
) -> None:
    answer = katz.ask(question)
    assert answer.confidence == "unsure"
    assert any(one.text.startswith(line) for one in answer.quotes)


def test_figures_that_depend_on_other_names_and_on_the_way(katz: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    every, seen = passage_candidates.every_name, []

    def listen(*given: Any) -> Iterator[NameNear]:
        seen.extend(found := [*every(*given)])
        yield from found

    monkeypatch.setattr(passage_candidates, "every_name", listen)
    katz.ask("jak se jmenuje moje tchyně")
    told = next(one.figures for one in seen if one.name == "Milena")
    assert (told["by_way_of"], told["times"], told["others"]) == (1.0, 0.0, 0.0)
    seen.clear()
    katz.ask("what are Simon's kids called?")
    ben = next(one.figures for one in seen if one.name == "Ben")
    assert ben["others"] > 0
    assert "by_way_of" not in ben


@pytest.mark.parametrize(
    ("question", "confidence"),
    [
        ("who told me about Alasdair?", "unsure"),
        ("who is the new landlord?", "unsure"),
        ("and what's her son called? Imogen's", "unsure"),
        ("who said Biscuit needs his teeth done?", "sure"),
    ],
)
def test_a_passage_alone_never_says_for_certain_who_somebody_is(
    whitfield: Archive, question: str, confidence: str
) -> None:
    assert whitfield.ask(question).confidence == confidence


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("who is the landlord?", "Graham Tuckett, landlord of Eleanor Whitfield"),
        ("who is the husband?", "Marcus"),
    ],
)
def test_a_relative_without_whose_is_the_owner_s(whitfield: Archive, question: str, line: str) -> None:
    assert whitfield.ask(question).quotes[0].text.startswith(line)


def test_a_name_that_is_near_counts_more_than_one_that_is_far_or_in_no_list() -> None:
    far = {"bias": 1.0, "of_whom": 1.0, "messages_away": 3.0}
    assert score(_NEAR) > score(_NEAR | {"unlisted": 1.0}) > score(far | {"unlisted": 1.0})


def test_a_hebrew_name_that_is_a_word_too_is_one_with_a_doubt() -> None:
    text = "כן, הדס באה, with Wren, who sings"
    assert [(text[one.start : one.end], doubt) for one, doubt in names_in(text, [])] == [
        ("הדס", "is_word"),
        ("Wren", "unlisted"),
    ]


@pytest.mark.parametrize(
    ("name", "predicate", "text", "value"),
    [
        ("Lenka Pokorná", "phone", "Lenka's number is 777 909 010", "777 909 010"),
        ("Ido", "birthday", "Ido's birthday is 19 June, he will be 18.", "06-19"),
        ("Itamar", "age", "איתמר כבר בן 7 את מאמינה?", "7 or 8 years old"),
        ("my grandfather", "age", "סבא בן 90 ב-8 בפברואר", "90 or 91 years old"),
        ("babičce", "age", "Babička má dnes 91. Zavolejte jí.", "91 years old"),
        ("my grandmother", "age", "סבא בן 90 ב-8 בפברואר", None),
        ("my grandmother", "age", "Petrova babička má dnes 91.", None),
        ("my kid", "age", "My son is 7, by the way.", "7 or 8 years old"),
        ("Lenka", "phone", "Milena's number is 777 909 010", None),
        ("Lenka", "birthday", "Lenka's number is 777 909 010", None),
        ("Ido", "birthday", "If Ido's birthday is 19 June, we stay.", None),
    ],
)
def test_what_a_passage_says_of_whom_no_record_knows(name: str, predicate: str, text: str, value: str | None) -> None:
    kin = kin_words(name)
    mentions = _relatives(kin[-1], text) if kin else _bearers(name, text)
    said = [one for one, _ in _values(mentions, predicate, text, date(2026, 6, 3), date(2026, 7, 20))]
    assert said == ([value] if value else [])


@pytest.mark.parametrize(
    ("question", "line"),
    [("How old is Itamar?", 'Itamar, perhaps: 7 or 8 years old: "איתמר כבר בן 7"'), ("kolik je Tomášovi let?", "")],
)
def test_the_age_of_a_stranger_is_found_in_another_script(
    question: str, line: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with measure.opened("berger", tmp_path_factory.mktemp("berger")) as berger:
        quotes = berger.ask(question).quotes
    assert quotes[0].text.startswith(line) and ("perhaps" in quotes[0].text) is bool(line)


def test_a_name_is_found_with_its_family_name_and_in_another_script() -> None:
    assert _bearers("Lenka Pokorná", "by Lenka Pokorná") == [Mention(3, 16, (), False)]
    assert [(one.start, one.end) for one in _bearers("Itamar", "איתמר בן 7")] == [(0, 5)]
    assert not _bearers("Ann", "anna and Annabel")


@pytest.mark.parametrize("name", ["Dana's mother", "Danina maminka", "אמא של דנה"])
def test_what_is_said_of_a_mother_is_not_said_of_somebody_else_s(name: str) -> None:
    nowhere: Any = None
    assert said_of(name, "age", nowhere, date(2026, 7, 20)) == []


def test_who_is_called_an_uncle_on_a_card_is_looked_for_by_name() -> None:
    assert [_name_alone(one) for one in ("Uncle Bob", "Teta Jana", "Dana Levi", "Mum", "דוד כהן")] == [
        "Bob", "Jana", "Dana Levi", "Mum", "דוד כהן",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "kin"), [("Mum", True), ("Uncle Bob", False), ("דוד כהן", False), ("Dana", False)])
def test_who_is_only_called_mum_is_the_owner_s_mother(name: str, kin: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(passage_facts, "_read", lambda _name, words, *_: read.append(words) or [])
    nowhere: Any = None
    passage_facts.said_of_bearers(name, "age", nowhere, date(2026, 7, 20))
    assert ("mother" in read[0].split()) is kin
