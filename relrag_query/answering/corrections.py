"""What a conversation says later of a value that is quoted: the new code of the gate, the discount that was agreed on.

`superseded` tells of whole mails and documents what replaces them; of a chat no window is replaced, only what was said.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

from relrag_pipelines.text import stopwords
from relrag_query.answering import superseded
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.extractive import Sentence
from relrag_query.answering.sentence_split import OF_OTHERS, QuotableSpan, split
from relrag_query.retrieval.term_coverage import Term, term_coverage, tokens
from relrag_query.understanding.phrases import bare, either, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

_SORTS = (superseded.PERCENTAGE, superseded.HOUR, superseded.DAY, re.compile(r"(?<!\w)[^\W_]*\d[^\W_]*(?:[.,]\d+)*"))
"""values by sort: shares, hours, days, then every other number and code; what is of one sort is of no later one"""
_WORD = re.compile(r"[^\W\d_]{3}|~(?:[א-ת]{3}|[^\W\d_]{4})")
"""a word that is long enough to say what a sentence is about, or its beginning"""
_NEGOTIATION = 30 * 86_400
"""seconds within which what is agreed on belongs to a value; half a year later it is another matter"""
_FUNCTION_WORDS = stopwords.ENGLISH | stopwords.CZECH | stopwords.HEBREW


def with_corrections(
    sentences: Sequence[Sentence], found: Sequence[Candidate], terms: Sequence[Term]
) -> list[Sentence]:
    """The sentences, each that no longer holds marked, and before it the one that holds now."""
    answer: list[Sentence] = []
    for one in sentences:
        later = corrections(one.unit, found, terms)
        if later:
            newest = later[-1]
            answer.append(
                next((other for other in sentences if _same(other.unit, newest)), Sentence(newest, one.credit))
            )
            one = replace(one, superseded=later[0].ts)
        if not any(_same(one.unit, other.unit) for other in answer):
            answer.append(one)
    return answer


def corrections(unit: QuotableSpan, found: Sequence[Candidate], terms: Sequence[Term]) -> list[QuotableSpan]:
    """What later gives another value for what is quoted, the oldest first; the last of it holds now.

    Where the quote holds words of the question, its `terms`, so does what is said around the other value.
    """
    worded = term_coverage(terms, tokens(unit.text)) > 0
    later = [one for one in found if _later(one.unit, unit) and (not worded or _speaks_of(one, terms))]
    chain: list[QuotableSpan] = []
    for one in sorted(later, key=lambda one: one.unit.ts or 0):
        if _corrects(one, chain[-1] if chain else unit):
            chain.append(one.unit)
    return chain


def _speaks_of(one: Candidate, terms: Sequence[Term]) -> bool:
    return term_coverage(terms, tokens(_told(one))) > 0


def _later(new: QuotableSpan, old: QuotableSpan) -> bool:
    """Whether it was said later in the same matter, by who wrote the record: what a mail quotes is older than that.

    The time of a file does not tell.
    """
    own = new.hit.chunk.section not in OF_OTHERS and not (new.hit.dated_by_file or old.hit.dated_by_file)
    return own and (new.ts or 0) > (old.ts or 0) > 0 and superseded.same_matter(new.hit, old.hit)


def _told(one: Candidate) -> str:
    return f"{one.near}\n{one.unit.text}"


def _corrects(new: Candidate, old: QuotableSpan) -> bool:
    """Whether a sentence says anew what the older one says, or agrees on another value of what that speaks of."""
    phrases, about, known = load_phrases().text, _content_words(old.text), _values(old.text)
    record = not new.unit.hit.messages and superseded.says_so(new.unit.hit, old.hit)
    if _repeats(new.unit, known):
        return False
    for said in split(new.unit.text):
        if not any(earlier and later - earlier for later, earlier in zip(_values(said), known, strict=True)):
            continue
        plain, shared = bare(said), about & _content_words(said)
        if shared and (record or phrases.supersedes.search(plain)):
            return True
        # `changed` is said of much: only of the same where most of the words are the same
        if 2 * len(shared) > len(about) and phrases.anew.search(plain):
            return True
        near = (new.unit.ts or 0) - (old.ts or 0) <= _NEGOTIATION
        if near and phrases.agrees.search(plain) and about & _content_words(_told(new)):
            return True
    return False


def _repeats(new: QuotableSpan, known: Sequence[set[str]]) -> bool:
    """Whether a newer record holds all of these values too, and takes none back: then they still hold.

    A window of a chat holds older messages.
    """
    if new.hit.messages:
        return False
    text = _taken_back(load_phrases()).sub(" ", bare(new.hit.chunk.text))
    return all(earlier <= later for earlier, later in zip(known, _values(text), strict=True))


@functools.cache
def _taken_back(phrases: Phrases) -> re.Pattern[str]:
    """A value that is said to hold no more, with a word between at most: no longer 1480, not on Tuesday."""
    return re.compile(rf"{phrases.text.takes_back.pattern}\W{{1,3}}(?:[^\W\d]{{1,9}}\W)?\w+", re.IGNORECASE)


def _values(text: str) -> list[set[str]]:
    """The values that a text names, by sort; a day of the week is a day."""
    left, found = bare(text).lower(), []
    for sort in _SORTS:
        found.append({re.sub(r"\W", "", value) for value in sort.findall(left)})
        left = sort.sub(" ", left)
    names = load_phrases().names.weekdays
    found[_SORTS.index(superseded.DAY)] |= {str(names[name.lower()]) for name in _weekday(load_phrases()).findall(left)}
    return found


@functools.cache
def _weekday(phrases: Phrases) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{phrases.date.prefix})?({either(phrases.names.weekdays)})(?!\w)", re.IGNORECASE)


def _content_words(text: str) -> set[str]:
    """The words that say what a text is about, and what they begin with."""
    words = {token.lstrip("~") for token in tokens(text) if _WORD.match(token)}
    return words - _FUNCTION_WORDS


def _same(one: QuotableSpan, other: QuotableSpan) -> bool:
    return one is other or (one.asset_id == other.asset_id and (one.text in other.text or other.text in one.text))
