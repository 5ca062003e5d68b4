"""Which candidates are compared by meaning, and that a passage is ranked once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relrag_query.answering import ranker
from relrag_query.answering.candidates import Candidate, candidates
from relrag_query.answering.features import FEATURES
from relrag_query.answering.ranker import Regression
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record

TEXT = "The boiler is old. The cellar is dry. The roof leaks."


def three_sentences_each(count: int) -> list[Candidate]:
    chunks = [passages(record(f"jsonl:{number}", TEXT))[0] for number in range(count)]
    return candidates([Hit(chunk, 1.0, 1.0) for chunk in chunks])


def test_two_sentences_of_the_best_by_score_and_of_the_first_by_search_are_compared() -> None:
    options = three_sentences_each(20)
    scores = np.asarray([option.rank for option in options], np.float32)  # the last by search are the best by score
    chosen = ranker.compared_candidates(options, scores)
    assert [options[position].rank for position in chosen] == [
        rank for rank in (19, 18, 17, 16, 15, 14, 0, 1) for _ in range(ranker.SENTENCES)
    ]


def test_a_passage_is_ranked_by_its_best_candidate_alone() -> None:
    options = three_sentences_each(2)
    rows = np.zeros((len(options), len(FEATURES)), np.float32)
    rows[:, 0] = [0, 3, 1, 2, 0, 0]
    weights = np.zeros(len(FEATURES), np.float32)
    weights[0] = 1
    ranked = ranker.order(options, rows, Regression(weights, 0.0))
    assert [(option.candidate.rank, option.candidate.unit.text) for option in ranked] == [
        (0, "The cellar is dry."),
        (1, "The boiler is old."),
    ]
    assert sum(option.share for option in ranked) == np.float32(1)


def test_a_list_is_as_confident_as_its_passages_and_compares_several_candidates_of_each() -> None:
    options = three_sentences_each(20)
    scores = np.asarray([option.rank for option in options], np.float32)
    chosen = ranker.compared_candidates(options, scores, each=True)
    assert chosen[:16] == ranker.compared_candidates(options, scores)
    assert len(chosen) == len(set(chosen)) == ranker.LISTED
    assert [options[position].rank for position in chosen[16:]] == [19, 18, 17, 16, 15, 14, 13, 13]


def test_what_bonuses_lift_is_no_likelier_to_answer() -> None:
    weights = np.zeros(len(FEATURES), np.float32)
    weights[0] = 1
    second = Regression(weights, 0.0)
    options = three_sentences_each(2)[::3]
    rows = np.zeros((2, len(FEATURES)), np.float32)
    rows[:, 0] = [0.5, 0.0]
    plain = ranker.confidence_features(ranker.order(options, rows, second), second, 0)
    unit = options[1].unit
    options[1].unit = replace(unit, hit=replace(unit.hit, of_matter=True))
    lifted = ranker.order(options, rows, second)
    assert [option.candidate.rank for option in lifted] == [1, 0]
    doubted = ranker.confidence_features(lifted, second, 0)
    assert (plain[:3].tolist(), doubted[[0, 2]].tolist()) == ([0.5, pytest.approx(0.622, abs=0.001), 0.5], [0.0, -0.5])
