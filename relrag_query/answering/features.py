"""What speaks for and against a candidate as the answer to a question: the features that the ranker weighs.

`FEATURES` names them in the order of a row. Most are shares from 0 to 1. A feature that does not apply to a question,
or that the language of the question has no data for, is the same for all its candidates, so that it decides nothing.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_pipelines.text.values import ValueType, values_in
from relrag_pipelines.workers import cancellation
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.sentences import is_question
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.term_coverage import (
    Term,
    asks_for_reports,
    kind_tokens,
    metadata_tokens,
    term_coverage,
    tokens,
)
from relrag_query.understanding.phrases import bare, load_phrases

_LONG = 300.0
"""characters of a long candidate"""
_SHORT = 25
"""characters below which a candidate rarely says anything by itself"""
_NOT_COMPARED = -0.3
"""margin of a candidate that was not compared by meaning"""
_SIMILAR_LETTERS = 80
"""percent of two words' letters by which one may be the other, mistyped or in another form"""
_COMPARED_LETTERS = 5
"""letters from which words are compared so"""
_WEAK_MATCH = 0.4
"""a term that matches less surely than this is not in a text"""
VALUE_TYPES: Mapping[str, frozenset[ValueType]] = {
    "when": frozenset({"day", "time"}),
    "price": frozenset({"amount"}),
    "count": frozenset({"number", "amount", "share"}),
    "contact": frozenset({"contact"}),
    "identifier": frozenset({"number", "contact"}),
}
"""what a question asks for -> types of values that answer it"""
_VALUE_SCORE = 0.5
"""of a sentence that holds what is asked for, beside its share of the question's terms"""
_MIN_FIGURES = 3
"""digits from which a number without a currency may be an amount of money"""


@dataclass(frozen=True)
class CandidateTokens:
    """The tokens of a candidate, each set with those of the one before."""

    own: frozenset[str]
    described: frozenset[str]
    """with sender, subject, file and kind"""
    near: frozenset[str]
    """with the sentences or turns around it"""
    words: tuple[str, ...]
    """of the candidate and its surroundings, as they are written, without accents"""


@dataclass(frozen=True)
class RankedQuestion:
    """What all candidates of a question share."""

    context: QueryContext
    terms: Sequence[Term]
    asked: frozenset[str]
    """keys of VALUE_TYPES that the question asks for"""
    best_similarity: float
    best_score: float
    sent_by_named: frozenset[str]
    """asset_ids of what people in the question sent"""
    times: Sequence[int]
    """when the candidates were written, seconds, the oldest first"""


Feature = Callable[[RankedQuestion, Candidate, CandidateTokens], float]


def _ranked_question(candidates: Sequence[Candidate], context: QueryContext) -> RankedQuestion:
    """The question with what its candidates are compared to."""
    return RankedQuestion(
        context=context,
        terms=[term for term in context.question.terms if term.weight],
        asked=context.question.values & VALUE_TYPES.keys(),
        best_similarity=max((candidate.unit.hit.similarity or 0.0 for candidate in candidates), default=0.0),
        best_score=max((candidate.unit.hit.score for candidate in candidates), default=1.0) or 1.0,
        sent_by_named=_sent_by_named(candidates, context),
        times=sorted({candidate.unit.ts or 0 for candidate in candidates}),
    )


def feature_rows(candidates: Sequence[Candidate], context: QueryContext) -> Vectors:
    """A row of features for each candidate; those of meaning are still 0, see `with_meaning`."""
    question = _ranked_question(candidates, context)
    rows = np.zeros((len(candidates), len(FEATURES)), np.float32)
    for row, candidate in zip(rows, candidates, strict=True):
        cancellation.check()
        candidate_tokens = tokens_of(candidate)
        row[: len(_FEATURES)] = [feature(question, candidate, candidate_tokens) for feature in _FEATURES.values()]
    return rows


def _sent_by_named(candidates: Sequence[Candidate], context: QueryContext) -> frozenset[str]:
    if context.sent_by_named is None or not context.question.people.in_index:
        return frozenset()
    if not asks_for_reports(context.question.text):  # of the person, who need not have written it
        return frozenset()
    spans = (span for candidate in candidates for span in (candidate.unit, *candidate.exchange))
    return context.sent_by_named(sorted({span.asset_id for span in spans}))


def with_meaning(rows: Vectors, compared: Sequence[int], similarities: Vectors) -> Vectors:
    """The rows with the features of meaning. `similarities` holds those of the candidates at `compared`.

    Its columns are the ones of `QuestionVectors.similarities`.
    """
    rows = rows.copy()
    meaning = rows[:, len(_FEATURES) :]
    meaning[:] = 0.0
    margins = [MEANING.index("sentence_margin"), MEANING.index("token_margin")]
    meaning[:, margins] = _NOT_COMPARED
    if not len(compared):
        return rows
    sentence, token, _, token_least = similarities.T
    values = (sentence, sentence - sentence.max(), token, token - token.max(), token_least)
    meaning[list(compared)] = np.column_stack(values)
    return rows


@dataclass(frozen=True)
class SentenceScorer:
    """Tells by its words how well a sentence answers a question."""

    terms: Sequence[Term]
    asked: frozenset[str]

    @classmethod
    def of(cls, context: QueryContext) -> SentenceScorer:
        """The scorer for a question."""
        return cls(
            [term for term in context.question.terms if term.weight], context.question.values & VALUE_TYPES.keys()
        )

    @property
    def value_types(self) -> frozenset[ValueType]:
        """Types of the values that the question asks for; empty where it asks for none."""
        return frozenset[ValueType]().union(*(VALUE_TYPES[name] for name in self.asked))

    def given(self, text: str) -> frozenset[str]:
        """What the question asks for, of the keys of VALUE_TYPES, that a text gives."""
        return frozenset(name for name in self.asked if _PRESENT[name](text))

    def score(self, text: str) -> float:
        """The share of the question's terms that a text holds, more where it holds what is asked for."""
        return term_coverage(self.terms, tokens(text)) + _VALUE_SCORE * bool(self.given(text))


def tokens_of(candidate: Candidate) -> CandidateTokens:
    """The tokens of a candidate and of what surrounds it."""
    chunk = candidate.unit.hit.chunk
    own = tokens(candidate.text)
    if candidate.unit.hit.messages:
        metadata = tokens(f"{candidate.unit.sender or ''}\n{chunk.subject or ''}") | kind_tokens(chunk.rag_source_type)
    else:
        metadata = metadata_tokens(chunk)
    near = own | metadata | tokens(candidate.near)
    words = re.findall(r"\w+", bare(candidate.text).lower())
    return CandidateTokens(own, own | metadata, near, tuple(words))


def _coverage_by_likeness(question: RankedQuestion, candidate: Candidate, candidate_tokens: CandidateTokens) -> float:
    """Share of the terms' weight that only words of similar letters hold: slips, and forms of a word."""
    total = sum(term.weight for term in question.terms)
    compared = [term for term in question.terms if not term.light and len(term.word) >= _COMPARED_LETTERS]
    absent = [term for term in compared if term.match(candidate_tokens.near) <= _WEAK_MATCH]
    similar = [term for term in absent if _has_similar_word(bare(term.word).lower(), candidate_tokens.words)]
    return sum(term.weight for term in similar) / total if total else 0.0


def _has_similar_word(word: str, words: Sequence[str]) -> bool:
    return process.extractOne(word, words, scorer=fuzz.ratio, score_cutoff=_SIMILAR_LETTERS) is not None


def _holds(name: str) -> Feature:
    """1 where what is asked for is in the candidate, -1 where it is not, 0 where something else is asked for."""

    def feature(question: RankedQuestion, candidate: Candidate, candidate_tokens: CandidateTokens) -> float:
        if name not in question.asked:
            return 0.0
        return 1.0 if _PRESENT[name](candidate.text) else -1.0

    return feature


def _holds_any(question: RankedQuestion, candidate: Candidate, candidate_tokens: CandidateTokens) -> float:
    """1 where something of what is asked for is in the candidate."""
    return float(any(_PRESENT[name](candidate.text) for name in question.asked))


def _has_type(types: frozenset[ValueType]) -> Callable[[str], bool]:
    return lambda text: any(value.type in types for value in values_in(text))


def _holds_time(text: str) -> bool:
    """Whether a text names a day, an hour, a month or a time in words: tomorrow, at noon."""
    plain = bare(text)
    return (
        _has_type(VALUE_TYPES["when"])(text)
        or load_phrases().text.part_of_day.search(plain) is not None
        or _moment().search(plain) is not None
    )


@functools.cache
def _moment() -> re.Pattern[str]:
    """Words for a time that is relative or has no figure: tomorrow, midnight."""
    return re.compile(rf"(?<!\w)(?:{load_phrases().text.moment})(?!\w)", re.IGNORECASE)


def _holds_amount(text: str) -> bool:
    """Whether a text names an amount of money, with its currency or without."""
    values = values_in(text)
    return any(
        value.type == "amount" or (value.type == "number" and sum(map(str.isdigit, value.normal)) >= _MIN_FIGURES)
        for value in values
    )


_PRESENT: Mapping[str, Callable[[str], bool]] = {
    **{name: _has_type(types) for name, types in VALUE_TYPES.items()},
    "when": _holds_time,
    "price": _holds_amount,
}
"""what a question asks for -> whether a text holds it"""


def _in_channel(question: RankedQuestion, candidate: Candidate, candidate_tokens: CandidateTokens) -> float:
    channels = question.context.question.channels
    return float(candidate.unit.hit.chunk.rag_source_type in channels) if channels else 0.0


def _recency(question: RankedQuestion, candidate: Candidate, candidate_tokens: CandidateTokens) -> float:
    """1 for the newest of the candidates, 0 for the oldest; a file holds as long as nothing replaces it."""
    if record_type(candidate.unit.hit.chunk.rag_source_type).from_file:
        return 1.0
    return bisect_left(question.times, candidate.unit.ts or 0) / max(1, len(question.times) - 1)


def _from_named(question: RankedQuestion, candidate: Candidate, candidate_tokens: CandidateTokens) -> float:
    """1 where people in the question sent the candidate, or a turn of it."""
    return float(any(span.asset_id in question.sent_by_named for span in (candidate.unit, *candidate.exchange)))


def _covers(tokens_of_candidate: Callable[[CandidateTokens], frozenset[str]]) -> Feature:
    return lambda question, _, candidate_tokens: term_coverage(question.terms, tokens_of_candidate(candidate_tokens))


_FEATURES: dict[str, Feature] = {
    "own_coverage": _covers(lambda candidate_tokens: candidate_tokens.own),
    "described_coverage": _covers(lambda candidate_tokens: candidate_tokens.described),
    "near_coverage": _covers(lambda candidate_tokens: candidate_tokens.near),
    "coverage_by_likeness": _coverage_by_likeness,
    "search_score": lambda question, candidate, _: candidate.unit.hit.score / question.best_score,
    "passage_margin": lambda question, candidate, _: (candidate.unit.hit.similarity or 0.0) - question.best_similarity,
    "holds_asked": _holds_any,
    **{f"holds_{name}": _holds(name) for name in ("when", "price", "count")},
    "in_channel": _in_channel,
    "asks": lambda question, candidate, _: float(
        is_question(candidate.unit.text, chat=bool(candidate.unit.hit.messages)) and not candidate.exchange
    ),
    "turns": lambda question, candidate, _: float(len(candidate.exchange)),
    "length": lambda question, candidate, _: min(1.0, len(candidate.text) / _LONG),
    "short": lambda question, candidate, _: float(len(candidate.text) < _SHORT),
    "quoted_section": lambda question, candidate, _: float(candidate.unit.hit.chunk.section is not None),
    "recency": _recency,
    "from_named": _from_named,
    "rerank_score": lambda question, candidate, _: candidate.unit.hit.rerank_score or 0.0,
}
"""name -> feature, of every candidate"""
MEANING = ("sentence_similarity", "sentence_margin", "token_similarity", "token_margin", "token_least")
"""features of the candidates that are compared by meaning"""
FEATURES = (*_FEATURES, *MEANING)
"""names of the features, in the order of a row"""


@functools.lru_cache(maxsize=1024)
def column(name: str) -> int:
    """Position of a feature in a row."""
    return FEATURES.index(name)
