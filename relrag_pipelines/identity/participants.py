"""Extracts the people of records with their roles: the claims that people are built from.

The keyed value of a phone or an address is that of its pseudonym, so that channels can be joined on it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from email.utils import getaddresses
from typing import Any, NamedTuple

import pyarrow as pa

from relrag_pipelines.pii import PIIRedactor, RedactionError, emails, false_positives, phones
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.pii.spans import Span
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.privacy.pseudonyms import escape_lookalikes
from relrag_pipelines.records import Identifier
from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.table_schema import arrow_schema, to_table

_JID = re.compile(r"(?P<user>[\w.-]+?)(?::\d+)?@(?P<server>c\.us|s\.whatsapp\.net|lid)", re.ASCII)
"""an account as WhatsApp's databases write it; the part behind a colon names the device"""
_GROUP = re.compile(r"[\w.-]+@g\.us", re.ASCII)
_NUMBER = re.compile(
    "^\\(?\\d(?:[\\s().\\-_/\u2010-\u2015]{0,3}\\d){6,14}$|(?<![\\w@.])\\(?\\d(?:[\\s().\\-]{0,3}\\d){8,14}(?![\\w@.])"
)
"""a number in no known form: alone, or of nine or more digits next to a name"""
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_AROUND_NAMES = " \t\n\u00a0\u202f\"'<>()[],;:~-\u2013\u2014|/"
_ROLE_WORDS = """
    abuse accounting accounts admin alerts billing bounce bounces careers contact customerservice donotreply
    enquiries events feedback hello help helpdesk hostmaster hr info invoice invoices jobs legal list listserv mail
    mailer mailerdaemon marketing media members news newsletter noreply notification notifications office orders
    postmaster press privacy reception root sales secretary security service shop subscribe support team undisclosed
    unsubscribe updates webmaster welcome
    fakturace fakturacni kancelar kontakt nabidka objednavky obchod podpora prodej recepce sekretariat ucetni uctarna
    misrad sherut
"""
_ROLES = frozenset(_ROLE_WORDS.split())
"""local parts of addresses of offices and programs, without dots and hyphens"""
_MIN_DIGITS = 7
"""digits of a phone number of a person; shorter numbers are as often part of a name"""


class ParsedIdentifier(NamedTuple):
    """An identifier of a person in a string."""

    kind: str
    """name, phone, email or whatsapp"""
    value: str
    """as written"""
    normalised: str


def extract_identifiers(records: pa.Table, redactor: PIIRedactor, keys: Keys, channel: str) -> pa.Table:
    """Identifier rows of private records, unique and ordered by their key; values as the channel's policy allows.

    A value that cannot be redacted is left out; its record is reported when it is redacted itself.
    """

    @functools.cache
    def claims(text: str, policy: str, name: str) -> tuple[str, list[tuple[str, str, str, bool]]]:
        identifiers = parse_identifiers(text, name, redactor.regions)
        entry = keys.pseudonym("entry", "\n".join(f"{part.kind} {part.normalised}" for part in identifiers))
        try:
            return entry, [_claim(identifier, redactor, keys, policy) for identifier in identifiers]
        except RedactionError:
            return entry, []

    rows: dict[tuple[str, str, str, str, str], Identifier] = {}
    for asset_id, rag_source_type, *people in zip(*(records[name].to_pylist() for name in _COLUMNS), strict=True):
        policy = channel_of(rag_source_type, channel)
        declared = record_type(rag_source_type)
        for role, text, person_id in _people_of_record(*people):
            entry, entry_claims = claims(text, policy, declared.identifier)
            entry = asset_id if declared.card and role == "owner" else entry
            for kind, value, keyed, shared in entry_claims:
                key = (asset_id, role, kind, keyed, entry)
                if key not in rows or rows[key].person_id is None:
                    rows[key] = Identifier(asset_id, role, kind, value, keyed, person_id, entry, shared)
    ordered = [rows[key] for key in sorted(rows)]
    return to_table(ordered, Identifier) if ordered else arrow_schema(Identifier).empty_table()


def _claim(identifier: ParsedIdentifier, redactor: PIIRedactor, keys: Keys, policy: str) -> tuple[str, str, str, bool]:
    """Kind, value as the policy allows, keyed value, and whether it is the address of an office or a program."""
    kind, normalised = identifier.kind, identifier.normalised
    is_shared = kind == "email" and is_role_address(normalised)
    return kind, _redacted_value(identifier, redactor, policy), keys.pseudonym(kind, normalised), is_shared


_COLUMNS = ("asset_id", "rag_source_type", "from", "to", "participants", "people")


def names_in(records: pa.Table, regions: tuple[str, ...] = ()) -> set[ParsedIdentifier]:
    """The identifiers of all people in private records."""
    identifiers: set[ParsedIdentifier] = set()
    for _, rag_source_type, *people in zip(*(records[name].to_pylist() for name in _COLUMNS), strict=True):
        kind = record_type(rag_source_type).identifier
        for _, text, _ in _people_of_record(*people):
            identifiers.update(parse_identifiers(text, kind, regions))
    return identifiers


def _bare_name(text: str) -> str:
    """A name without what surrounds it; a parenthesis that it opens is closed: `Dougal (electrician)`."""
    name = " ".join(text.split()).strip(_AROUND_NAMES)
    return f"{name})" if name.rfind("(") > name.rfind(")") else name


def parse_identifiers(text: str, name_kind: str = "name", regions: tuple[str, ...] = ()) -> list[ParsedIdentifier]:
    """The identifiers in a sender or recipient as written: addresses, phone numbers, a name.

    A name is an identifier of kind `name_kind`, which depends on the record type. `regions` are the countries of
    numbers without a country code, the likeliest first.
    """
    text = _MARKS.sub("", text).strip()
    if account := _JID.fullmatch(text):
        return _account(account)
    if _GROUP.fullmatch(text):
        return []
    addresses = emails.find(text)
    if len(addresses) > 1:
        parts = (" ".join(pair) for pair in getaddresses([text]))
        return [identifier for part in parts for identifier in parse_identifiers(part, name_kind, regions)]
    identifiers = [ParsedIdentifier("email", text[a:b], emails.normalise(text[a:b])) for a, b, _ in addresses]
    rest = _blank_out(text, addresses)
    numbers = _numbers(rest, regions)
    identifiers += [ParsedIdentifier("phone", rest[a:b], phones.normalise(rest[a:b], regions)) for a, b, _ in numbers]
    name = _bare_name(_blank_out(rest, numbers))
    if any(map(str.isalpha, name)):
        identifiers.append(ParsedIdentifier(name_kind, name, unicodedata.normalize("NFKC", name).casefold()))
    return identifiers


def _numbers(text: str, regions: tuple[str, ...]) -> list[Span]:
    """The phone numbers in a text; if there are none, long numbers of any form."""
    numbers = [span for span in phones.find(text, regions) if _is_long_enough(text[span.start : span.end])]
    masked = "" if numbers else false_positives.mask_false_positives(text)
    return numbers or [Span(*match.span(), 1.0) for match in _NUMBER.finditer(masked)]


def is_role_address(address: str) -> bool:
    """Whether a normalised address is that of an office or a program, such as info@ or no-reply@, by its first part."""
    local = re.split(r"[+@]", address, maxsplit=1)[0]
    plain = re.sub(r"[\W_\d]+", "", local)
    return plain in _ROLES or plain.startswith(("noreply", "donotreply", "mailerdaemon"))


def _redacted_value(identifier: ParsedIdentifier, redactor: PIIRedactor, policy: str) -> str:
    """The value as the policy allows; the number of a person is redacted as a phone, whatever its form."""
    value = escape_lookalikes(identifier.value)
    return redactor.redact(value, policy, [value]) if identifier.kind == "phone" else redactor.redact(value, policy)


def _account(account: re.Match[str]) -> list[ParsedIdentifier]:
    """The account, and the phone number that it is, unless it is one of those that hide it."""
    jid = f"{account['user']}@{'lid' if account['server'] == 'lid' else 's.whatsapp.net'}".lower()
    identifiers = [ParsedIdentifier("whatsapp", jid, jid)]
    if account["server"] != "lid" and account["user"].isdigit():
        number = f"+{account['user']}"
        identifiers.append(ParsedIdentifier("phone", number, phones.normalise(number)))
    return identifiers


def _is_long_enough(number: str) -> bool:
    return sum(map(str.isdecimal, number)) >= _MIN_DIGITS or number.startswith("*")


def _blank_out(text: str, spans: list[Any]) -> str:
    for start, end, _ in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _people_of_record(
    sender: str | None, to: list[str], participants: list[str], people: list[dict[str, Any]]
) -> Iterator[tuple[str, str, int | None]]:
    several = (sender or "").split(", ")
    if sender and (len(several) == 1 or not set(several) <= set(participants)):  # a meeting is from all who took part
        yield "sender", sender, None
    for name in to:
        yield "recipient", name, None
    for name in participants:
        yield "participant", name, None
    for person in people:
        yield person["role"], person["name"], person["person_id"]
