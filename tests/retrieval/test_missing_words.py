"""What is said of a question's words that no passage holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval import missing_words
from relrag_query.retrieval.question_reader import Filters
from relrag_query.retrieval.term_coverage import Term
from tests.query_hits import passages, publish, record


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    records = [
        record(
            "gmail:bike",
            "The bike for the boy: grandma gives three thousand, <PHONE_NUMBER:k1:88a31ea6ebff>.",
            "2025-05-04T18:00:00Z",
        ),
        *[record(f"gmail:{number}", f"Operation of the hip, walking, item {number}.") for number in range(60)],
    ]
    with Archive.open(
        publish(tmp_path_factory.mktemp("words"), records, [one for each in records for one in passages(each)])
    ) as opened:
        yield opened


def test_a_word_of_a_single_passage_that_is_no_hit_is_not_said_to_be_missing(archive: Archive) -> None:
    answer = archive.ask("How long after the operation of the hip, walking, has grandma a zeppelin?")
    assert answer.missing == ["zeppelin"]


def test_a_number_that_stands_as_its_pseudonym_is_not_said_to_be_missing(archive: Archive) -> None:
    term = Term("054-1234567", {"<PHONE_NUMBER:k1:88a31ea6ebff>": 1.0}, 1.0)
    with archive._reading() as connection:
        context = archive._context(connection, "operation of the hip", Filters(), 8)
        other = replace(term, word="other", tokens={"<PHONE_NUMBER:k1:000000000000>": 1.0})
        assert missing_words._absent_words([term, other], context) == {"other"}


@pytest.mark.parametrize(
    ("words", "question", "shown", "named"),
    [
        (["gimnasio"], "¿Cuánto cuesta el gimnasio de Lucía?", ["Lucía: la excursión cuesta 85 €"], ["gimnasio"]),
        (["abre"], "¿Qué días abre el taller ahora?", ["Desde marzo abrimos los lunes todo el día."], []),
        (["shop"], "How much rent do we pay for the shop now?", ["De acuerdo, 980 euros desde enero de 2026."], []),
        (["Werkstatt"], "Wie viel kostet die Versicherung der Werkstatt?", ["Seguro del taller: 365 € al año."], []),
        (["gym"], "What does the gym cost?", [], ["gym"]),
        (["INV-1199"], "INV-1199", ["Here is the invoice INV-1187."], ["INV-1199"]),
    ],
)
def test_a_missing_word_is_named_only_where_it_tells_something(
    words: list[str], question: str, shown: list[str], named: list[str]
) -> None:
    assert missing_words.telling_words(words, question, shown) == named
