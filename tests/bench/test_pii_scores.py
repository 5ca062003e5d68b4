"""How well personal data is found, held to the gates that `make bench` prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import pii_scores, pii_sentences


@pytest.mark.parametrize("half", ["tune", "test"])
def test_the_sentences_are_as_many_as_promised(half: pii_sentences.Half) -> None:
    made = pii_sentences.sentences(half)
    assert len([one for one in made if one.entity]) >= 1000
    assert len([one for one in made if not one.entity]) >= 350
    assert all(one.text[one.start : one.end].strip() for one in made if one.entity)


def test_no_template_is_in_both_halves() -> None:
    for templates in pii_sentences.TEMPLATES.values():
        assert len(set(templates)) == len(templates)
        assert not set(templates[::2]) & set(templates[1::2])


@pytest.mark.requirement("S0-80")
def test_personal_data_in_three_languages_is_found_and_decoys_are_not() -> None:
    least_recall, least_precision = pii_scores.SENTENCE_GATE
    for name, score in pii_scores.on_sentences("test").items():
        assert score.recall >= least_recall, (name, score)
        assert score.precision >= least_precision, (name, score)


def test_what_others_annotated_is_found(shared_data: Path) -> None:
    for name, score in pii_scores.on_annotated().items():
        least_recall, least_precision = pii_scores.GATES[name]
        assert score.annotated
        assert score.recall >= least_recall, (name, score)
        assert score.precision >= least_precision, (name, score)
