"""Who may be what to whom, where a chat names somebody beside or behind a word for a relative."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity import implied_kin
from relrag_pipelines.identity.mentions import MentionFinder

FINDER = MentionFinder({1: ["Nadav Sella"], 2: ["Ondra"]})


def said(text: str, found: object) -> list[tuple[object, str, str]]:
    return [
        (one.owner, one.relationship_type, implied_kin.base_name(text, one.other))
        for one in found  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize(
    ("text", "reply", "wanted"),
    [
        ("my dad turned 70 by the way", "happy birthday to Leonard!!", [("writer", "parent", "Leonard")]),
        ("and your brother?", "Nadav can't, he has duty", [("reader", "sibling", "Nadav")]),
        ("brácha přijede ve čtvrtek i s Lucií", "Ondra? super", [("writer", "sibling", "Ondra")]),
        ("אחותך סוף סוף מצאה דירה", "איזה יופי, נועה בטח מאושרת", [("reader", "sibling", "נועה")]),
        ("my brother is coming", "Rob? great", [("writer", "sibling", "Rob")]),
        ("my brother is coming", "Dana will cook", []),  # no man's name
        ("my dad is in hospital", "does Peter know?", []),
        ("my sister Jana is ill", "Eva too", []),
        ("see you at eight", "Leonard is late", []),
    ],
)
def test_a_reply_names_the_relative(text: str, reply: str, wanted: list[tuple[str, str, str]]) -> None:
    assert said(reply, implied_kin.in_reply(text, FINDER.find(text), reply, FINDER.find(reply))) == wanted


def test_an_answer_says_what_somebody_is() -> None:
    for question, text, wanted in (
        ("how's Fiona?", "My wife is fine", [("writer", "spouse", "Fiona")]),
        ("a Matýsek se těší?", "syn by radši psa", [("writer", "child", "Matýsek")]),
        ("how's Fiona?", "I'm fine, my wife too", []),
        ("Fiona called.", "My wife is fine", []),
    ):
        made = implied_kin.in_answer(question, FINDER.find(question), text, FINDER.find(text))
        assert said(question, made) == wanted


@pytest.mark.parametrize(
    ("text", "by_parent", "wanted"),
    [
        ("your mum rang, Barbara can't come", False, [("reader", "parent", "Barbara")]),
        ("Liz hasn't rung in a month. You talk to your sister", False, [("reader", "sibling", "Liz")]),
        (
            "v neděli přijede strejda Luboš",
            False,
            [("writer", "aunt_or_uncle", "Luboš"), ("reader", "aunt_or_uncle", "Luboš")],
        ),
        ("v neděli přijede strejda Luboš", True, [("reader", "aunt_or_uncle", "Luboš")]),
        ("manželka Zuzana pojede taky", False, [("writer", "spouse", "Zuzana")]),
        ("jsem maminka Eliška", False, []),
        ("trenér Robert jede taky", False, []),
        ("čau brácho, Eliška našla byt", False, []),  # he is called so who reads it
        ("Milenin syn Robert se bude ženit", False, []),  # not the writer's
        ("Milena's son Robert gets married", False, []),
        ("my brother Petr came", False, []),  # that is stated
    ],
)
def test_one_text_names_the_relative(text: str, by_parent: bool, wanted: list[tuple[str, str, str]]) -> None:
    assert said(text, implied_kin.in_text(text, FINDER.find(text), by_parent=by_parent)) == wanted


def test_a_child_of_both_has_two_parents() -> None:
    assert implied_kin.shared_child("and you pick up our daughter", []) == "our daughter"
    assert implied_kin.shared_child("our daughter Mia started school", []) is None
    assert implied_kin.shared_child("and you pick up my daughter", []) is None
