"""What a later record says of the same matter: the new rent, the hour agreed on, the address after a move.

No words such as `changed` are looked for: people mostly just write the new value. A later candidate supersedes an
earlier one where both are of one matter and give different values of one type, of those asked for if any are. They are
of one matter if they mean nearly the same; by words alone if they are of one conversation, file or sender.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

from relrag_pipelines.languages import languages
from relrag_pipelines.text.values import ValueType, values_in
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.features import VALUE_TYPES, SentenceScorer
from relrag_query.answering.ranker import RankedCandidate
from relrag_query.answering.sentences import OF_OTHERS, QuotableSpan, is_question, split
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.question import Question

_MAX_SCORE_GAP = 3.0
"""by which the later candidate's score is below that of the earlier one at most"""
_MIN_LIKENESS = 0.45
"""cosine of two candidates that are of one matter"""
_MIN_COVERAGE = 0.3
"""share of the question that both hold, if one is said to be no longer right"""
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
        and gives_other_value(new, old, types)
        and _means_same(later, earlier, types)
    )


def _means_same(later: RankedCandidate, earlier: RankedCandidate, types: frozenset[ValueType]) -> bool:
    """Whether two candidates are of one matter: by what they mean, or where that is not known by their records."""
    if _names_other(later.candidate, earlier.candidate, types):
        return False
    if later.vector is not None and earlier.vector is not None:
        return float(later.vector @ earlier.vector) >= _MIN_LIKENESS
    return same_matter(later.candidate.unit.hit, earlier.candidate.unit.hit)


def _names_other(new: Candidate, old: Candidate, types: frozenset[ValueType]) -> bool:
    """Whether two candidates name quarters or products by codes, none that is in both, and no number is asked for."""
    own, others = ({value.normal for value in values_in(each.text) if _is_code(value.normal)} for each in (new, old))
    return "number" not in types and bool(types and own and others) and own.isdisjoint(others)


def _is_code(normal: str) -> bool:
    return len(normal) < 5 and normal.isalnum() and not (normal.isdigit() or normal.isalpha())


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
    """Whether the new candidate gives another value, beside the old one or not, of a type that both give."""
    return any(not new_values <= old_values for new_values, old_values in _values_of_shared_types(new, old, types))


def replaces(later: RankedCandidate, earlier: RankedCandidate, types: frozenset[ValueType]) -> bool:
    """Whether the earlier one of two candidates of one matter is no longer right: both answer, and they contradict."""
    is_about = all(option.coverage >= _MIN_COVERAGE for option in (later, earlier))
    return is_about and contradicts(later.candidate, earlier.candidate, types)


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
