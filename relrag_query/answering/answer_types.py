"""What sort of answer a question asks for, and whether a text holds one: a time, an amount, a name, a place.

`asked_for` finds every word that may ask, for a model to weigh; `holds_answer` goes by the word that does ask, for it
takes back an answer that the model is sure of.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from relrag_pipelines import languages
from relrag_pipelines.text.analyzer import PREFIXED_SCRIPT
from relrag_pipelines.text.names.tables import given_names, plain
from relrag_query.retrieval.term_coverage import PRICE, tokens, without_money
from relrag_query.understanding.phrases import bare, either, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

_NUMBER = re.compile(r"\d")
_FIGURES_OF_ONE = re.compile(r"\d\W?\d|[a-z]\d|\d[a-z]\b", re.IGNORECASE)
"""of a number that names something, such as a house"""
_CONTACT = re.compile(
    r"<(?:PHONE_NUMBER|EMAIL_ADDRESS)|[\w.+-]+@[\w-]+\.|\b\d{3}[ -]?\d{3}[ -]?\d{3,4}\b|https?://|www\."
)
_NAME = re.compile(r"(?<![.!?\n:] )(?<!^)(?<!\n)\b[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'-]{2,}")
_PLACE = re.compile(r"\b\d{1,4}/\d|[\w.]{3,} \d{1,3}\b")
"""a house number"""


_FIGURES = re.compile(r"\d{3}|\d[.,]\d{2}\b|\d ?k\b|\b(?:NIS|ILS|EUR|USD|GBP|CZK|Kč)\.? ?\d")
"""an amount by its length, or behind its currency"""
_QUOTED = re.compile(r"(?<!\w)[\"“„״][^\"“”„״\n]{3,60}[\"“”״](?!\w)")
"""how a firm is named in a script without capitals"""
_PREFIX = re.compile(f"^{languages.prefix_pattern(1)}(?=[{PREFIXED_SCRIPT}]{{2}})")
"""prefixed letters before a name, which has no article"""
_CALENDAR = re.compile(
    r"\d{1,2}:\d{2}|(?<!\d)\d{1,2}[./-] ?(?:0?[1-9]|1[0-2])[./-](?: ?\d{2,4})?(?!\d)"
    r"|\d{4}-\d\d-\d\d|(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d)"
)
"""hours, days and years: their figures are no amount"""
_TOLD = ("when", "price", "count", "who", "identifier")
"""sorts that a text either holds or does not, as far as can be told"""


def asked_for(question: str) -> dict[str, bool]:
    """Of each sort whether a question asks for it."""
    return {name: pattern.search(bare(question)) is not None for name, pattern in vars(load_phrases().asked).items()}


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


def _holds_amount(text: str) -> bool:
    figures = _FIGURES.search(_CALENDAR.sub(" ", text))
    return PRICE in tokens(text) or figures is not None or load_phrases().answered.amount.search(bare(text)) is not None


def _holds_number(text: str) -> bool:
    answered, said = load_phrases().answered, bare(text)
    return any(one.search(said) is not None for one in (_NUMBER, answered.number, answered.amount))


PRESENT: dict[str, Callable[[str], bool]] = {
    "when": lambda text: _moment(load_phrases()).search(bare(text)) is not None,
    "price": _holds_amount,
    "count": _holds_number,
    "who": lambda text: _NAME.search(text) is not None or re.search(load_phrases().intent.caseless, text) is not None,
    "where": lambda text: (
        (load_phrases().answered.place.search(bare(text)) or _PLACE.search(text) or _NAME.search(text)) is not None
    ),
    "contact": lambda text: _CONTACT.search(text) is not None,
    "why": lambda text: load_phrases().answered.reason.search(bare(text)) is not None,
    "yes": lambda text: load_phrases().answered.verdict.search(bare(text)) is not None,
}
"""sort of answer -> whether a text holds one"""


def holds_answer(question: str, text: str) -> bool:
    """Whether a text holds a day or hour, an amount, a number or a name where a question asks for that.

    Of several sorts one is enough. True where the question asks for something else, or uses no word that asks.
    """
    asked = asked_first(question)
    holds = PRESENT | {"who": _names_somebody, "when": _tells_time, "identifier": _identifies}
    return not asked or any(holds[name](text) for name in asked)


@functools.lru_cache(maxsize=1024)
def asked_first(question: str) -> frozenset[str]:
    """The sorts that the first word that asks is part of: a `when` behind a `what` asks for nothing."""
    phrases, said = load_phrases(), bare(question)
    if (word := phrases.text.interrogative.search(said)) is None:
        return frozenset()
    asked = {
        name
        for name in _TOLD
        for found in getattr(phrases.asked, name).finditer(said)
        if found.start() <= word.start() < found.end()
    }
    return frozenset(asked - {"count"} if "price" in asked else asked)


def _identifies(text: str) -> bool:
    """Whether two figures stand in it that are no hour, day, year or money, an address, or what replaces these."""
    if PRESENT["contact"](text):
        return True
    left = _day_of_month(load_phrases()).sub(" ", bare(without_money(_CALENDAR.sub(" ", text))))
    return _FIGURES_OF_ONE.search(left) is not None


@functools.cache
def _day_of_month(phrases: Phrases) -> re.Pattern[str]:
    """A day before or behind the name of its month."""
    months = rf"(?:{phrases.date.month_prefix})?(?:{either(name for name in phrases.names.months if len(name) > 2)})"
    return re.compile(
        rf"\d{{1,2}}(?:\.|st|nd|rd|th)?\s(?:of )?{months}(?!\w)|(?<!\w){months}\s\d{{1,2}}(?!\d)", re.IGNORECASE
    )


def _tells_time(text: str) -> bool:
    """Whether it tells when in any way: in two weeks, after lunch, last year."""
    phrases, said = load_phrases(), bare(text)
    times = (rf"(?<!\w)(?:{one.expression})(?!\w)" for one in phrases.times)
    lengths = rf"(?<!\w)(?:{either((*phrases.names.units, *phrases.names.pairs))})(?!\w)"
    known = PRESENT["when"](text) or phrases.answered.time.search(said) is not None
    return known or any(re.search(one, said, re.IGNORECASE) for one in (lengths, *times))


def _names_somebody(text: str) -> bool:
    """Whether a name stands in it; in a script without capitals, one of those that are known."""
    words = (plain(word) for word in re.findall(r"[^\W\d_]{2,}", text) if not word[0].islower())
    return any(one.search(text) for one in (_NAME, _QUOTED)) or any(
        not given_names().isdisjoint((word, _PREFIX.sub("", word))) for word in words
    )
