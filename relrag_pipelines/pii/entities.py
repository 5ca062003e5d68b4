"""The table of entities: their finders, and the normalisation of their values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.pii import (
    bank_accounts,
    cards,
    company_numbers,
    emails,
    ibans,
    identity_documents,
    national_id_forms,
    national_ids,
    normalized_text,
    patterns,
    phones,
    spelled_addresses,
)
from relrag_pipelines.pii.identity_documents import LICENCE, PASSPORT
from relrag_pipelines.pii.patterns import PatternEntry
from relrag_pipelines.pii.phones import spelled_digits
from relrag_pipelines.pii.spans import Span


class SpelledForm(NamedTuple):
    """A prefilter for texts that may contain a value in words."""

    may_hold: Callable[[str], bool]
    which_may_hold: Callable[[Sequence[str]], list[int]]
    """the indices of the texts for which `may_hold` is true, far faster for many texts"""


@dataclass(frozen=True)
class EntityType:
    """One kind of personal data."""

    name: str
    """name in policies and pseudonyms; Presidio's name if it has one"""
    find: Callable[[str], list[Span]] | None
    """finds its occurrences in a text, in order, without overlap; None if only Presidio or patterns find it"""
    normalise: Callable[[str], str]
    """normalises a value"""
    keyed_as: str
    """the kind under which its values are hashed, shared with identifiers of people, so that both join"""
    hint: str
    """character class of which each occurrence contains a character; empty if there is none"""
    words: tuple[str, ...] = ()
    """words, in lower case, of which an occurrence may contain one instead"""
    patterns: tuple[PatternEntry, ...] = ()
    """recognisers written as data"""
    spelled: SpelledForm | None = None
    """prefilter for values in words, if it may be written so"""
    min_digits: int = 0
    """fewest digits, raised ones too, of a text that contains one which is not in words"""

    def may_hold(self, text: str) -> bool:
        """Whether Presidio could find it in the text; false only if none of its recognisers can."""
        if self.find is None and not self.patterns:
            return True
        return bool(self.find and self.find(text)) or any(pattern.may_match(text) for pattern in self.patterns)


_DIGIT = r"\p{Nd}"
_AT_SIGNS = "@＠﹫(\\[{%&"
"""@ and the first characters of its substitutes: `(at)`, `%40`, `&#64;`"""


def squeeze(value: str) -> str:
    """The value in lower case, without white space."""
    return "".join(value.split()).casefold()


def letters_and_digits(value: str) -> str:
    """The letters and digits of the value, in lower case."""
    return "".join(filter(str.isalnum, value)).casefold()


def _memoize(find: Callable[[str], list[Span]]) -> Callable[[str], list[Span]]:
    """Caches the finder, which runs twice for each text: in the prefilter and in the engine."""
    return functools.lru_cache(maxsize=4)(find)


def _by_patterns(
    name: str, keyed_as: str, normalise: Callable[[str], str], hint: str = _DIGIT, words: tuple[str, ...] = ()
) -> EntityType:
    entries = tuple(entry for entry in patterns.load(patterns.BUILT_IN) if entry.entity == name)
    return EntityType(name, None, normalise, keyed_as, hint, words, entries)


_SPELLED_DIGITS = SpelledForm(spelled_digits.may_hold, spelled_digits.which_may_hold)
_SPELLED_ADDRESS = SpelledForm(spelled_addresses.may_be_spelt, spelled_addresses.which_may_be_spelt)
NATIONAL_ID = "NATIONAL_ID"
"""ids of all countries except those with an entity of their own"""

ENTITIES = {
    entity.name: entity if entity.find is None else replace(entity, find=_memoize(entity.find))
    for entity in (
        EntityType("EMAIL_ADDRESS", emails.find, emails.normalise, "email", _AT_SIGNS, spelled=_SPELLED_ADDRESS),
        EntityType("IBAN_CODE", ibans.find, ibans.normalise, "iban", _DIGIT, min_digits=ibans.MIN_DIGITS),
        EntityType("CREDIT_CARD", cards.find, cards.normalise, "card", _DIGIT, min_digits=12),
        EntityType(
            "IL_ID_NUMBER", national_ids.find_israeli_ids, national_ids.normalise_id, "il_id", _DIGIT, min_digits=7
        ),
        EntityType(
            "CZ_BIRTH_NUMBER",
            national_ids.find_birth_numbers,
            national_ids.normalise_birth_number,
            "cz_birth",
            _DIGIT,
            min_digits=9,
        ),
        EntityType(NATIONAL_ID, national_id_forms.finder(), national_id_forms.normalise, "national_id", _DIGIT),
        EntityType(
            "PHONE_NUMBER",
            phones.find,
            phones.normalise,
            "phone",
            _DIGIT + normalized_text.RAISED,
            spelled=_SPELLED_DIGITS,
            min_digits=4,
        ),
    )
}
"""entities searched for in questions and ids too, whatever the policies"""

FURTHER = {
    entity.name: entity if entity.find is None else replace(entity, find=_memoize(entity.find))
    for entity in (
        _by_patterns("US_SSN", "us_ssn", letters_and_digits),
        _by_patterns("IP_ADDRESS", "ip", squeeze),
        _by_patterns("MAC_ADDRESS", "mac", letters_and_digits),
        _by_patterns("CREDENTIALS", "credentials", str.strip, _DIGIT + "@"),
        _by_patterns("API_KEY", "api_key", str.strip, words=("private key-----",)),
        EntityType("PASSPORT", identity_documents.finder(PASSPORT), identity_documents.normalise, "passport", _DIGIT),
        EntityType(
            "DRIVER_LICENSE", identity_documents.finder(LICENCE), identity_documents.normalise, "driver_license", _DIGIT
        ),
        EntityType("IL_COMPANY_NUMBER", company_numbers.find_israeli, company_numbers.normalise, "il_company", _DIGIT),
        EntityType("CZ_COMPANY_NUMBER", company_numbers.find_ico, company_numbers.normalise, "cz_company", _DIGIT),
        EntityType("CZ_TAX_NUMBER", company_numbers.find_dic, company_numbers.normalise, "cz_tax", _DIGIT),
        EntityType("BANK_ACCOUNT", bank_accounts.find, bank_accounts.normalise, "account", _DIGIT),
    )
}
"""entities searched for only if a policy names them"""


def table(file: Path | None = None, regions: tuple[str, ...] = ()) -> Mapping[str, EntityType]:
    """relrag's entities and those of the owner's file, which may also add patterns to relrag's.

    `regions` are countries whose national numbers are found by their form alone. Raises SettingsError if the file
    cannot be read.
    """
    return _extended_table(patterns.load(file) if file else (), regions)


@functools.lru_cache(64)
def _extended_table(entries: tuple[patterns.PatternEntry, ...], regions: tuple[str, ...]) -> Mapping[str, EntityType]:
    types_by_name = ENTITIES | FURTHER | _ids_by_presidio_name(regions)
    types_by_name |= _phones_in(regions) | _accounts_in(regions) | _ids_in(regions) if regions else {}
    for entry in entries:
        base = types_by_name.get(entry.entity) or EntityType(entry.entity, None, squeeze, entry.entity, "")
        types_by_name[entry.entity] = replace(base, hint="", words=(), min_digits=0, patterns=(*base.patterns, entry))
    return types_by_name


def _phones_in(regions: tuple[str, ...]) -> dict[str, EntityType]:
    """The entity of phone numbers for an archive with these home regions."""
    return _at_home("PHONE_NUMBER", regions, phones.find, phones.normalise)


def _accounts_in(regions: tuple[str, ...]) -> dict[str, EntityType]:
    """The entity of IBANs for an archive with these home regions."""
    return _at_home("IBAN_CODE", regions, ibans.find, ibans.normalise)


def _at_home(
    name: str, regions: tuple[str, ...], find: Callable[..., list[Span]], normalise: Callable[..., str]
) -> dict[str, EntityType]:
    """The entity with a finder and a normalisation that know the home regions."""
    finder = _memoize(functools.partial(find, regions=regions))
    return {name: replace(ENTITIES[name], find=finder, normalise=functools.partial(normalise, regions=regions))}


def _ids_in(regions: tuple[str, ...]) -> dict[str, EntityType]:
    """The entities of national ids for an archive with these home regions."""
    israeli = _memoize(functools.partial(national_ids.find_israeli_ids, regions=regions))
    return {
        NATIONAL_ID: replace(ENTITIES[NATIONAL_ID], find=_memoize(national_id_forms.finder(regions))),
        "IL_ID_NUMBER": replace(ENTITIES["IL_ID_NUMBER"], find=israeli),
    }


def _ids_by_presidio_name(regions: tuple[str, ...]) -> dict[str, EntityType]:
    """Entities of single kinds of national ids, by Presidio's names."""
    return {
        name: EntityType(
            name, _memoize(national_id_forms.finder(regions, name)), national_id_forms.normalise, "national_id", _DIGIT
        )
        for name in dict.fromkeys(form.presidio for form in national_id_forms.load() if form.presidio)
    }
