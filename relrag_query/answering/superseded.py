"""What a later record says of the same matter: the new rent, the hour agreed on, the address after a move.

No words such as `changed` are looked for: people mostly just write the new value. A later candidate supersedes an
earlier one where both are of one matter, answer the question about equally well, and say something else.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

from relrag_pipelines.languages import languages
from relrag_pipelines.text.values import ValueType, values_in
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.features import SentenceScorer
from relrag_query.answering.ranker import RankedCandidate
from relrag_query.answering.sentences import OF_OTHERS, QuotableSpan, is_question, split
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import tokens

_MAX_SCORE_GAP = 2.0
"""by which the later candidate's score is below that of the earlier one at most. Of 49 questions about what holds now,
over archives that people invented without the code, the old value came first for 19 without this, for 15 with 1.5, for
13 with 2 and for 10 with 3.5; but with 3.5 1 % of all other questions lost the right candidate in the first position"""
_SAME_STATEMENT = 0.85
"""share of tokens, and all values, by which two candidates say the same"""
_VERSION = re.compile(r"(?<![^\W_])v(?:er(?:sion|ze)?)?[ ._-]?\d{1,2}(?![^\W_])|\(\d{1,2}\)|\d+", re.IGNORECASE)
_MARKS = sorted({mark for language in languages() for mark in language.reply_marks})
_REPLY = re.compile(rf"^(?:\s*(?:{'|'.join(_MARKS)})\s*:)+", re.IGNORECASE)


def superseding(
    earlier: RankedCandidate, ranked: Sequence[RankedCandidate], types: frozenset[ValueType]
) -> RankedCandidate | None:
    """The newest candidate that says something else of the same matter than an earlier one; None where none does.

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
        and same_matter(new.unit.hit, old.unit.hit)
        and not is_question(new.text, chat=bool(new.unit.hit.messages))
        and says_otherwise(new, old, types)
    )


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


def says_otherwise(new: Candidate, old: Candidate, types: frozenset[ValueType]) -> bool:
    """Whether a candidate gives another value of a type that the older one gives, or says it in other words."""
    old_values, new_values = (
        {(value.type, value.normal) for value in values_in(candidate.text)} for candidate in (old, new)
    )
    if types:
        old_values, new_values = (
            {value for value in values if value[0] in types} for values in (old_values, new_values)
        )
        return bool(new_values) and not new_values <= old_values
    if new_values - old_values:
        return True
    first, second = tokens(new.text), tokens(old.text)
    return len(first & second) < _SAME_STATEMENT * len(first | second)
