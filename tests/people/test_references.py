"""Whom somebody means who asks for the page about a person."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from relrag_query.people import references
from relrag_query.people.indexed_person import IndexedPerson, PeopleError
from relrag_query.people.people import People
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.relatives import Reference
from relrag_query.understanding.people_question import Relation


class Known:
    """One person, Petr, whom only his whole name finds."""

    petr = IndexedPerson(7, "Petr Malý")

    def find_one(self, typed: str) -> IndexedPerson:
        if typed == "Petr Malý":
            return self.petr
        raise PeopleError(f'nobody is named "{typed}"')

    def by_id(self, ids: list[int]) -> dict[int, IndexedPerson]:
        return dict.fromkeys(ids, self.petr)


@pytest.mark.parametrize(("ambiguous", "found"), [(False, True), (True, False)])
def test_a_person_is_known_by_what_he_is_to_the_owner(
    monkeypatch: pytest.MonkeyPatch, ambiguous: bool, found: bool
) -> None:
    people = cast(People, Known())
    relation = Relation(1, 7, "sibling", cast("object", None))  # type: ignore[arg-type]
    brother = Reference(0, 10, [7], [relation], ambiguous=ambiguous)
    monkeypatch.setattr(references, "references", lambda *_, **__: iter([brother]))
    assert references.one_person("Petr Malý", people).person_id == 7
    if found:
        assert references.one_person("my brother", people).person_id == 7
    else:
        with pytest.raises(PeopleError, match="my brother"):
            references.one_person("my brother", people)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("מי אמר שהתנור מקולקל?", {"שהתנור", "מקולקל"}),
        ("kdo říkal Aničce?", {"Aničce"}),
        ("who mentioned Bello?", {"Bello"}),
    ],
)
def test_a_word_that_asks_is_nobodys_name_by_its_sound(question: str, names: set[str]) -> None:
    """`אמר` (he said) sounds like Amir, whose page was the answer to who said something."""
    asked: list[str] = []

    class Names:
        """Nobody, and what was looked for."""

        def finder(self, question: str) -> object:
            return SimpleNamespace(find=lambda _: [])

        def name_bearers(self, typed: str) -> dict[int, IndexedPerson]:
            asked.append(typed)
            return {}

        def relative_facts(self, typed: str) -> list[object]:
            return []

        owner = None

    list(references.references(QuestionWords(question, cast(People, Names()))))
    said = set(asked[0].split())
    assert said >= names
    assert not said & {"אמר", "říkal", "mentioned"}
