"""Decides by the words around a number whether it is a phone, another kind of number, or an amount.

The words themselves are data: number_words/.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable

import regex
from babel import numbers

from relrag_pipelines.pii import number_words
from relrag_pipelines.pii.number_words import labels

REACH = 48
"""characters before a number that are searched for words that announce it"""
MAX_ADDRESS_CHARS = 200

_PHONE_SIGNS = re.compile(
    r"(?:(?<!\w)[TMF]:[ \t\xa0]{0,2}|\bTEL;[^:\n]{1,40}:|[☎☏✆📞📱]\ufe0f?[ \t\xa0:]{0,2}"
    r"|(?:wa|t|signal|viber)\.(?:me|click)/|[?&]phone=)$",
    re.IGNORECASE,
)
_OTHER_SIGNS = re.compile(r"(?:[#№][:.=-]?[ \t\xa0]?|[$€£₪=][ \t\xa0]?)$")
_PHONE_WORDS = (
    r"tel(?:ef[oó]n\w*|ephone)?|phones?|mob(?:il\w*|ile)?|cell|fax|sms|call(?:ed|ing|s)?|linka|lince|numbers?"
    r"|(?:za)?vol(?:ej\w*|at|ám|al[aoi]?)|[הבלמשוכ]{0,2}(?:טל(?:פון)?|נייד|פלאפון)"
)
"""words that a clause with a reference number must not contain"""
_BARE_REFERENCE = r"(?:ref(?:erence)?|tracking)"
_REFERENCE_NUMBER = (
    r"(?:tracking number|(?:case|order|invoice|parcel|policy|claim|complaint|booking) (?:number|no\.?)"
    r"|č\. ?j\.|(?:číslo|č\.) (?:jednací|spis\w*|případ\w*|zásilk\w*|objedn\w*|faktur\w*|reklamac\w*|pojist\w*)"
    r"|(?:ה?מספר|מס['׳]?) (?:ה?(?:תיק|הזמנה|חשבונית|משלוח|חבילה|מעקב|תלונה|פנייה|אסמכתא|פוליסה))|ה?אסמכתא)"
)
_CAPITALS = "".join(char for char in map(chr, range(0x250)) if char.isupper())
_NO_NAMES = rf"(?:[ \t\xa0](?!(?:{_PHONE_WORDS})(?!\w))(?-i:[^\W\d_{_CAPITALS}]){{1,16}}){{0,6}}?"
"""words in small letters only: after a name, the number is that person's phone"""
_REFERENCE = (
    rf"(?<![^\W_])(?:{_BARE_REFERENCE}(?![^\W_]){_NO_NAMES}[ \t\xa0](?:is|was)|{_REFERENCE_NUMBER}(?![^\W_])"
    rf"(?:{_NO_NAMES}[ \t\xa0](?:is|was|are|je|byl[ao]?|zní|הוא|היא|היה)|[ \t\xa0]?[:–-]))[ \t\xa0]{{1,2}}$"
)
"""without the Czech `reference`, which are recommendations, with the phone of a person to call"""
_REFERENCE_CHARS = 96
"""characters before a number that are searched for a reference clause: `the reference for the burglary in May is`"""
_AMOUNT_FOLLOWS = re.compile(
    r",(?:-|–|\d\d(?!\d))|[ \t\xa0\u202f]?(?:[€$£₪%‰°]|(?:Kč|CZK|EUR|USD|GBP|ILS|NIS|PLN|HUF|zł|kor\w{2,4}|eur[ao]?\w?"
    r"|dolar\w*|dollars?|tis|mil|mio|mld|tisíc\w*|milion\w*|thousand|million|ש[\"״]ח|שקל\w*|[kc]?m[23²³]|km|[kmg]w|[kmgt]i?b"
    r"|b|bytes?|[mnuµ]s|kg|ks|kusů|pcs|lidí|obyvatel|people|rows?|records?|cycles|řádk\w*|k?hz)(?!\w))|/(?!20(?:1[1-9]|[23]\d))\d{4}(?!\d)",
    re.IGNORECASE,
)

_COUNTED = re.compile(r"[ \t\xa0\u202f]{0,2}([^\W\d_]{1,20}\.?(?![^\W\d_])|[^\w\s])")
"""the word or sign after a number"""
_AFTER_CHARS = 24
_CUT_WORD = re.compile(r"^[^\W_]+")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile("[0-9]{3,}")

_CACHES: list[Callable[[], None]] = []
_ADDRESS = re.compile(r"://[^\s<>\"']*$")


def lookbehind(pattern: str, reach: int = REACH, flags: re.RegexFlag = re.IGNORECASE) -> Callable[[str, int], bool]:
    """A test whether the text before an offset matches the pattern, which may look back by one character.

    No pattern may look at the digits of a number of three or more: the test sees zeros in their place.
    """
    compiled = re.compile(pattern, flags)
    return _cached(lambda words, begin: compiled.search(words, begin) is not None, reach)


def _cached(test: Callable[[str, int], bool], reach: int = REACH) -> Callable[[str, int], bool]:
    """Caches a test of the text before an offset; the test gets one more character, and the index after it.

    A table has the same words before each of its numbers, and other numbers between them: the test sees zeros for them.
    """
    cached_test = functools.lru_cache(maxsize=1 << 12)(test)
    _CACHES.append(cached_test.cache_clear)

    def stands_before(text: str, start: int) -> bool:
        first = max(0, start - reach - 1)
        return cached_test(_without_numbers(text[first:start]), min(1, max(0, start - reach)))

    return stands_before


def _without_numbers(text: str) -> str:
    """The text with zeros for the digits of all numbers but short ones, which labels may contain (`ISBN 13`)."""
    return _NUMBER.sub(_zeros, text)


def _zeros(number: re.Match[str]) -> str:
    return "0" * (number.end() - number.start())


def _announces_phone(front: str, begin: int) -> bool:
    return _PHONE_SIGNS.search(front) is not None or labels.phone_in_front(_whole_words(front, begin))


def _announces_other(front: str, begin: int) -> bool:
    return _OTHER_SIGNS.search(front) is not None or labels.other_in_front(_whole_words(front, begin))


def _whole_words(front: str, begin: int) -> str:
    """The text before a number, without a word that is cut off at its beginning."""
    return _CUT_WORD.sub("", front, count=1) if begin else front


_CARD_CHARS = 25
"""characters before a number that are searched for a word for a card"""


def forget() -> None:
    """Clears the caches of all tests."""
    for clear in _CACHES:
        clear()


has_phone_context = _cached(_announces_phone)
"""whether the words before an offset announce a phone number"""
has_other_context = _cached(_announces_other)
"""whether the words before an offset announce another kind of number, or an amount"""
has_reference_context = lookbehind(_REFERENCE, _REFERENCE_CHARS)
"""whether the clause before an offset announces the number of a case, an order, a parcel"""


says_card = _cached(lambda front, begin: labels.mentions_card(_whole_words(front, begin)), _CARD_CHARS)
"""whether a word for a payment card stands near before an offset"""
says_account = _cached(lambda front, begin: labels.mentions_account(_whole_words(front, begin)), _CARD_CHARS)
"""whether a word for an account or a payment stands near before an offset"""


def is_called_phone(text: str, end: int) -> bool:
    """Whether the words after a number mark it as a phone: `020 7946 0958 (office)`."""
    behind = text[end : end + _AFTER_CHARS]
    return _LETTER.search(behind) is not None and _marks_phone(_without_numbers(behind))


_marks_phone = functools.lru_cache(maxsize=1 << 12)(labels.phone_behind)
_CACHES.append(_marks_phone.cache_clear)


def in_address(text: str, start: int) -> bool:
    """Whether the text at `start` is part of a URL."""
    return _ADDRESS.search(text, max(0, start - MAX_ADDRESS_CHARS), start) is not None


def is_amount(text: str, end: int) -> bool:
    """Whether the text after a number makes it an amount, or an account with the code of its bank."""
    if _AMOUNT_FOLLOWS.match(text, end) is not None:
        return True
    counted = _COUNTED.match(text, end)
    return counted is not None and (is_currency(counted[1]) or _counts(counted[1].rstrip(".")))


@functools.lru_cache(maxsize=1 << 10)
def is_currency(word: str) -> bool:
    """Whether it is the sign or the ISO 4217 code of a currency of the countries that number_words/ names."""
    if len(word) == 1 and unicodedata.category(word) == "Sc":
        return True
    return word in _currency_codes()


@functools.cache
def _currency_codes() -> frozenset[str]:
    regions = {*_CURRENCY_REGIONS, *(region for words in number_words.load() for region in words.region)}
    return frozenset(code for region in regions for code in numbers.get_territory_currencies(region))


_CURRENCY_REGIONS = ("MX", "IN", "CH", "CA", "AU", "AR", "CO", "CL", "ZA")
"""countries that share the language of another, with its own currency"""
_counts = functools.lru_cache(maxsize=1 << 12)(labels.amount_behind)
_CACHES.append(_counts.cache_clear)


def is_postcode(text: str, start: int, digits: int) -> bool:
    """Whether a number with so many digits stands after a word for a postcode."""
    return digits <= _MAX_POSTCODE_DIGITS and _has_postcode_word(text, start)


_MAX_POSTCODE_DIGITS = 8
_has_postcode_word = _cached(lambda front, begin: labels.postcode_in_front(_whole_words(front, begin)))
has_phone_noun = _cached(lambda front, begin: labels.phone_noun_in_front(_whole_words(front, begin)))
"""whether a noun for a phone stands before an offset"""
has_local_number = _cached(lambda front, begin: labels.local_number_in_front(_whole_words(front, begin)))
"""whether a word for a number stands before an offset, and none for another kind"""


def lower_letters(text: str) -> str:
    """The text in lower case, independent of context, so that a part gets the same letters as the whole."""
    return text.lower().replace("ς", "σ")


_WORD = regex.compile(r"(?r)[^\W_]+(?:['’׳\"״#][^\W_]*)*")
"""matched backwards, since only the last few words are needed"""
_GLUED_LETTERS = re.compile("[הבלמשוכ]{1,3}(?=[א-ת]{2})")


def words_in_front(text: str, start: int, count: int) -> list[str]:
    """The last words before an offset, in lower case; Hebrew words also without their prefixed letters."""
    near = lower_letters(text[max(0, start - _CONTEXT_CHARS) : start])
    words = [match[0].rstrip("'’׳\"״") for match in itertools.islice(_WORD.finditer(near), count)][::-1]
    more = [word[end:] for word in words if (glued := _GLUED_LETTERS.match(word)) for end in range(1, glued.end() + 1)]
    return words + more


_CONTEXT_CHARS = 96
"""characters before a finding that are searched for its context words"""
