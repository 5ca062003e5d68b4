"""What speaks for and against a passage's sentence as the answer to a question, as figures that a model weighs.

Most figures are shares from 0 to 1; `FEATURES` names them in the order of the rows.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.text.analyzer import foreign_signs
from relrag_query.answering import superseded
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.sentence_split import is_question
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import (
    PRICE,
    Term,
    kind_tokens,
    metadata_tokens,
    term_coverage,
    tokens,
)
from relrag_query.understanding.phrases import bare, either, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

_ALIKE = 80
"""percent of two words' letters by which one may be the other, mistyped"""
_TYPED = 5
"""letters from which a word is compared so"""
_NOT_COMPARED = -0.3
"""what a candidate that was not compared stands behind the best"""
_LONG = 300.0
"""characters of a long candidate"""

_NUMBER = re.compile(r"\d")
_CONTACT = re.compile(
    r"<(?:PHONE_NUMBER|EMAIL_ADDRESS)|[\w.+-]+@[\w-]+\.|\b\d{3}[ -]?\d{3}[ -]?\d{3,4}\b|https?://|www\."
)
_NAME = re.compile(r"(?<![.!?\n:] )(?<!^)(?<!\n)\b[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'-]{2,}")
_PLACE = re.compile(r"\b\d{1,4}/\d|[\w.]{3,} \d{1,3}\b")
"""a house number"""


Figure = Callable[["_Question", "Candidate", "_Said"], float]


@dataclass
class _Question:
    """What all candidates share."""

    context: QueryContext
    terms: list[Term]
    heaviest: float
    asked: dict[str, bool]
    people: list[Term]
    nearest: float
    """similarity of the passage that is nearest in meaning"""
    best: float
    """score of the best hit"""
    agreements: list[tuple[Candidate, _Said]]
    """candidates that agree on an amount or an hour"""
    times: list[int]
    """of the passages, the oldest first"""
    values: dict[str, set[str]]
    """amount -> records that name it"""


@dataclass
class _Said:
    """What a candidate says, as tokens."""

    own: frozenset[str]
    known: frozenset[str]
    near: frozenset[str]
    around: frozenset[str]
    words: list[str]


def rows(found: Sequence[Candidate], context: QueryContext) -> Vectors:
    """The figures of each candidate, a row each, in the order of FEATURES; nothing is compared by meaning yet."""
    terms = [term for term in context.terms if term.weight]
    said = [_said(one) for one in found]
    values: dict[str, set[str]] = {}
    for one in found:
        for value in superseded.amounts(one.text):
            values.setdefault(value, set()).add(one.unit.asset_id)
    near = [one.unit.hit.similarity for one in found if one.unit.hit.similarity is not None]
    question = _Question(
        context,
        terms,
        max((term.weight for term in terms if not term.light), default=1.0),
        {
            name: pattern.search(bare(context.question)) is not None
            for name, pattern in vars(load_phrases().asked).items()
        },
        _people(terms, found),
        max(near, default=0.0),
        max((one.unit.hit.score for one in found), default=1.0) or 1.0,
        [pair for pair in zip(found, said, strict=True) if superseded.agrees(pair[0].text)],
        sorted({one.unit.ts or 0 for one in found}),
        values,
    )
    table = [
        [figure(question, one, held) for figure in _FIGURES.values()] for one, held in zip(found, said, strict=True)
    ]
    plain = np.asarray(table, np.float32).reshape(-1, len(_FIGURES))
    return compare(np.c_[plain, np.zeros((len(plain), len(_COMPARED)), np.float32)], [], [])


def compare(rows: Vectors, places: Sequence[int], similarities: Sequence[float] | Vectors) -> Vectors:
    """The rows with the figures of candidates whose meaning was compared: the cosines of those at these places."""
    rows = rows.copy()
    column = {name: place for place, name in enumerate(FEATURES)}
    similar, known = np.zeros(len(rows), np.float32), np.zeros(len(rows), bool)
    similar[list(places)], known[list(places)] = similarities, True
    best = max(similar[known], default=0.0)
    compared = {
        "sentence_known": known,
        "sentence_similarity": similar,
        "sentence_margin": np.where(known, similar - best, _NOT_COMPARED),
        "similar_asked": similar * rows[:, column["asked"]],
        "similar_same": similar * rows[:, column["same_language"]],
    }
    for name, values in compared.items():
        rows[:, column[name]] = values
    return rows


def _said(one: Candidate) -> _Said:
    chunk = one.unit.hit.chunk
    own = tokens(one.text)
    if one.unit.hit.messages:
        known = tokens(f"{one.unit.sender or ''}\n{chunk.subject or ''}") | kind_tokens(chunk.rag_source_type)
    else:
        known = metadata_tokens(chunk)
    near = own | known | tokens(one.near)
    return _Said(own, own | known, near, near | tokens(chunk.text), re.findall(r"\w+", one.text.lower()))


def _people(terms: Sequence[Term], found: Sequence[Candidate]) -> list[Term]:
    """The words of a question that name somebody who wrote, received or took part."""
    named = tokens("\n".join(part for one in found for part in _participants(one.unit.hit)))
    return [term for term in terms if not term.light and term.found(named) > 0.5]


def _participants(hit: Hit) -> list[str]:
    return [hit.chunk.from_ or "", *hit.chunk.to, *hit.chunk.participants]


def _missing(question: _Question, held: frozenset[str]) -> float:
    """Weight of the heaviest word that is not held, as a share of the heaviest."""
    gone = (term.weight * (1 - term.found(held)) for term in question.terms if not term.light)
    return max(gone, default=0.0) / question.heaviest


def _adjacency(question: _Question, held: frozenset[str]) -> float:
    pairs = [
        (one, other)
        for one, other in zip(question.terms, question.terms[1:], strict=False)
        if other.joined and not one.light
    ]
    together = [one.found(held) > 0.4 and other.found(held) > 0.4 for one, other in pairs]
    return sum(together) / len(together) if together else 0.5


def _fuzzy(question: _Question, one: Candidate, said: _Said) -> float:
    """Share of the weight of words that are only there mistyped."""
    total = sum(term.weight for term in question.terms) or 1.0
    missing = [(bare(term.said).lower(), term) for term in question.terms if not term.light]
    missing = [(word, term) for word, term in missing if len(word) >= _TYPED and term.found(said.near) <= 0.4]
    words = [bare(other) for other in said.words] if missing else []
    return (
        sum(
            term.weight
            for word, term in missing
            if process.extractOne(word, words, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        )
        / total
    )


def _similarity(question: _Question, one: Candidate, said: _Said) -> float:
    return one.unit.hit.similarity or 0.0


def _has(name: str) -> Figure:
    """1 where what is asked for is there, -1 where it is not, 0 where something else is asked for."""

    def figure(question: _Question, one: Candidate, said: _Said) -> float:
        if not question.asked[name]:
            return 0.0
        return 1.0 if _PRESENT[name](one, said) else -1.0

    return figure


def _any_asked(question: _Question, one: Candidate, said: _Said) -> float:
    asked = [name for name in _PRESENT if question.asked[name]]
    if not asked:
        return 0.5
    return 1.0 if any(_PRESENT[name](one, said) for name in asked) else 0.0


@functools.cache
def _moment(phrases: Phrases) -> re.Pattern[str]:
    """A day, an hour, a month, a year."""
    days = either(name for name in (*phrases.names.months, *phrases.names.weekdays) if len(name) > 2)
    return re.compile(
        r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2}[./-] ?\d{1,2}\b|\b(?:19|20)\d\d\b|\b\d{1,2}\. ?\w|\b\d{1,2}(?:st|nd|rd|th)\b"
        r"|\b(?:at|by|v|ve|po|do|od|around|about|kolem)\b \d|(?<!\w)ב-?\d"
        rf"|(?<!\w)(?:{phrases.date.prefix})?(?:{days}|{phrases.text.moment})(?!\w)",
        re.IGNORECASE,
    )


_PRESENT: dict[str, Callable[[Candidate, _Said], bool]] = {
    "when": lambda one, said: _moment(load_phrases()).search(bare(one.text)) is not None,
    "price": lambda one, said: PRICE in said.own or re.search(r"\d{3}|\d[.,]\d{2}\b|\d ?k\b", one.text) is not None,
    "count": lambda one, said: _NUMBER.search(one.text) is not None,
    "who": lambda one, said: _NAME.search(one.text) is not None or re.search(r"[א-ת]", one.text) is not None,
    "where": lambda one, said: (
        (load_phrases().answered.place.search(bare(one.text)) or _PLACE.search(one.text) or _NAME.search(one.text))
        is not None
    ),
    "contact": lambda one, said: _CONTACT.search(one.text) is not None,
    "why": lambda one, said: load_phrases().answered.reason.search(bare(one.text)) is not None,
    "yes": lambda one, said: load_phrases().answered.verdict.search(bare(one.text)) is not None,
}


def _in_time(question: _Question, one: Candidate, said: _Said) -> float:
    if question.context.when is None:
        return 0.0
    return 1.0 if one.unit.hit.in_time else -1.0


def _in_channel(question: _Question, one: Candidate, said: _Said) -> float:
    if not question.context.said_in:
        return 0.0
    return 1.0 if one.unit.hit.chunk.rag_source_type in question.context.said_in else -1.0


def _of_people(question: _Question, one: Candidate, said: _Said) -> float:
    """Whether somebody whom the question names wrote it, or is named in it."""
    if not question.people:
        return 0.0
    held = said.own | tokens(one.unit.sender or one.unit.hit.chunk.from_ or "")
    return 1.0 if any(term.found(held) > 0.5 for term in question.people) else -1.0


def _same_language(question: _Question, one: Candidate, said: _Said) -> float:
    """1 where question and candidate are in one language, as far as script and function words tell."""
    return float(_language(question.context.question) == _language(one.text))


@functools.lru_cache(maxsize=4096)
def _language(text: str) -> str:
    if re.search(r"[א-ת]", text):
        return "he"
    return "other" if foreign_signs(text) > 0 else "en"


@functools.lru_cache(maxsize=1024)
def _promotes(text: str) -> bool:
    return load_phrases().text.promotes.search(bare(text)) is not None


def _unmatched(question: _Question, held: frozenset[str]) -> float:
    """How many words of the question are not held, up to 4, as a share of that."""
    return min(4, sum(term.found(held) < 0.4 for term in question.terms if not term.light)) / 4


def _recency(question: _Question, one: Candidate, said: _Said) -> float:
    """1 for what is newest among the candidates, 0 for what is oldest."""
    return bisect_left(question.times, one.unit.ts or 0) / max(1, len(question.times) - 1)


def _replaced(question: _Question, one: Candidate, said: _Said) -> float:
    """Whether something newer says that it replaces it, or agrees on another amount in the same conversation."""
    if one.unit.hit.superseded_by is not None:
        return 1.0
    thread, covered = one.unit.hit.chunk.thread_id, term_coverage(question.terms, said.near)
    return float(
        any(
            thread
            and other.unit.hit.chunk.thread_id == thread
            and (other.unit.ts or 0) > (one.unit.ts or 0)
            and 2 * term_coverage(question.terms, about.near) >= covered
            and superseded.agrees_on_another(other.text, one.text)
            for other, about in question.agreements
        )
    )


def _corroborated(question: _Question, one: Candidate, said: _Said) -> float:
    """Whether another record names an amount of it."""
    named = (question.values.get(value, set()) - {one.unit.asset_id} for value in superseded.amounts(one.text))
    return float(any(named))


def _where_same(figure: Figure) -> Figure:
    """A figure that counts only where question and candidate are in one language."""
    return lambda question, one, said: _same_language(question, one, said) * figure(question, one, said)


_FIGURES: dict[str, Figure] = {
    "same_language": _same_language,
    "same_missing": _where_same(lambda question, one, said: _missing(question, said.near)),
    "same_missing_around": _where_same(lambda question, one, said: _missing(question, said.around)),
    "same_said": _where_same(lambda question, one, said: term_coverage(question.terms, said.near)),
    "same_said_own": _where_same(lambda question, one, said: term_coverage(question.terms, said.own)),
    "same_unmatched": _where_same(lambda question, one, said: _unmatched(question, said.near)),
    "same_unmatched_around": _where_same(lambda question, one, said: _unmatched(question, said.around)),
    "all_said": _where_same(lambda question, one, said: float(term_coverage(question.terms, said.near) > 0.9)),
    "all_said_asked": _where_same(
        lambda question, one, said: term_coverage(question.terms, said.near) ** 2 * _any_asked(question, one, said)
    ),
    "said": lambda question, one, said: term_coverage(question.terms, said.own),
    "said_known": lambda question, one, said: term_coverage(question.terms, said.known),
    "said_near": lambda question, one, said: term_coverage(question.terms, said.near),
    "said_around": lambda question, one, said: term_coverage(question.terms, said.around),
    "fuzzy": _fuzzy,
    "adjacency": lambda question, one, said: _adjacency(question, said.near),
    "missing": lambda question, one, said: _missing(question, said.known),
    "missing_near": lambda question, one, said: _missing(question, said.near),
    "missing_around": lambda question, one, said: _missing(question, said.around),
    "words": lambda question, one, said: math.log1p(sum(not term.light for term in question.terms)),
    "meaning_known": lambda question, one, said: float(one.unit.hit.similarity is not None),
    "passage_similarity": _similarity,
    "passage_margin": lambda question, one, said: _similarity(question, one, said) - question.nearest,
    "rank": lambda question, one, said: 1 / (1 + one.rank),
    "score": lambda question, one, said: one.unit.hit.score / question.best,
    "role": lambda question, one, said: float(one.unit.hit.role is not None or one.unit.hit.hit_of is not None),
    "asked": _any_asked,
    **{f"has_{name}": _has(name) for name in _PRESENT},
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

_COMPARED = ("sentence_known", "sentence_similarity", "sentence_margin", "similar_asked", "similar_same")
"""figures of candidates that are compared by meaning"""
FEATURES = (*_FIGURES, *_COMPARED)
"""names of the figures, in the order of a row"""
