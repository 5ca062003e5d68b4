"""The files of phrases: a language more is a file more, and a mistake in one is named."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_pipelines import languages
from relrag_query.answering.sentences import asks_for_something, split
from relrag_query.understanding import phrases
from relrag_query.understanding.intent import (
    QueryIntent,
    asked_values,
    classify_query_intent,
    listed_types,
    named_channel,
)
from relrag_query.understanding.time_expressions import TimeRange, time_range
from tests.cases import cases

GERMAN = r"""
[intent]
family = ['Familien?']
attachment = ['Anhang|Anhänge']

[said_in]
meeting = ['(?:in|bei) der (?:\w+ )?Besprechung']

[listed]
call = ['Anrufe']

[listing]
own = ['ich (?:\w+ )?geschrieben']
fillers = ['alles neues']

[asked]
count = ['wie viele?']

[term]
asking = ['erzählte besprochen']

[text]
interrogative = ['wer|was|wann|wo']
moment = ['morgen']
abbreviation = ['bzw']

[date]
since = ['seit']
before_month = ['\b(?:im|vom) ']

[names]
months = [
  ['Januar'], ['Februar'], ['März'], ['April'], ['Mai'], ['Juni'], ['Juli'], ['August'], ['September'], ['Oktober'],
  ['November'], ['Dezember'],
]
weekdays = [['Montag'], ['Dienstag'], ['Mittwoch'], ['Donnerstag'], ['Freitag'], ['Samstag'], ['Sonntag']]
units = { day = ['Tagen'], week = ['Wochen'] }
counts = { drei = 3 }

[time]
yesterday = ['gestern']
ago = ['vor {count} {unit}']
last_week = ['letzte Woche']
"""
NOW = datetime(2025, 1, 22, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of three languages, which is read instead of all."""
    for code in ("cs", "en", "he"):
        shutil.copytree(languages.FOLDER / code, tmp_path / code)
    monkeypatch.setattr(languages, "FOLDER", tmp_path)
    return tmp_path


def write(folder: Path, code: str, text: str) -> None:
    """Adds a language with these phrases."""
    (folder / code).mkdir()
    (folder / code / "questions.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def german(folder: Path) -> None:
    write(folder, "de", GERMAN)


def days(question: str) -> tuple[str, str] | None:
    """First day and the day behind the last."""
    found: TimeRange | None = time_range(question, NOW, ZoneInfo("UTC"))
    if found is None or found.since is None:
        return None
    until = "" if found.until is None else str(datetime.fromtimestamp(found.until, UTC).date())
    return str(datetime.fromtimestamp(found.since, UTC).date()), until


@pytest.mark.usefixtures("folder")
def test_a_language_that_has_no_file_is_not_understood() -> None:
    assert classify_query_intent("Wo ist der Anhang?", [], []) == [QueryIntent.GENERAL]
    assert days("Was kam gestern?") is None


@pytest.mark.usefixtures("german")
def test_a_file_more_is_a_language_more() -> None:
    assert classify_query_intent("Wo ist der Anhang?", [], []) == [QueryIntent.ASSET_ATTACHMENT]
    assert classify_query_intent("Was macht die Familie?", [], []) == [QueryIntent.FAMILY_CONTEXT]
    assert named_channel("Was wurde in der letzten Besprechung gesagt?", []) == {"meeting_transcript"}
    assert listed_types("Alle Anrufe bitte") == {"call_recording"}
    assert "count" in asked_values("Wie viele Tonnen waren es?")
    assert asks_for_something("Weiß jemand, wer kommt?")
    assert split("Der Plan bzw. Die Skizze liegt bei.") == ["Der Plan bzw. Die Skizze liegt bei."]


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(*cases(__file__, "its_times_are_read"))
def test_its_times_are_read(question: str, expected: tuple[str, str]) -> None:
    assert days(question) == expected


@pytest.mark.usefixtures("german")
def test_the_other_languages_are_understood_as_before() -> None:
    assert classify_query_intent("Kde je příloha?", [], []) == [QueryIntent.ASSET_ATTACHMENT]
    assert days("what came yesterday") == ("2025-01-21", "2025-01-22")
    assert days("מה היה בשבוע שעבר") == ("2025-01-12", "2025-01-19")  # its weeks begin on Sunday


def test_one_language_alone_is_enough(folder: Path) -> None:
    for name in ("cs", "he"):
        shutil.rmtree(folder / name)
    assert classify_query_intent("Show me the email thread", [], []) == [QueryIntent.ASSET_THREAD]
    assert classify_query_intent("Kde je příloha?", [], []) == [QueryIntent.GENERAL]
    assert days("since March 2024") == ("2024-03-01", "")


@pytest.mark.parametrize(*cases(__file__, "a_mistake_is_named"))
def test_a_mistake_is_named(folder: Path, text: str, message: str) -> None:
    write(folder, "xx", text)
    with pytest.raises(phrases.PhraseError, match=message.replace("{", r"\{").replace("}", r"\}")):
        time_range("yesterday", NOW, ZoneInfo("UTC"))


def test_what_is_her_name_asks_who_she_is() -> None:
    asks = phrases.load_phrases().people.who
    for question in ("what is her name", "what's my boss called", "what are my kids called", "מה השם שלה"):
        assert asks.search(question), question
    assert not asks.search("what is in the box")
