"""What a later record says of the same matter: the new rent, the hour agreed on, the address after a move.

No words such as `changed` are looked for: people mostly just write the new value. A later candidate supersedes an
earlier one where both are of one matter and give different values of one type, of those asked for if any are. They are
of one matter if they are of one conversation, file or sender, or if the later one holds as much of the question.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

from relrag_pipelines.languages import languages
from relrag_pipelines.text.values import ValueType, values_in
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.features import VALUE_TYPES, SentenceScorer, column
from relrag_query.answering.ranker import RankedCandidate
from relrag_query.answering.sentences import OF_OTHERS, QuotableSpan, is_question, split
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.question import Question

_MAX_SCORE_GAP = 3.0
"""by which the later candidate's score is below that of the earlier one at most. Of 49 questions about what holds now,
over archives that people invented without the code, the old value came first for 21 without this and for 9 with it; it
put the right candidate first for 50 of all 144 questions, not for 42"""
_COVERAGE_LOSS = 0.05
"""share of the question by which the later candidate may hold less than the earlier one, if nothing else joins them"""
_MIN_COVERAGE = 0.2
"""share of the question that it holds at least; with less, 55 of 142 first excerpts are right, not 56"""
_WITHOUT_VALUE = frozenset({"where", "who", "why"})
"""what a question asks for that no value answers"""
_VERSION = re.compile(r"(?<![^\W_])v(?:er(?:sion|ze)?)?[ ._-]?\d{1,2}(?![^\W_])|\(\d{1,2}\)|\d+", re.IGNORECASE)
_MARKS = sorted({mark for language in languages() for mark in language.reply_marks})
_REPLY = re.compile(rf"^(?:\s*(?:{'|'.join(_MARKS)})\s*:)+", re.IGNORECASE)


def has_current_value(question: Question) -> bool:
    """Whether a later record may answer otherwise: not of a time, and no value says where, who or why."""
    asks_value = bool(question.values & VALUE_TYPES.keys())
    return question.time is None and (asks_value or not question.values & _WITHOUT_VALUE)


def superseding(
    earlier: RankedCandidate, ranked: Sequence[RankedCandidate], types: frozenset[ValueType]
) -> RankedCandidate | None:
    """The newest candidate that gives another value of the same matter than an earlier one; None where none does.

    `types` are the types of values that the question asks for: a candidate without one supersedes nothing.
    """
    later = [other for other in ranked if _supersedes(other, earlier, types)]
    return max(later, key=lambda other: other.candidate.unit.ts or 0, default=None)


def _asks_alike(text: str, question: SentenceScorer) -> bool:
    """Whether the sentence of a text that comes nearest to the question asks, too."""
    sentences = split(text)
    return bool(sentences) and is_question(max(sentences, key=question.score))


def replying(
    asking: RankedCandidate, candidates: Sequence[Candidate], question: SentenceScorer
) -> RankedCandidate | None:
    """What somebody replies in the same conversation to a candidate that asks the same as the question; else None.

    Of all `candidates`, since a reply often shares no word with the question: the mail that replies to this one, else
    the first record that may, and of it what answers best.
    """
    unit = asking.candidate.unit
    if asking.candidate.exchange or not _asks_alike(asking.candidate.text, question):
        return None
    replies = [other for other in candidates if _replies(other, unit)]
    if not replies:
        return None
    reply = unit.hit.reply.chunk.chunk_id if unit.hit.reply else None
    first = min(replies, key=lambda other: (other.unit.hit.chunk.chunk_id != reply, other.unit.ts or 0)).unit.hit
    best = max((other for other in replies if other.unit.hit is first), key=lambda other: question.score(other.text))
    return replace(asking, candidate=best)


def _replies(other: Candidate, question: QuotableSpan) -> bool:
    return (
        question.hit.chunk.thread_id is not None
        and other.unit.hit.chunk.thread_id == question.hit.chunk.thread_id
        and other.unit.sender != question.sender
        and is_later(other.unit, question)
        and not is_question(other.text)
    )


def _supersedes(later: RankedCandidate, earlier: RankedCandidate, types: frozenset[ValueType]) -> bool:
    new, old = later.candidate, earlier.candidate
    return (
        later.score >= earlier.score - _MAX_SCORE_GAP
        and is_later(new.unit, old.unit)
        and new.unit.hit.of_matter >= old.unit.hit.of_matter
        and not is_question(new.text, chat=bool(new.unit.hit.messages))
        and (same_matter(new.unit.hit, old.unit.hit) or _coverage(later) >= _least_coverage(earlier))
        and gives_other_value(new, old, types)
    )


def _least_coverage(earlier: RankedCandidate) -> float:
    """The share of the question that a later candidate holds at least, where nothing else joins it to the earlier one.

    Where neither holds any, as in another language, they need not be of one matter.
    """
    return max(_MIN_COVERAGE, _coverage(earlier) - _COVERAGE_LOSS)


def _coverage(option: RankedCandidate) -> float:
    """The share of the question that a candidate holds, with its sender and subject or with what stands around it."""
    return max(float(option.row[column(name)]) for name in ("described_coverage", "near_coverage"))


def is_later(new: QuotableSpan, old: QuotableSpan) -> bool:
    """Whether a span was written later, by the author of its record; the time of a copied file does not tell."""
    if new.hit.chunk.section in OF_OTHERS or new.hit.is_undated or old.hit.is_undated:
        return False
    return (new.ts or 0) > (old.ts or 0) > 0


def same_matter(new: Hit, old: Hit) -> bool:
    """Whether two records are of one conversation, of versions of one file, or from one sender."""
    return any(own and own == other for own, other in zip(_matters(new), _matters(old), strict=True))


def _matters(hit: Hit) -> tuple[str, ...]:
    """What a record shares with others of its matter: conversation, name of its file, subject and sender."""
    chunk = hit.chunk
    title = name_stem(_REPLY.sub("", chunk.subject or ""))
    return chunk.thread_id or "", name_stem(chunk.file_name or ""), title, chunk.from_ or ""


@functools.lru_cache(4096)
def name_stem(name: str) -> str:
    """A file's name or a subject without its version and dates; empty where less than two words are left."""
    words = re.findall(r"[^\W_]{2,}", _VERSION.sub(" ", name).replace("_", " ").lower())
    return " ".join(words) if len(words) > 1 else ""


def gives_other_value(new: Candidate, old: Candidate, types: frozenset[ValueType]) -> bool:
    """Whether the new candidate gives a value of a type, of those `types` if any are, that the old one gives otherwise.

    The new one may repeat the old value: `from 850 to 920 euros`.
    """
    return any(not new_values <= old_values for new_values, old_values in _values_of_shared_types(new, old, types))


def contradicts(new: Candidate, old: Candidate, types: frozenset[ValueType]) -> bool:
    """Whether both candidates give a value of a type that the question asks for, and no such value is in both."""
    pairs = _values_of_shared_types(new, old, types) if types else ()
    return any(new_values.isdisjoint(old_values) for new_values, old_values in pairs)


def _values_of_shared_types(
    new: Candidate, old: Candidate, types: frozenset[ValueType]
) -> list[tuple[set[str], set[str]]]:
    """For each type that both give a value of, the values of the new candidate and those of the old one."""
    new_values, old_values = (_values_by_type(candidate.text, types) for candidate in (new, old))
    return [(new_values[kind], old_values[kind]) for kind in new_values.keys() & old_values.keys()]


def _values_by_type(text: str, types: frozenset[ValueType]) -> dict[ValueType, set[str]]:
    values: dict[ValueType, set[str]] = {}
    for value in values_in(text):
        if not types or value.type in types:
            values.setdefault(value.type, set()).add(value.normal)
    return values
