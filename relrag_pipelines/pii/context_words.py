"""What the words around a number say of it: that it is a phone, that it is another number, that it is an amount."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

REACH = 48
"""characters in front of a number; what announces it stands nearer"""
LONGEST_ADDRESS = 200

_PHONE_WORDS = (
    r"tel(?:ef[oó]n\w*|ephone|/fax)?|t[ée]l(?:éphone)?|phones?|ph|fon|mob(?:il\w*|ile)?|cell(?:ular)?|fax|gsm"
    r"|handy|portable|m[óo]vil|celular|\w{0,8}lin(?:ka|ku|ce)|hotline|sms|t\. ?č"
    r"|tč|pevná|rufnummer|(?:telefon|mobil|handy|fax)nummer|durchwahl|whats ?app|viber"
    r"|msisdn|call (?:me|us|him|her)|(?:za|pro|ob)?vol(?:ej\w*|at|ám|al[aoi]?)|zatelefonuj\w*|brnkni|anrufen"
    r"|ruf(?:e|en)? (?:mich )?an|(?:my|his|her|their|our|your|new|whose) (?:new )?number"
    r"|(?:čí je|m[ůo]je|moj[íe]|mé|nové|jeho|její|jejich|naše) (?:nové )?číslo"
    r"|(?:answering|reach(?:able|ed)?|respond\w*|dial(?:ed|ing)?|ring(?:ing)?|text(?:ed|ing)?|messages?|registered|contact"
    r"|callback|call(?:ed|ing|s)?)(?: (?:\w{1,8} )?(?:at|on|to|under|from|by|number))?"
    r"|meine (?:neue )?nummer|המספר (?:החדש )?שלי"
    r"|[הבלמשוכ]{0,2}(?:טל(?:פון)?|נייד|פלאפון|סלולרי|פקס|וואטסאפ|ווטסאפ)|[הלת]?תתקשר\w*|ל?התקשר\w*"
)
_BETWEEN = (
    r"(?:[ \t\xa0]{0,2}(?:č(?:íslo|\.)|numbers?|num|no\.?|nr\.?|nummer|numéro|n°|me|us|mi|mu|jí|nám|at|on|na|is|je|ist"
    r"|unter|auf|au|work|home|private|mobile|cell|práce|domů|מספר|מס'|ל|ב)(?!\w))"
)
_PHONE = (
    rf"(?:(?<![^\W_])(?:{_PHONE_WORDS})(?!\w)[.'׳’\"״]?(?:[ \t\xa0]{{0,2}}\([^()\n]{{1,14}}\))?{_BETWEEN}{{0,3}}"
    r"[^\w\n+]{0,5}(?:\n[> \t]*)?|(?<!\w)[TMF]:[ \t\xa0]{0,2}|\bTEL;[^:\n]{1,40}:"
    r"|[☎☏✆📞📱]\ufe0f?[ \t\xa0:]{0,2}|(?:wa|t|signal|viber)\.(?:me|click)/|[?&]phone=)$"
)
_OTHER_WORDS = (
    r"is[bs]n(?:-1[03])?|ean(?:-1?[38])?|upc|gtin|cas|nsn|p/?n|s/?n|sku|vin|imei|part|art(?:ikl|icle)?|item|kat(?:al\w+)?"
    r"|cat|serial|sériov\w+|výrobn\w+|serien|produkt\w*|products?|zboží|kód\w*|codes?|model|lot|batch|šarže"
    r"|version|ver|verze|build|kernel|release|rev|seed|hash|offset|size|ip|port|timestamp|epoch|lat|lon|gps|[ugp]?id"
    r"|commit|file|trace|bug|issue|rooms?|pages?|str|psč|zip|isdn"
    r"|ref(?:erence)?|rma|orders?|objedn\w*|bestell\w*|auftrag\w*|invoices?|inv|faktur\w*|rechnung\w*|receipt|quote|p\.?o"
    r"|zakázk\w*|zak|booking|parcel|zásilk\w*|tracking|tickets?|case|spis\w*|reklamac\w*|doklad\w*|smlouv\w*|contract"
    r"|vertrag\w*|policy|pojistk\w*|vs|ks|ss|variabiln\w*|symbol\w*|ič|ičo|dič|vat|zákaznick\w+|č(?:íslo|\.) zákazníka"
    r"|accounts?|acct|účet|účt\w*|č\.? ?ú|konto\w*|kart[ay]|passport|pas|op|občansk\w+|průkaz\w*|rodné|r\.? ?č"
    r"|licen[cs]e|nis|ils|usd|eur|czk|kč"
    r"|[הבלמשוכ]{0,2}(?:הזמנה|חשבונית|קבלה|אסמכתא|משלוח|מעקב|חבילה|תיק|פנייה|חשבון|זהות)|מק[\"״]ט|ת[\"'״׳.]{0,2} ?ז"
)
_OTHER = (
    rf"(?:(?<![^\W_])(?:{_OTHER_WORDS})(?!\w)\.?(?:[ \t\xa0-]{{0,2}}(?:č(?:íslo|\.)?|numbers?|num|no|nr|nummer|card|id"
    r"|code|kód|is|je|ist|מספר|smlouvy|objednávky|faktury|účtu|karty|průkazu|dokladu|zákazníka|produktu|zboží)(?!\w)\.?){0,3}"
    r"[ \t\xa0]?[:.#№/=-]{0,2}[ \t\xa0]{0,2}|#|[№$€£₪=][ \t\xa0]?)$"
)
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

_REMEMBERING: list[Callable[[], None]] = []
_ADDRESS = re.compile(r"://[^\s<>\"']*$")


def lookbehind(pattern: str, reach: int = REACH, flags: re.RegexFlag = re.IGNORECASE) -> Callable[[str, int], bool]:
    """Whether the pattern, which may look back by one character, is found in what stands in front of a place.

    Tables repeat what stands there, so the latest answers are remembered.
    """
    compiled = re.compile(pattern, flags)

    @functools.lru_cache(maxsize=1 << 12)
    def says(words: str, begin: int) -> bool:
        return compiled.search(words, begin) is not None

    _REMEMBERING.append(says.cache_clear)

    def stands_before(text: str, start: int) -> bool:
        first = max(0, start - reach - 1)
        return says(text[first:start], min(1, max(0, start - reach)))

    return stands_before


def forget() -> None:
    """Forgets what stood in front of all numbers so far."""
    for clear in _REMEMBERING:
        clear()


has_phone_context = lookbehind(_PHONE)
"""whether the words in front of a place announce a phone number"""
has_other_context = lookbehind(_OTHER)
"""whether the words in front of a place announce a number of another kind, or an amount"""
has_reference_context = lookbehind(_REFERENCE, _REFERENCE_REACH)
"""whether the clause in front of a place says that what follows is the number of a case, an order, a parcel"""


def in_address(text: str, start: int) -> bool:
    """Whether what begins at `start` is part of the address of a page."""
    return _ADDRESS.search(text, max(0, start - LONGEST_ADDRESS), start) is not None


def is_amount(text: str, end: int) -> bool:
    """Whether what follows makes a number an amount, or an account with the code of its bank."""
    return _AMOUNT_FOLLOWS.match(text, end) is not None


def lower_letters(text: str) -> str:
    """The text in lower case, each letter by itself, so that a part of it is lowered as it is in the whole."""
    return text.lower().replace("ς", "σ")


_WORD = re.compile(r"[^\W_]+(?:['’׳\"״#][^\W_]*)*")
_GLUED = re.compile("[הבלמשוכ]{1,3}(?=[א-ת]{2})")


def words_in_front(text: str, start: int, count: int) -> list[str]:
    """The last words in front of a place, in lower case; of Hebrew ones also what is left without glued letters."""
    near = lower_letters(text[max(0, start - _FAR) : start])
    words = [match[0].rstrip("'’׳\"״") for match in _WORD.finditer(near)][-count:]
    more = [word[end:] for word in words if (glued := _GLUED.match(word)) for end in range(1, glued.end() + 1)]
    return words + more


_FAR = 96
"""characters in front of a finding in which its context words stand"""
