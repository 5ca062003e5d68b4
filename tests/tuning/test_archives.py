"""The archives that are learned from, and those that are held back."""

from __future__ import annotations

import pytest

from relrag_query.evaluation.answer_sets import SAME, words
from tuning import archives

PLAIN = {".txt", ".md", ".csv"}
EVERY = [*archives.names(), *archives.names(held_back=True)]


def test_what_is_held_back_is_not_learned_from() -> None:
    learned_from = ["brandt", "dahlkoetter", "dvorak", "harbour", "levi", "tonelli", "warnier"]
    assert archives.names() == learned_from
    held_back = ["ballarin", "brukner", "elkayam", "galbraith", "havlikova", "mazal", "navratilova"]
    assert archives.names(held_back=True) == [*held_back, "sagintaev", "sawalqa", "vaculik"]


@pytest.mark.parametrize("name", EVERY)
def test_what_answers_stands_in_a_file_of_the_archive(name: str) -> None:
    for one in archives.questions(name):
        assert bool(one.evidence) == one.answerable, one.question
        for place in (*one.evidence, *one.decoys):
            files = [path for path in (archives.ROOT / name / place.source).rglob("*") if place.file in path.name]
            assert files, f"{one.question}: {place.file}"
            if all(path.suffix in PLAIN for path in files):
                said, wanted = words("\n".join(path.read_text(encoding="utf-8") for path in files)), words(place.text)
                assert len(said & wanted) >= SAME * len(wanted), f"{one.question}: {place.text}"
