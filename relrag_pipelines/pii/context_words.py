"""What the words around a number say of it: that it is a phone, that it is another number, that it is an amount.

The words themselves are data: number_words/.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable

import regex

from relrag_pipelines.pii.number_words import labels

REACH = 48
"""characters in front of a number; what announces it stands nearer"""
LONGEST_ADDRESS = 200

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
"""what a clause must not hold that names a reference"""
_BARE_REFERENCE = r"(?:ref(?:erence)?|tracking)"
_REFERENCE_NUMBER = (
    r"(?:tracking number|(?:case|order|invoice|parcel|policy|claim|complaint|booking) (?:number|no\.?)"
    r"|č\. ?j\.|(?:číslo|č\.) (?:jednací|spis\w*|případ\w*|zásilk\w*|objedn\w*|faktur\w*|reklamac\w*|pojist\w*)"
    r"|(?:ה?מספר|מס['׳]?) (?:ה?(?:תיק|הזמנה|חשבונית|משלוח|חבילה|מעקב|תלונה|פנייה|אסמכתא|פוליסה))|ה?אסמכתא)"
)
_CAPITALS = "".join(char for char in map(chr, range(0x250)) if char.isupper())
_NO_NAMES = rf"(?:[ \t\xa0](?!(?:{_PHONE_WORDS})(?!\w))(?-i:[^\W\d_{_CAPITALS}]){{1,16}}){{0,6}}?"
"""words in small letters: behind a name stands that person's phone"""
_REFERENCE = (
    rf"(?<![^\W_])(?:{_BARE_REFERENCE}(?![^\W_]){_NO_NAMES}[ \t\xa0](?:is|was)|{_REFERENCE_NUMBER}(?![^\W_])"
    rf"(?:{_NO_NAMES}[ \t\xa0](?:is|was|are|je|byl[ao]?|zní|הוא|היא|היה)|[ \t\xa0]?[:–-]))[ \t\xa0]{{1,2}}$"
)
"""in Czech `reference` are what others say of somebody, with whom to call"""
_REFERENCE_REACH = 96
"""characters in front of a number in which what it refers to is named: `the reference for the burglary in May is`"""
_AMOUNT_FOLLOWS = re.compile(
    r",(?:-|–|\d\d(?!\d))|[ \t\xa0\u202f]?(?:[€$£₪%‰°]|(?:Kč|CZK|EUR|USD|GBP|ILS|NIS|PLN|HUF|zł|kor\w{2,4}|eur[ao]?\w?"
    r"|dolar\w*|dollars?|tis|mil|mio|mld|tisíc\w*|milion\w*|thousand|million|ש[\"״]ח|שקל\w*|[kc]?m[23²³]|km|[kmg]w|[kmgt]i?b"
    r"|b|bytes?|[mnuµ]s|kg|ks|kusů|pcs|lidí|obyvatel|people|rows?|records?|cycles|řádk\w*|k?hz)(?!\w))|/(?!20(?:1[1-9]|[23]\d))\d{4}(?!\d)",
    re.IGNORECASE,
)

_BEHIND_REACH = 24
_CUT = re.compile(r"^[^\W_]+")
_LETTER = re.compile(r"[^\W\d_]")

_REMEMBERING: list[Callable[[], None]] = []
_ADDRESS = re.compile(r"://[^\s<>\"']*$")


def lookbehind(pattern: str, reach: int = REACH, flags: re.RegexFlag = re.IGNORECASE) -> Callable[[str, int], bool]:
    """Whether the pattern, which may look back by one character, is found in what stands in front of a place.

    Tables repeat what stands there, so the latest answers are remembered.
    """
    compiled = re.compile(pattern, flags)
    return _remembered(lambda words, begin: compiled.search(words, begin) is not None, reach)


def _remembered(test: Callable[[str, int], bool], reach: int = REACH) -> Callable[[str, int], bool]:
    """The test of what stands in front of a place, given one character more than it reaches and where it begins."""
    says = functools.lru_cache(maxsize=1 << 12)(test)
    _REMEMBERING.append(says.cache_clear)

    def stands_before(text: str, start: int) -> bool:
        first = max(0, start - reach - 1)
        return says(text[first:start], min(1, max(0, start - reach)))

    return stands_before


def _announces_phone(front: str, begin: int) -> bool:
    return _PHONE_SIGNS.search(front) is not None or labels.phone_in_front(_whole_words(front, begin))


def _announces_other(front: str, begin: int) -> bool:
    return _OTHER_SIGNS.search(front) is not None or labels.other_in_front(_whole_words(front, begin))


def _whole_words(front: str, begin: int) -> str:
    """What stands in front without a word that is cut off at its beginning."""
    return _CUT.sub("", front, count=1) if begin else front


def forget() -> None:
    """Forgets what stood in front of all numbers so far."""
    for clear in _REMEMBERING:
        clear()


has_phone_context = _remembered(_announces_phone)
"""whether the words in front of a place announce a phone number"""
has_other_context = _remembered(_announces_other)
"""whether the words in front of a place announce a number of another kind, or an amount"""
has_reference_context = lookbehind(_REFERENCE, _REFERENCE_REACH)
"""whether the clause in front of a place says that what follows is the number of a case, an order, a parcel"""


def is_called_phone(text: str, end: int) -> bool:
    """Whether the words behind a number say that it is a phone: `020 7946 0958 (office)`."""
    behind = text[end : end + _BEHIND_REACH]
    return _LETTER.search(behind) is not None and labels.phone_behind(behind)


def in_address(text: str, start: int) -> bool:
    """Whether what begins at `start` is part of the address of a page."""
    return _ADDRESS.search(text, max(0, start - LONGEST_ADDRESS), start) is not None


def is_amount(text: str, end: int) -> bool:
    """Whether what follows makes a number an amount, or an account with the code of its bank."""
    return _AMOUNT_FOLLOWS.match(text, end) is not None


def lower_letters(text: str) -> str:
    """The text in lower case, each letter by itself, so that a part of it is lowered as it is in the whole."""
    return text.lower().replace("ς", "σ")


_WORD = regex.compile(r"(?r)[^\W_]+(?:['’׳\"״#][^\W_]*)*")
"""matched backwards, as only the last few words are asked for"""
_GLUED = re.compile("[הבלמשוכ]{1,3}(?=[א-ת]{2})")


def words_in_front(text: str, start: int, count: int) -> list[str]:
    """The last words in front of a place, in lower case; of Hebrew ones also what is left without glued letters."""
    near = lower_letters(text[max(0, start - _FAR) : start])
    words = [match[0].rstrip("'’׳\"״") for match in itertools.islice(_WORD.finditer(near), count)][::-1]
    more = [word[end:] for word in words if (glued := _GLUED.match(word)) for end in range(1, glued.end() + 1)]
    return words + more


_FAR = 96
"""characters in front of a finding in which its context words stand"""
