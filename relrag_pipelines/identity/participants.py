"""Who appears in a record, in what role: the claims that people are built from.

The keyed value of a phone or an address is the one that stands in its pseudonym, so that channels join on it.
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
from relrag_pipelines.pii.pseudonyms import escape_lookalikes
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.pii.spans import Span
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Identifier
from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.table_schema import arrow_schema, to_table

_JID = re.compile(r"(?P<user>[\w.-]+?)(?::\d+)?@(?P<server>c\.us|s\.whatsapp\.net|lid)", re.ASCII)
"""an account as WhatsApp's databases write it; the part behind a colon names the device"""
_GROUP = re.compile(r"[\w.-]+@g\.us", re.ASCII)
_NUMBER = re.compile(
    "^\\(?\\d(?:[\\s().\\-_/\u2010-\u2015]{0,3}\\d){6,14}$|(?<![\\w@.])\\(?\\d(?:[\\s().\\-]{0,3}\\d){8,14}(?![\\w@.])"
)
"""a number that no form tells of, by itself or of nine digits beside a name"""
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
"""local parts of addresses behind which stands an office or a program, without dots and hyphens"""
_FEWEST_DIGITS = 7
"""of a phone that may name somebody; shorter ones are as often part of a name"""


class ParsedIdentifier(NamedTuple):
    """One thing that a string says about who somebody is."""

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
        said = parse_identifiers(text, name, redactor.regions)
        entry = keys.pseudonym("entry", "\n".join(f"{one.kind} {one.normalised}" for one in said))
        try:
            return entry, [
                (
                    one.kind,
                    _redacted_value(one, redactor, policy),
                    keys.pseudonym(one.kind, one.normalised),
                    one.kind == "email" and is_role_address(one.normalised),
                )
                for one in said
            ]
        except RedactionError:
            return entry, []

    found: dict[tuple[str, str, str, str, str], Identifier] = {}
    for asset_id, rag_source_type, *mentioned in zip(*(records[name].to_pylist() for name in _COLUMNS), strict=True):
        policy = channel_of(rag_source_type, channel)
        declared = record_type(rag_source_type)
        for role, text, person_id in _people_of_record(*mentioned):
            entry, said = claims(text, policy, declared.identifier)
            entry = asset_id if declared.card and role == "owner" else entry
            for kind, value, keyed, shared in said:
                key = (asset_id, role, kind, keyed, entry)
                if key not in found or found[key].person_id is None:
                    found[key] = Identifier(asset_id, role, kind, value, keyed, person_id, entry, shared)
    rows = [found[key] for key in sorted(found)]
    return to_table(rows, Identifier) if rows else arrow_schema(Identifier).empty_table()


_COLUMNS = ("asset_id", "rag_source_type", "from", "to", "participants", "people")


def names_in(records: pa.Table, regions: tuple[str, ...] = ()) -> set[ParsedIdentifier]:
    """All that private records say of who somebody is."""
    found: set[ParsedIdentifier] = set()
    for _, rag_source_type, *mentioned in zip(*(records[name].to_pylist() for name in _COLUMNS), strict=True):
        kind = record_type(rag_source_type).identifier
        found.update(
            one for _, text, _ in _people_of_record(*mentioned) for one in parse_identifiers(text, kind, regions)
        )
    return found


def parse_identifiers(text: str, name_kind: str = "name", regions: tuple[str, ...] = ()) -> list[ParsedIdentifier]:
    """What a sender or recipient as written says: addresses, phone numbers, a name.

    A name is an identifier of kind `name_kind`: in a chat one of its own. `regions` are the countries that a number
    without a code is of, the likeliest first.
    """
    text = _MARKS.sub("", text).strip()
    if account := _JID.fullmatch(text):
        return _account(account)
    if _GROUP.fullmatch(text):
        return []
    addresses = emails.find(text)
    if len(addresses) > 1:
        return [one for pair in getaddresses([text]) for one in parse_identifiers(" ".join(pair), name_kind, regions)]
    found = [ParsedIdentifier("email", text[a:b], emails.normalise(text[a:b])) for a, b, _ in addresses]
    rest = _blank_out(text, addresses)
    numbers = [one for one in phones.find(rest, regions) if _is_long_enough(rest[one.start : one.end])] or [
        Span(*match.span(), 1.0) for match in _NUMBER.finditer(false_positives.mask_false_positives(rest))
    ]
    found += [ParsedIdentifier("phone", rest[a:b], phones.normalise(rest[a:b], regions)) for a, b, _ in numbers]
    name = " ".join(_blank_out(rest, numbers).split()).strip(_AROUND_NAMES)
    name += ")" if name.rfind("(") > name.rfind(")") else ""  # Dougal (electrician)
    if any(map(str.isalpha, name)):
        found.append(ParsedIdentifier(name_kind, name, unicodedata.normalize("NFKC", name).casefold()))
    return found


def is_role_address(address: str) -> bool:
    """Whether a normalised address is that of an office or a program, such as info@ or no-reply@, by its first part."""
    local = re.split(r"[+@]", address, maxsplit=1)[0]
    plain = re.sub(r"[\W_\d]+", "", local)
    return plain in _ROLES or plain.startswith(("noreply", "donotreply", "mailerdaemon"))


def _redacted_value(one: ParsedIdentifier, redactor: PIIRedactor, policy: str) -> str:
    """The value as the policy allows; what names somebody by a number is a phone, however it looks."""
    value = escape_lookalikes(one.value)
    return redactor.redact(value, policy, [value]) if one.kind == "phone" else redactor.redact(value, policy)


def _account(account: re.Match[str]) -> list[ParsedIdentifier]:
    """The account, and the phone number that it is, unless it is one of those that hide it."""
    jid = f"{account['user']}@{'lid' if account['server'] == 'lid' else 's.whatsapp.net'}".lower()
    found = [ParsedIdentifier("whatsapp", jid, jid)]
    if account["server"] != "lid" and account["user"].isdigit():
        found.append(ParsedIdentifier("phone", f"+{account['user']}", phones.normalise(f"+{account['user']}")))
    return found


def _is_long_enough(number: str) -> bool:
    return sum(map(str.isdecimal, number)) >= _FEWEST_DIGITS or number.startswith("*")


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
