"""The table of entities: what is looked for, and how values of it are made equal however they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relrag_pipelines.pii import bank_accounts, cards, emails, ibans, national_ids, phones, spelled_addresses
from relrag_pipelines.pii.spans import Span


@dataclass(frozen=True)
class EntityType:
    """One kind of personal data."""

    name: str
    """as policies and pseudonyms name it; Presidio's name where it has one"""
    find: Callable[[str], list[Span]]
    """its occurrences in a text, in order, without overlap"""
    normalise: Callable[[str], str]
    """the one way to write a value that was found"""
    keyed_as: str
    """the kind under which its values are hashed; identifiers of people use the same, so that both join"""
    hint: str
    """characters of which each of its occurrences has one, as in a character class; empty where there are none"""
    words: tuple[str, ...] = ()
    """or one of these, letter by letter"""


_DIGIT = r"\p{Nd}"
_AT = "@＠﹫(\\[{%&"
"""what else may stand for an @: `(at)`, `%40`, `&#64;`"""

ENTITIES = {
    entity.name: entity
    for entity in (
        EntityType("EMAIL_ADDRESS", emails.find, emails.normalise, "email", _AT, spelled_addresses.WORDS),
        EntityType("IBAN_CODE", ibans.find, ibans.normalise, "iban", _DIGIT),
        EntityType("CREDIT_CARD", cards.find, cards.normalise, "card", _DIGIT),
        EntityType("IL_ID_NUMBER", national_ids.find_israeli_ids, national_ids.normalise_id, "il_id", _DIGIT),
        EntityType(
            "CZ_BIRTH_NUMBER", national_ids.find_birth_numbers, national_ids.normalise_birth_number, "cz_birth", _DIGIT
        ),
        EntityType("PHONE_NUMBER", phones.find, phones.normalise, "phone", _DIGIT),
    )
}
"""looked for in questions and ids too, whatever the policies"""

FURTHER = {"BANK_ACCOUNT": EntityType("BANK_ACCOUNT", bank_accounts.find, bank_accounts.normalise, "account", _DIGIT)}
"""looked for only where a policy names them"""
