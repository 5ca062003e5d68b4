"""How much a passage speaks of a question's words."""

from dataclasses import replace

import pytest

from relrag_query.retrieval.lexical_score import bm25_like_score
from relrag_query.retrieval.term_coverage import query_terms, tokens


def said(question: str, text: str, length: int = 10) -> float:
    held = {"": 1000, "~puj": 30, "~pujc": 30, "~pujci": 30, "~zeb": 20, "~zebr": 20, "~zebri": 20, "zebrik": 10}
    return round(bm25_like_score(query_terms(question, held), tokens(text), held, length), 2)


def test_a_word_says_the_same_in_whatever_form_it_stands() -> None:
    assert said("Komu jsme půjčili žebřík?", "žebřík") == said("Komu jsme půjčili žebřík?", "žebříky") > 0
    assert said("Komu jsme půjčili žebřík?", "žebříky jsou půjčené") > said(
        "Komu jsme půjčili žebřík?", "žebřík ze dřeva"
    )


def test_evidence_is_divided_by_length_and_leaves_codes_whole() -> None:
    question = "Komu jsme půjčili žebřík?"
    # 1.2 * (0.6 + 0.4 * words / 140) is added to 1
    assert said(question, "žebřík", 0) / said(question, "žebřík", 140) == pytest.approx(2.2 / 1.72, abs=0.01)
    assert said("faktura INV-1187", "inv1187") > 0
    assert said("žebřík", "nic takového") == 0


def test_a_translation_counts_less_than_the_word_and_is_as_rare_as_all_of_them() -> None:
    (word,) = query_terms("žebřík", {})
    held = {"": 1000, "zebrik": 10, "~zebri": 10, "ladder": 1, "step": 9}
    found = {"ladder": 0.7, "step": 0.7}
    scores = [
        bm25_like_score([replace(word, translations=found)], frozenset({token}), held, 140)
        for token in ("~zebri", "ladder", "step", "chair")
    ]
    assert scores[1:] == pytest.approx([0.7 * scores[0], 0.7 * scores[0], 0])
