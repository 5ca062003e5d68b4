"""Mistyped words of a question find what is meant, and words that the archive holds are left alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval.question_reader import Filters
from relrag_query.retrieval.spelling import correct
from tests.cases import cases
from tests.query_hits import passages, publish, record

_TEXTS = {
    "gmail:en": "The plumber will replace the boiler on Tuesday, and the invoices follow by mail.",
    "gmail:cs": "Dobrý den, pojištění chalupy se prodlužuje o rok, faktura přijde poštou.",
    "gmail:he": "שלום, הצבעי סיים את המדרגות ושלח את הקבלה במייל.",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    records = [record(name, text, "2025-05-04T18:00:00Z") for name, text in _TEXTS.items()]
    # what holds the other words of each question
    records += [
        record(f"gmail:{number}", text, "2025-05-04T18:00:00Z")
        for number, text in enumerate([
            *["When does the train arrive, and who will be there?"] * 20,
            *["Kdy přijede vlak a kdo tam bude, co se děje?"] * 20,
            *["מתי מגיעה הרכבת ומי יהיה שם?"] * 20,
        ])
    ]  # fmt: skip
    with Archive.open(
        publish(tmp_path_factory.mktemp("spelling"), records, [one for each in records for one in passages(each)])
    ) as opened:
        yield opened


@pytest.mark.parametrize(*cases(__file__, "a_mistyped_word_finds_what_is_meant"))
def test_a_mistyped_word_finds_what_is_meant(
    archive: Archive, question: str, mistyped: str, meant: str | None, found: str, slip: str
) -> None:
    assert archive.search(question).hits[0].chunk.asset_id == found, slip
    with archive._reading() as connection:
        context = archive._context(connection, question, Filters(), 8)
    assert context.spellings == ({mistyped: [meant]} if meant else {}), slip


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("when does the lumber arrive", "the first letter is as it was meant"),
        ("when does the plover arrive", "two letters differ"),
        ("when does the plumber arrive", "the word stands in the archive, if in one passage only"),
        ("when does the bill arrive", "a word of four letters is like too many others"),
    ],
)
def test_other_words_are_left_alone(archive: Archive, question: str, why: str) -> None:
    with archive._reading() as connection:
        assert archive._context(connection, question, Filters(), 8).spellings == {}, why


def test_an_answer_says_that_no_passage_holds_the_mistyped_word(archive: Archive) -> None:
    answer = archive.ask("when will the plumebr replace the boiler")
    assert answer.quotes[0].text.startswith("The plumber will replace the boiler")
    assert answer.missing == ["plumebr"]
    assert 'spelling: for "plumebr" also plumber' in answer.trace


def test_the_meaning_is_that_of_the_only_word_that_may_be_meant() -> None:
    near = {
        "plumebr": ["plumber"],
        "fence": ["pence"],
        "kotlik": ["kotliky", "kotlíku", "kotlů"],
        "המדגרות": ["המדרגות"],
    }
    assert correct("has the plumebr mended the fance", near) == "has the plumber mended the fance", (
        "a short word is left"
    )
    assert correct("kde je kotlik", near) == "kde je kotlik", "two words differ in a letter"
    assert correct("איפה המדגרות", near) == "איפה המדרגות"
