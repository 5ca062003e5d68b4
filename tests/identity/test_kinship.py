"""Who is what to whom in texts written before the patterns, and on two people's records."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.people_tables import text_relationships
from relrag_pipelines.text import kinship
from tests.identity.kinship_set import found


@pytest.mark.parametrize(("name", "recall"), [("tuned", 0.95), ("held", 0.9), ("later", 0.75)])
def test_what_is_found_is_said(name: str, recall: float) -> None:
    judged = found(name)
    assert judged.precision >= 0.95, judged.wrong
    assert judged.recall >= recall, judged.missed


def test_the_words_of_the_three_languages_are_of_the_same_types() -> None:
    english, czech, hebrew = (set(kinship.types_of(language).values()) for language in ("en", "cs", "he"))
    assert english == czech == hebrew
    assert kinship.czech_cases()["sestrou"] == "sibling"
    assert kinship.types_of("he", "mine")["אשתי"] == "spouse"


def test_where_the_words_are() -> None:
    text = "Hi. My wife, Dana, says so."
    finder = MentionFinder({1: ["Dana"]})
    (one,) = stated_relations(text, finder.find(text))
    assert (one.owner, one.relationship_type, text[one.start : one.end]) == (None, "spouse", "My wife, Dana")
    assert stated_relations("My wife, Dana", []) == []


def test_a_long_text_without_sentences_is_read_in_linear_time() -> None:
    finder = MentionFinder({1: ["Dana"]})
    text = "my wife Dana and " * 4_000
    mentions = finder.find(text)
    assert len(stated_relations(text, mentions)) == len(mentions) == 4_000


def test_relationships_as_rows() -> None:
    finder = MentionFinder({1: ["Dana Levi"], 2: ["Petr Malý"], 3: ["Petr Fiala"], 4: ["Will Reed"], 5: ["Jana"]})
    texts = {
        "a": "my brother Petr came",
        "b": "my brother Petr came, my brother Petr left",
        "c": "My son Will reads. Petrova žena Jana volala.",
        "d": "my wife Dana",
    }
    said = {name: (text, "client" if name == "c" else None) for name, text in texts.items()}
    made = text_relationships(
        finder, "mail/2025-01", said, {"a": 1, "b": 1, "c": 1, "d": 1}, {"b": [2], "c": [3], "d": []}
    )
    assert [(row.lake_month, row.client_id) for row in made] == [
        ("mail/2025-01", None), ("mail/2025-01", "client"), ("mail/2025-01", "client")
    ]  # fmt: skip
    assert [
        (row.from_person_id, row.to_person_id, row.relationship_type, row.source_ref, row.source_quote) for row in made
    ] == [
        (1, 2, "sibling", "b", "my brother Petr"),
        (1, 4, "child", "c", "My son Will"),
        (3, 5, "spouse", "c", "Petrova žena Jana"),
    ]
