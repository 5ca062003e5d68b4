"""How far an excerpt reaches around the sentence that answers."""

import numpy as np
import pytest

from relrag_query.answering.candidates import candidates
from relrag_query.answering.excerpts import excerpt_of
from relrag_query.answering.features import FEATURES, SentenceScorer
from relrag_query.answering.ranker import RankedCandidate
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record

FIRST = "Agile means four habits. Work is cut into small pieces. Everything else is clothing. A team that has only the"
SECOND = "clothing is not agile."
NO_QUESTION = SentenceScorer((), frozenset())


@pytest.mark.parametrize(
    ("texts", "sentence", "shown"),
    [
        ((FIRST, SECOND), 0, "Agile means four habits.\nWork is cut into small pieces.\nEverything else is clothing."),
        ((FIRST, SECOND), 3, FIRST.replace(". ", ".\n")),
        ((FIRST,), 0, FIRST.replace(". ", ".\n")),
    ],
    ids=["goes on in the next passage", "answers itself", "ends the record"],
)
def test_a_sentence_that_the_passage_cuts_off_is_shown_only_where_it_answers(
    texts: tuple[str, ...], sentence: int, shown: str
) -> None:
    chunk = passages(record("document:1", " ".join(texts)), texts)[0]
    every = candidates([Hit(chunk, 1.0, 1.0)])
    chosen = RankedCandidate(every[sentence], 1.0, 0.5, np.zeros(len(FEATURES), np.float32), None)
    assert excerpt_of(chosen, every, NO_QUESTION).text == shown
