"""A name is found in another script, and a word for a relative or a role in another language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relrag_query.archive import Archive
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.wordings import wordings
from tests.query_hits import passages, publish, record

_TEXTS = {
    "gmail:nadav": "Nadav brings the drill on Friday, the ladder is in the shed.",
    "gmail:tomas": "תומאש יגיע עם הסולם ביום ראשון, והוא ישן אצלנו.",
    "gmail:dentist": "Dobrý den, termín u zubařky paní Vránové je v úterý v osm.",
    "gmail:other": "The train leaves at nine, who will be there with the bags?",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    records = [record(name, text, "2025-05-04T18:00:00Z") for name, text in _TEXTS.items()]
    with Archive.open(
        publish(tmp_path_factory.mktemp("wordings"), records, [one for each in records for one in passages(each)])
    ) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "word", "found"),
    [
        ("מתי נדב מגיע?", "נדב", "gmail:nadav"),
        ("what about Tomáš?", "Tomáš", "gmail:tomas"),
        ("kdy přijede Tomáš?", "Tomáš", "gmail:tomas"),
        ("my dentist", "dentist", "gmail:dentist"),
    ],
)
def test_other_words_for_the_same_are_found(archive: Archive, question: str, word: str, found: str) -> None:
    result = archive.search(question)
    assert result.hits[0].chunk.asset_id == found
    assert any("wordings" in line for line in result.trace)
    assert word not in archive.ask(question).missing


def test_who_is_named_is_looked_for_by_his_other_names() -> None:
    names = ("Jan Pospíchal", "Honza")
    aliases = [{"kind": "name", "alias": name, "keyed": name, "stated": False} for name in names]
    spell = wordings([IndexedPerson(1, "Jan Pospíchal", aliases=aliases)])
    assert "jan" in spell("Honza") and "honza" not in spell("Honza")
    assert "honza" not in wordings()("Jan")


@pytest.mark.parametrize("word", ["May", "will", "the", "boiler", "בן"])
def test_common_words_stay_as_they_are(word: str) -> None:
    assert wordings()(word) == frozenset()


def test_a_word_for_a_woman_is_none_for_a_man() -> None:
    found = wordings()("sister")
    assert {"sestra", "sestry", "אחות"} <= found and {"bratr", "brother", "אח"}.isdisjoint(found)
