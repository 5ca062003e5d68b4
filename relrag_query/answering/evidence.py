"""What speaks for and against a passage's sentence as the answer to a question, as figures that a model weighs.

Most figures are shares from 0 to 1; `FEATURES` names them in the order of the rows.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from relrag_pipelines import languages
from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.text.analyzer import foreign_signs
from relrag_pipelines.workers import cancellation
from relrag_query.answering.answer_types import PRESENT, asked_for
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.corrections import corrections, sorts_asked
from relrag_query.answering.sentences import is_question
from relrag_query.answering.word_match import Said, adjacency, missing_weight, mistyped_share, said_by, unmatched_share
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import (
    Term,
    term_coverage,
    tokens,
)
from relrag_query.understanding.phrases import bare, load_phrases

_NEAR = 4
"""what is known of how near a candidate is"""
_NOT_COMPARED = -0.3
"""what a candidate that was not compared stands behind the best"""
_LONG = 300.0
"""characters of a long candidate"""
_AMOUNT = re.compile(
    r"(?<![\w.,:/-])\d{1,3}(?:[ .,\u00a0]\d{3})+(?:[.,]\d{2})?(?![\w/-])|(?<![\w.,:/-])\d{3,6}(?![\w.,:/-]\d)"
)
"""of at least three digits or with two behind the point"""


Figure = Callable[["_Question", "Candidate", "Said"], float]


@dataclass
class _Question:
    """What all candidates share."""

    context: QueryContext
    terms: list[Term]
    asked: dict[str, bool]
    people: list[Term]
    nearest: float
    """similarity of the passage that is nearest in meaning"""
    best: float
    """score of the best hit"""
    sorts: Collection[int]
    """of values that are asked for"""
    valued: list[Candidate]
    """candidates that name a number"""
    times: list[int]
    """of the passages, the oldest first"""
    values: dict[str, set[str]]
    """amount -> records that name it"""


def rows(found: Sequence[Candidate], context: QueryContext) -> Vectors:
    """The figures of each candidate, a row each, in the order of FEATURES; nothing is compared by meaning yet."""
    terms = [term for term in context.terms if term.weight]
    said = [said_by(one) for one in found]
    values: dict[str, set[str]] = {}
    for one in found:
        for value in _amounts(one.text):
            values.setdefault(value, set()).add(one.unit.asset_id)
    near = [one.unit.hit.similarity for one in found if one.unit.hit.similarity is not None]
    question = _Question(
        context,
        terms,
        asked_for(context.question),
        _people(terms, found),
        max(near, default=0.0),
        max((one.unit.hit.score for one in found), default=1.0) or 1.0,
        sorts_asked(context.question),
        [one for one in found if any(map(str.isdigit, one.unit.text))],
        sorted({one.unit.ts or 0 for one in found}),
        values,
    )
    table = [_figures(question, one, held) for one, held in zip(found, said, strict=True)]
    plain = np.asarray(table, np.float32).reshape(-1, len(_FIGURES))
    empty = np.zeros((0, _NEAR), np.float32)
    return compare(np.c_[plain, np.zeros((len(plain), len(_COMPARED)), np.float32)], [], empty)


def _figures(question: _Question, one: Candidate, held: Said) -> list[float]:
    cancellation.check()
    return [figure(question, one, held) for figure in _FIGURES.values()]


def compare(rows: Vectors, places: Sequence[int], near: Vectors) -> Vectors:
    """The rows with the figures of candidates whose meaning was compared.

    `near` says of those at these places, a row each, what `QuestionVectors.similarities` does.
    """
    rows = rows.copy()
    column = {name: place for place, name in enumerate(FEATURES)}
    table, known = np.zeros((len(rows), _NEAR), np.float32), np.zeros(len(rows), bool)
    table[list(places)], known[list(places)] = near, True
    similar, by_token, by_token_mean, least = table.T
    best = max(similar[known], default=0.0)
    best_by_token = max(by_token[known], default=0.0)
    asked, same = rows[:, column["asked"]], rows[:, column["same_language"]]
    compared = {
        "sentence_known": known,
        "sentence_similarity": similar,
        "sentence_margin": np.where(known, similar - best, _NOT_COMPARED),
        "similar_asked": similar * asked,
        "similar_same": similar * same,
        "token_similarity": by_token,
        "token_margin": np.where(known, by_token - best_by_token, _NOT_COMPARED),
        "token_mean": by_token_mean,
        "token_least": least,
        "token_asked": by_token * asked,
        "token_same": by_token * same,
    }
    for name, values in compared.items():
        rows[:, column[name]] = values
    return rows


def _people(terms: Sequence[Term], found: Sequence[Candidate]) -> list[Term]:
    """The words of a question that name somebody who wrote, received or took part."""
    named = tokens("\n".join(part for one in found for part in _participants(one.unit.hit)))
    return [term for term in terms if not term.light and term.match(named) > 0.5]


def _participants(hit: Hit) -> list[str]:
    return [hit.chunk.from_ or "", *hit.chunk.to, *hit.chunk.participants]


def _similarity(question: _Question, one: Candidate, said: Said) -> float:
    return one.unit.hit.similarity or 0.0


def _has(name: str) -> Figure:
    """1 where what is asked for is there, -1 where it is not, 0 where something else is asked for."""

    def figure(question: _Question, one: Candidate, said: Said) -> float:
        if not question.asked[name]:
            return 0.0
        return 1.0 if PRESENT[name](one.text) else -1.0

    return figure


def _any_asked(question: _Question, one: Candidate, said: Said) -> float:
    asked = [name for name in PRESENT if question.asked[name]]
    if not asked:
        return 0.5
    return 1.0 if any(PRESENT[name](one.text) for name in asked) else 0.0


def _in_time(question: _Question, one: Candidate, said: Said) -> float:
    if question.context.time is None:
        return 0.0
    return 1.0 if one.unit.hit.in_time else -1.0


def _in_channel(question: _Question, one: Candidate, said: Said) -> float:
    if not question.context.channels:
        return 0.0
    return 1.0 if one.unit.hit.chunk.rag_source_type in question.context.channels else -1.0


def _of_people(question: _Question, one: Candidate, said: Said) -> float:
    """Whether somebody whom the question names wrote it, or is named in it."""
    if not question.people:
        return 0.0
    held = said.own | tokens(one.unit.sender or one.unit.hit.chunk.from_ or "")
    return 1.0 if any(term.match(held) > 0.5 for term in question.people) else -1.0


def _same_language(question: _Question, one: Candidate, said: Said) -> float:
    """1 where question and candidate are in one language, as far as script and function words tell."""
    return float(_language(question.context.question) == _language(one.text))


@functools.lru_cache(maxsize=4096)
def _language(text: str) -> str:
    for one in languages.languages():
        if one.script and any(languages.is_in_script(letter, one) for letter in text):
            return one.code
    return "other" if foreign_signs(text) > 0 else languages.DEFAULT


@functools.lru_cache(maxsize=1024)
def _promotes(text: str) -> bool:
    return load_phrases().text.promotes.search(bare(text)) is not None


def _recency(question: _Question, one: Candidate, said: Said) -> float:
    """1 for the newest of the candidates, 0 for the oldest; a document holds as long as nothing replaces it."""
    if record_type(one.unit.hit.chunk.rag_source_type).from_file:
        return 1.0
    return bisect_left(question.times, one.unit.ts or 0) / max(1, len(question.times) - 1)


def _replaced(question: _Question, one: Candidate, said: Said) -> float:
    """Whether something newer in the same matter gives another value."""
    return float(bool(corrections(one.unit, question.valued, question.terms, question.sorts)))


def _corroborated(question: _Question, one: Candidate, said: Said) -> float:
    """Whether another record names an amount of it."""
    named = (question.values.get(value, set()) - {one.unit.asset_id} for value in _amounts(one.text))
    return float(any(named))


def _amounts(text: str) -> set[str]:
    """The amounts that a text names, as digits."""
    return {re.sub(r"\W", "", value) for value in _AMOUNT.findall(text)}


def _where_same(figure: Figure) -> Figure:
    """A figure that counts only where question and candidate are in one language."""
    return lambda question, one, said: _same_language(question, one, said) * figure(question, one, said)


_FIGURES: dict[str, Figure] = {
    "same_language": _same_language,
    "same_missing": _where_same(lambda question, one, said: missing_weight(question.terms, said.near)),
    "same_missing_around": _where_same(lambda question, one, said: missing_weight(question.terms, said.around)),
    "same_said": _where_same(lambda question, one, said: term_coverage(question.terms, said.near)),
    "same_said_own": _where_same(lambda question, one, said: term_coverage(question.terms, said.own)),
    "same_unmatched": _where_same(lambda question, one, said: unmatched_share(question.terms, said.near)),
    "same_unmatched_around": _where_same(lambda question, one, said: unmatched_share(question.terms, said.around)),
    "all_said": _where_same(lambda question, one, said: float(term_coverage(question.terms, said.near) > 0.9)),
    "all_said_asked": _where_same(
        lambda question, one, said: term_coverage(question.terms, said.near) ** 2 * _any_asked(question, one, said)
    ),
    "said": lambda question, one, said: term_coverage(question.terms, said.own),
    "said_known": lambda question, one, said: term_coverage(question.terms, said.known),
    "said_near": lambda question, one, said: term_coverage(question.terms, said.near),
    "said_around": lambda question, one, said: term_coverage(question.terms, said.around),
    "fuzzy": lambda question, one, said: mistyped_share(question.terms, said),
    "adjacency": lambda question, one, said: adjacency(question.terms, said.near),
    "missing": lambda question, one, said: missing_weight(question.terms, said.known),
    "missing_near": lambda question, one, said: missing_weight(question.terms, said.near),
    "missing_around": lambda question, one, said: missing_weight(question.terms, said.around),
    "words": lambda question, one, said: math.log1p(sum(not term.light for term in question.terms)),
    "meaning_known": lambda question, one, said: float(one.unit.hit.similarity is not None),
    "passage_similarity": _similarity,
    "passage_margin": lambda question, one, said: _similarity(question, one, said) - question.nearest,
    "rank": lambda question, one, said: 1 / (1 + one.rank),
    "score": lambda question, one, said: one.unit.hit.score / question.best,
    "role": lambda question, one, said: float(one.unit.hit.role is not None or one.unit.hit.hit_of is not None),
    "asked": _any_asked,
    **{f"has_{name}": _has(name) for name in PRESENT},
    "in_time": _in_time,
    "in_channel": _in_channel,
    "of_people": _of_people,
    "bulk": lambda question, one, said: float(one.unit.hit.weight < 1),
    "promotes": lambda question, one, said: float(_promotes(one.unit.hit.chunk.text)),
    "asks": lambda question, one, said: float(
        is_question(one.unit.text, chat=bool(one.unit.hit.messages)) and not one.exchange
    ),
    "reply": lambda question, one, said: float(one.unit.reply is not None),
    "exchange": lambda question, one, said: float(len(one.exchange)),
    "first": lambda question, one, said: term_coverage(question.terms, tokens(one.unit.text)),
    "chat": lambda question, one, said: float(bool(one.unit.hit.messages)),
    "mail": lambda question, one, said: float(record_type(one.unit.hit.chunk.rag_source_type).mail),
    "length": lambda question, one, said: min(1.0, len(one.text) / _LONG),
    "short": lambda question, one, said: float(len(one.text) < 25),
    "recency": _recency,
    "recency_latest": lambda question, one, said: question.context.latest * _recency(question, one, said),
    "replaced": _replaced,
    "corroborated": _corroborated,
    "apart": lambda question, one, said: float(one.unit.hit.chunk.section is not None),
}
"""name -> figure"""

_COMPARED = (
    *("sentence_known", "sentence_similarity", "sentence_margin", "similar_asked", "similar_same"),
    *("token_similarity", "token_margin", "token_mean", "token_least", "token_asked", "token_same"),
)
"""figures of candidates that are compared by meaning"""
FEATURES = (*_FIGURES, *_COMPARED)
"""names of the figures, in the order of a row"""
