"""What is said later of a value that is quoted: the new code of the gate, the corrected total, the hour agreed on.

A sentence no longer holds where a newer one of the same conversation, or of the same file, gives another value of the
same sort and says that it replaces it or was agreed on. What else the older record says still holds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from relrag_pipelines.text.stopwords import function_words
from relrag_query.answering import record_claims
from relrag_query.answering.answer_types import asked_first
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.extractive import Sentence
from relrag_query.answering.sentences import OF_OTHERS, QuotableSpan, split
from relrag_query.retrieval.term_coverage import Term, term_coverage, tokens
from relrag_query.understanding.phrases import bare, either, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

SORTS = (0, 1, 2, 3)
"""of values: shares, hours, days, then every other number and code; what is of one sort is of no later one"""
_HOUR, _DAY = 1, 2
_TIMES = frozenset({_HOUR, _DAY})
_WORD = re.compile(r"[^\W\d_]{3}|~(?:[א-ת]{3}|[^\W\d_]{4})")
"""a word that is long enough to say what a sentence is about, or its beginning"""
_CURRENCIES = (
    *("eur", "euro", "euros", "usd", "dollars", "gbp", "pounds", "czk", "crowns", "korun", "koruny", "ils", "nis"),
    *("shekels", "שקל", "שקלים"),
)
_NEGOTIATION = 30 * 86_400
"""seconds within which what is agreed on belongs to a value; half a year later it is another matter"""
_FUNCTION_WORDS = function_words()


def sorts_asked(question: str) -> frozenset[int]:
    """The sorts of values that a question asks for; all where it does not say."""
    asked = asked_first(question)
    if not asked or asked - {"when", "price", "count"} or len({one == "when" for one in asked}) > 1:
        return frozenset(SORTS)
    return _TIMES if "when" in asked else frozenset(SORTS) - _TIMES


def with_corrections(
    sentences: Sequence[Sentence], found: Sequence[Candidate], terms: Sequence[Term], sorts: Collection[int] = SORTS
) -> list[Sentence]:
    """The sentences, each that no longer holds marked, and before it the one that holds now."""
    answer: list[Sentence] = []
    for one in sentences:
        later = corrections(one.unit, found, terms, sorts)
        if later:
            newest = next(
                (other for other in sentences if _same(other.unit, later[-1])), Sentence(later[-1], one.credit)
            )
            if not any(_same(newest.unit, other.unit) for other in answer):
                answer.append(newest)
            one = replace(one, superseded=later[0])
        if not any(_same(one.unit, other.unit) for other in answer):
            answer.append(one)
    return answer


def corrections(
    unit: QuotableSpan, found: Sequence[Candidate], terms: Sequence[Term], sorts: Collection[int] = SORTS
) -> list[QuotableSpan]:
    """What later gives another value, of one of these sorts, for what is quoted, the oldest first; the last holds now.

    Where the quote holds words of the question, its `terms`, so does what is said around the other value.
    """
    if not any(_values(unit.quote)):
        return []
    worded = term_coverage(terms, tokens(unit.text)) > 0
    later = [one for one in found if _later(one.unit, unit) and (not worded or _speaks_of(one, terms))]
    chain: list[QuotableSpan] = []
    for one in sorted(later, key=lambda one: one.unit.ts or 0):
        if _corrects(one, chain[-1] if chain else unit, sorts):
            chain.append(one.unit)
    return chain


def _speaks_of(one: Candidate, terms: Sequence[Term]) -> bool:
    return term_coverage(terms, tokens(_told(one))) > 0


def _later(new: QuotableSpan, old: QuotableSpan) -> bool:
    """Whether it was said later in the same matter, by who wrote the record: what a mail quotes is older than that."""
    return (
        new.hit.chunk.section not in OF_OTHERS
        and record_claims.is_newer(new.hit, old.hit, new.ts, old.ts)
        and record_claims.same_matter(new.hit, old.hit)
    )


def _told(one: Candidate) -> str:
    return f"{one.near}\n{one.unit.text}"


def _corrects(new: Candidate, old: QuotableSpan, sorts: Collection[int]) -> bool:
    """Whether a sentence says anew what the older one says, or agrees on another value of what that speaks of."""
    phrases, about, known = load_phrases().text, _content_words(old.quote), _values(old.quote)
    record = "" if new.unit.hit.messages else record_claims.claim(new.unit.hit, old.hit)
    near = (new.unit.ts or 0) - (old.ts or 0) <= _NEGOTIATION
    if _repeats(new.unit, known):
        return False
    for said in split(new.unit.text):
        pairs = list(zip(_values(said), known, strict=True))
        others = {sort for sort, (later, earlier) in enumerate(pairs) if sort in sorts and earlier and later - earlier}
        if not others:
            continue
        plain, shared = bare(said), about & _content_words(said)
        # what names both values is of the same, however much later
        both = any(pairs[sort][0] & pairs[sort][1] for sort in others)
        own = record_claims.claim_of_sentence(said)
        claims = {record, own}
        same = (near and about & _content_words(_told(new))) or (both and shared)
        # `the right amount is` names nothing: it is of what is spoken of around it
        named = phrases.right_value.sub(" ", phrases.supersedes.sub(" ", plain))
        bare_claim = same and own and not _content_words(named)
        if (shared or both or bare_claim) and ("values" in claims or ("times" in claims and others & _TIMES)):
            return True
        # `changed` is said of much: only of the same where most of the words are the same
        if 2 * len(shared) > len(about) and phrases.anew.search(plain):
            return True
        if same and phrases.agrees.search(plain):
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


@functools.lru_cache(4096)
def _values(text: str) -> list[set[str]]:
    """The values that a text names, by sort; a day of the week is a day."""
    left, found = bare(text).lower(), []
    for place, sort in enumerate(_sorts(load_phrases())):
        sign = r"\D" if place == _DAY else r"\W"  # 14th of, 14.
        found.append({re.sub(sign, "", value) for value in sort.findall(left)})
        left = sort.sub(" ", left)
    names = load_phrases().names.weekdays
    found[_DAY] |= {str(names[name.lower()]) for name in _weekday(load_phrases()).findall(left)}
    return found


@functools.cache
def _sorts(phrases: Phrases) -> tuple[re.Pattern[str], ...]:
    """The patterns of SORTS, in bare text."""
    month = rf"(?:{phrases.date.prefix})?(?:{either(phrases.names.months)})(?!\w)"
    return (
        re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d+)?(?=[ \u00a0]?%)"),
        re.compile(r"(?<![\d.:])\d{1,2}[:.]\d{2}(?!\d|[.:]\d)"),
        re.compile(
            r"(?<!\d)\d{1,2}[./] ?\d{1,2}\.?(?:[./ ]?\d{2,4})?(?!\d)"
            rf"|(?<!\d)\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?={month})|(?<!\w){month} \d{{1,2}}(?!\d)",
            re.IGNORECASE,
        ),
        re.compile(r"(?<!\w)\d{1,3}(?:[ \u00a0]\d{3})+(?!\d)|(?<!\w)[^\W_]*\d[^\W_]*(?:[.,]\d+)*"),
    )


@functools.cache
def _weekday(phrases: Phrases) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{phrases.date.prefix})?({either(phrases.names.weekdays)})(?!\w)", re.IGNORECASE)


def _content_words(text: str) -> set[str]:
    """The words that say what a text is about, and what they begin with."""
    words = {token.lstrip("~") for token in tokens(text) if _WORD.match(token)}
    return words - _FUNCTION_WORDS - _units(load_phrases())


@functools.cache
def _units(phrases: Phrases) -> frozenset[str]:
    """Words that stand beside values of anything: currencies, months, days of the week."""
    words = (*_CURRENCIES, *phrases.names.months, *phrases.names.weekdays)
    return frozenset(token.lstrip("~") for word in words for token in tokens(word) if _WORD.match(token))


def _same(one: QuotableSpan, other: QuotableSpan) -> bool:
    """Whether two quotes of a record say mostly the same."""
    if one is other or one.asset_id != other.asset_id:
        return one is other
    first, second = tokens(one.quote), tokens(other.quote)
    return 2 * len(first & second) >= min(len(first), len(second))
