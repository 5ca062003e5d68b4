"""Says why a value was found, or why a number was left: the word, the country or the rule that decided."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from relrag_pipelines.pii import context_words
from relrag_pipelines.pii.number_words import labels
from relrag_pipelines.pii.phones import library, validity

_NUMBER = re.compile(r"\d(?:[ \u00a0./()-]{0,2}\d){5,24}")
"""numbers that could be personal data"""
_RULES = {
    "CREDIT_CARD": "an issuer's first digits, and a valid checksum",
    "IBAN_CODE": "the form of a country's accounts, and a valid checksum",
    "NATIONAL_ID": "a word for an id before it, or a form and checksum of one of the regions",
    "IL_ID_NUMBER": "nine digits with a valid checksum",
    "CZ_BIRTH_NUMBER": "a date of birth with a valid checksum",
    "EMAIL_ADDRESS": "an @, or what stands for it, before a domain",
    "PASSPORT": "a word for a passport before it",
    "DRIVER_LICENSE": "a word for a driving licence before it",
}


def reason(text: str, entity: str, start: int, end: int, regions: tuple[str, ...]) -> str:
    """Why a finding counts; empty if only Presidio knows."""
    return _phone_reason(text, start, end, regions) if entity == "PHONE_NUMBER" else _RULES.get(entity, "")


def _phone_reason(text: str, start: int, end: int, regions: tuple[str, ...]) -> str:
    if word := labels.phone_words(text[max(0, start - context_words.REACH) : start]):
        return f'the word "{word}" before it'
    number = text[start:end]
    if number.lstrip("(").startswith(("+", "00")):
        return "the code of a country"
    digits = "".join(filter(str.isdecimal, number))
    countries = [region for region in regions or tuple(library.REGIONS) if validity.is_valid(digits, (region,))]
    return f"valid in {', '.join(countries)}" if countries else "the form of a phone number, or a word after it"


def left_numbers(text: str, spans: Collection[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """The numbers outside the findings that words or signs around them protect, each with what protects it."""
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if not any(start < close and begin < end for begin, close in spans) and (why := _protection(text, start, end)):
            yield start, end, why


def _protection(text: str, start: int, end: int) -> str:
    """What keeps a number from being personal data; empty if nothing was needed."""
    if word := labels.other_words(text[max(0, start - context_words.REACH) : start]):
        return f'the word "{word}" before it'
    if context_words.has_other_context(text, start):
        return "the sign before it"
    if context_words.is_postcode(text, start, library.count(text[start:end])):
        return "a word for a postcode before it"
    if context_words.is_amount(text, end):
        return "an amount or a count: what stands after it"
    return "part of an address on the web" if context_words.in_address(text, start) else ""
