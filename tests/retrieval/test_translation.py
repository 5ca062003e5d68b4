"""A question in one language finds a text in another by what its words mean, also without a model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval.question_reader import Filters
from relrag_query.retrieval.term_coverage import terms_of
from relrag_query.retrieval.translation import translate, translation_tokens, translations
from tests.cases import cases
from tests.query_hits import passages, publish, record

_TEXTS = {
    "gmail:en": "The warranty on the roof is sixty months.",
    "gmail:cs": "Záruka na střechu je šedesát měsíců.",
    "gmail:he": "האחריות על הגג היא שישים חודשים.",
    "gmail:keys": "Pan Pustka má klíče od chalupy.",
    "gmail:heating": "הטכנאי החליף את המשאבה של הדוד.",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    records = [record(name, text, "2025-05-04T18:00:00Z") for name, text in _TEXTS.items()]
    records += [
        record(f"gmail:{number}", text, "2025-05-04T18:00:00Z")
        for number, text in enumerate(["When does the train to the lake leave?", "Vlak k jezeru jede v osm."] * 10)
    ]
    chunks = [one for each in records for one in passages(each)]
    with Archive.open(publish(tmp_path_factory.mktemp("translation"), records, chunks)) as opened:
        yield opened


@pytest.mark.parametrize(*cases(__file__, "texts_in_other_languages_are_found"))
def test_texts_in_other_languages_are_found(archive: Archive, question: str, found: list[str]) -> None:
    hits = [hit.chunk.asset_id for hit in archive.search(question).hits][: len(found)]
    assert sorted(hits) == sorted(found)


def test_the_words_of_the_question_count_more_than_their_translations(archive: Archive) -> None:
    with archive._reading() as connection:
        context = archive._context(connection, "How long is the warranty on the roof?", Filters(), 8)
    (warranty,) = [term for term in context.question.terms if term.word == "warranty"]
    shares = [warranty.match(frozenset(terms)) for terms in (["warranti"], ["~zaru"], ["~zaruk"], ["~zar"], ["kotel"])]
    assert shares == [1.0, pytest.approx(0.35), pytest.approx(0.63), 0.0, 0.0]
    assert {"~zaruk", "~strec", "גג"} <= context.translated.keys()
    assert "~zar" not in context.translated, "three letters begin too many words"
    assert "zaruka" not in context.translated, "all its forms have the beginning"


def test_a_translation_is_as_rare_as_all_words_for_it_are_together() -> None:
    """Of many words for one a rare one would otherwise outweigh the question's own words."""
    found = {"borrow": {"שאל": 1.0, "~pujci": 0.9, "pujcit": 1.0}}
    counted = translation_tokens(found, {"": 100, "שאל": 1, "~pujci": 40})
    assert counted.keys() == {"שאל", "~pujci"}
    assert counted["שאל"] == pytest.approx(1.25 * 0.889 / 4.212, abs=0.005)
    assert counted["~pujci"] == pytest.approx(1.25 * 0.889 / 0.912, abs=0.005)


def test_a_translation_that_nearly_every_passage_holds_still_speaks_for_a_passage() -> None:
    """Several of its tokens stand in one passage: together they are counted more often than there are passages."""
    found = {"dentist": {"~zubar": 0.9, "~zubni": 0.9, "~stoma": 0.9}}
    counted = translation_tokens(found, {"": 100, "~zubar": 60, "~zubni": 60, "~stoma": 5})
    assert min(counted.values()) > 0


def test_names_times_and_words_that_ask_are_not_translated() -> None:
    question = "Did Rose pay the rent in spring?"
    found = translations(terms_of(question), question)
    assert found.keys() == {"pay", "rent", "spring"}
    assert translations(terms_of("Rose petals"), "Rose petals").keys() >= {"Rose"}, "first of all it may be a flower"


def test_without_a_translation_nothing_changes() -> None:
    terms = terms_of("xyzzy plugh")
    assert translate(terms, translations(terms, "xyzzy plugh")) == terms
    assert translation_tokens({}, {"": 1}) == {}
