"""Who appears in a record, in what role: the claims that people are built from.

The keyed value of a phone or an address is the one that stands in its pseudonym, so that channels join on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parseaddr
from typing import NamedTuple

import pyarrow as pa

from relrag_pipelines.keys import Keys
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.pii.emails import normalise as normalise_email
from relrag_pipelines.pii.phones import find as find_phones
from relrag_pipelines.pii.phones import normalise as normalise_phone
from relrag_pipelines.records import Identifier, arrow_schema, to_table
from relrag_pipelines.redact import channel_of


class Named(NamedTuple):
    """One thing that a string says about who somebody is."""

    kind: str
    """name, phone, email or whatsapp"""
    value: str
    """as written"""
    normalised: str


def identifiers(records: pa.Table, redactor: PIIRedactor, keys: Keys, channel: str) -> pa.Table:
    """Identifier rows of private records, unique and ordered by their key; values as the channel's policy allows."""
    found: dict[tuple[str, str, str, str], Identifier] = {}
    named: dict[tuple[str, bool], list[Named]] = {}
    shown: dict[tuple[str, str], str] = {}
    columns = ["asset_id", "rag_source_type", "from", "to", "participants", "people"]
    for asset_id, kind, sender, to, participants, people in zip(
        *(records[name].to_pylist() for name in columns), strict=True
    ):
        policy = channel_of(kind, channel)
        chat = policy == "whatsapp"
        for role, text, person_id in _mentions(sender, to, participants, people):
            if (text, chat) not in named:
                named[text, chat] = list(parse(text, chat))
            for one in named[text, chat]:
                if (one.value, policy) not in shown:
                    shown[one.value, policy] = redactor.redact(one.value, policy)
                keyed = keys.pseudonym(one.kind, one.normalised)
                row = Identifier(asset_id, role, one.kind, shown[one.value, policy], keyed, person_id)
                key = (asset_id, role, one.kind, keyed)
                if key not in found or found[key].person_id is None:
                    found[key] = row
    rows = [found[key] for key in sorted(found)]
    return to_table(rows, Identifier) if rows else arrow_schema(Identifier).empty_table()


def parse(text: str, chat: bool = False) -> Iterator[Named]:
    """What a sender or recipient as written says: a name, an address, a phone number; in a chat its name there."""
    name, address = parseaddr(text) if "@" in text else (text, "")
    if "@" in address:
        yield Named("email", address, normalise_email(address))
    name = name.strip()
    phones = find_phones(name)
    if phones:
        start, end = phones[0][:2]
        yield Named("phone", name[start:end], normalise_phone(name[start:end]))
        name = (name[:start] + name[end:]).strip(" ()<>-~")
    if name:
        yield Named("whatsapp" if chat else "name", name, " ".join(name.casefold().split()))


def _mentions(
    sender: str | None, to: list[str], participants: list[str], people: list[dict[str, object]]
) -> Iterator[tuple[str, str, int | None]]:
    if sender:
        yield "sender", sender, None
    for name in to:
        yield "recipient", name, None
    for name in participants:
        yield "participant", name, None
    for person in people:
        pinned = person["person_id"]
        yield str(person["role"]), str(person["name"]), pinned if isinstance(pinned, int) else None
