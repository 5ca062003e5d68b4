"""What is known of each name near a word for a relative: every figure of the score."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.kin_phrases import kin_phrases
from relrag_pipelines.identity.mentions import MentionFinder
from relrag_query.people.conversations import Said
from relrag_query.people.kin_words import kin_words
from relrag_query.people.passage_candidates import _near, _whose, names_in

_OWNER, _RUTH, _PAUL = 1, 2, 3
_FINDER = MentionFinder({_OWNER: ["Nora Brandt"], _RUTH: ["Ruth Alon"], _PAUL: ["Paul Hart"]})


def _said(text: str, writer: int = _OWNER, reader: int = _RUTH, ts: int = 0) -> Said:
    return Said(f"m{ts}", text, ts, writer, reader, frozenset({writer, reader}))


def _figures(question: str, *texts: str, writer: int = _OWNER) -> dict[str, dict[str, float]]:
    """Name -> its figures, near the first word for a relative in the first of these messages."""
    some = [_said(text, writer, _RUTH if writer == _OWNER else _OWNER, ts) for ts, text in enumerate(texts)]
    named = {text: [*names_in(text, _FINDER.find(text))] for text in texts}
    phrase = next(kin_phrases(texts[0], _FINDER.find(texts[0])))
    return {one.name: one.figures for one in _near(some, 0, phrase, named, kin_words(question)[0], _OWNER)}


@pytest.mark.parametrize(
    ("figure", "name", "texts", "value", "other_texts"),
    [
        ("same_text", "Oliver", ["my brother, and Oliver too"], 1, ["my brother", "Oliver too"]),
        ("same_sentence", "Oliver", ["my brother, and Oliver too"], 1, ["my brother. And Oliver too"]),
        ("messages_away", "Oliver", ["my brother", "yes", "Oliver too"], 2, ["my brother, Oliver"]),
        ("behind", "Oliver", ["my brother, and Oliver too"], 1, ["Oliver, my brother"]),
        ("begins", "Oliver", ["my brother. Oliver too"], 1, ["my brother. And Oliver too"]),
        ("beside", "Oliver", ["my brother Oliver too"], 1, ["my brother, and Oliver too"]),
        ("fits", "Daniel", ["my brother, and Daniel too"], 1, ["my sibling, and Daniel too"]),
        ("stranger", "Oliver", ["my brother, and Oliver too"], 1, []),
        ("stranger", "Paul Hart", ["my brother, and Paul Hart too"], 0, []),
        ("speaks", "Paul Hart", ["my brother, and Paul Hart too"], 0, []),
        ("unlisted", "Wren", ["my brother, and Wren, who sings"], 1, []),
        ("unlisted", "Daniel", ["my brother, and Daniel too"], 0, []),
        ("is_word", "הדס", ["אחות שלי בבית, הדס באה"], 1, []),
        ("is_word", "Daniel", ["my brother, and Daniel too"], 0, []),
    ],
)
def test_each_figure_of_a_name(figure: str, name: str, texts: list[str], value: float, other_texts: list[str]) -> None:
    assert _figures("who is my sibling?", *texts)[name][figure] == value
    if other_texts:
        assert _figures("who is my sibling?", *other_texts)[name][figure] != value


def test_who_writes_or_reads_speaks() -> None:
    assert _figures("who is my sister?", "my sister, Ruth Alon")["Ruth Alon"]["speaks"] == 1


def test_a_name_of_the_other_sex_or_far_away_is_none() -> None:
    assert [*_figures("who is my sister?", "my sister, and Daniel, and Hana")] == ["Hana"]
    assert [*_figures("who is my sister?", f"my sister, {'and so on ' * 25}, and Hana")] == []


@pytest.mark.parametrize(
    ("text", "writer", "whose"),
    [
        ("my sister is here", _OWNER, "of_whom"),
        ("my sister is here", _PAUL, ""),
        ("sestra je tady", _PAUL, "not_own"),
        ("sestra je tady", _OWNER, "open"),
        ("a sister is here", _PAUL, "open"),
        ("> my sister is here", _OWNER, ""),
        ("my brother is here", _OWNER, ""),
        ("my cousin is here", _OWNER, ""),
        ("Paul Hart's sister is here", _OWNER, ""),
    ],
)
def test_whose_relative_a_word_speaks_of(text: str, writer: int, whose: str) -> None:
    phrase = next(kin_phrases(text, _FINDER.find(text)))
    assert _whose(phrase, kin_words("who is my sister?")[0], _said(text, writer), _OWNER) == whose
