"""The table of how well the held-back archives are answered."""

from __future__ import annotations

from relrag_query.evaluation.answer_sets import LabelledQuestion, Outcome
from tuning.measure import row


def became(confidence: str, *, answerable: bool = True, shown: bool = False, decoy: bool = False) -> Outcome:
    asked = LabelledQuestion("When is the choir?", answerable, (), ())
    return Outcome(asked, confidence, shown, shown, shown, decoy)


def test_a_row_holds_the_shares_of_what_there_is() -> None:
    outcomes = [became("sure", shown=True), became("sure", decoy=True), became("unsure", shown=True), became("none")]
    #                             shown first sure  right none  near miss
    assert row("levi", outcomes).split() == ["levi", "4", "50.0", "50.0", "50.0", "50.0", "25.0", "50.0", "-"]


def test_a_row_of_questions_without_an_answer_has_nothing_else() -> None:
    outcomes = [became("sure", answerable=False), became("unsure", answerable=False)]
    assert row("levi", outcomes).split() == ["levi", "2", "-", "-", "-", "-", "-", "0.0", "50.0"]
