"""Contacts in vCard files and tables: one record per card, and one for each relation between two people.

A card is identified by its UID, else by the keyed hash of its name, phones and mail addresses. `X-RELRAG-PERSON-ID`
pins the id of the person. Names in all scripts, phones and addresses are in `people`, which identifiers are made from;
`extra` holds aliases, facts and the relationship for the identity layer, in the form of examples/archive.

Extension properties: X-RELRAG-PERSON-ID; X-RELRAG-FACT;PREDICATE=plays:piano; and in the group of a RELATED
X-RELRAG-DESCRIPTION, X-RELRAG-ATTITUDE and X-RELRAG-PROXIMITY (1 to 5), X-RELRAG-NOTE (any number).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Json, NamedPerson, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.contacts.contact import Contact, ContactRelation, person
from relrag_pipelines.sources.contacts.contact_table import is_table, table_cards
from relrag_pipelines.sources.contacts.vcard import VCard, cards

__all__ = ["read", "recognise"]

_HEAD = 4096


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The cards in file order, then their relations, each preceded by the failures of its card."""
    seen: Counter[str] = Counter()
    person_by_id: dict[str, tuple[str, int | None]] = {}
    contacts_with_relations: list[tuple[str, Contact]] = []
    empty = True
    with open_plain(unit.file) as file:
        for card in table_cards(file) if _is_named_as_table(unit.file) else cards(file):
            empty = False
            contact = person(card)
            yield from _faults(card, contact)
            if contact.is_nobody:
                continue
            native = _native(contact, reading)
            if contact.uid and native in seen:
                why = "an earlier card of the file has the same UID and counts; give each its own"
                yield Failure(f"line {card.line}", "duplicate_id", why)
                continue
            seen[native] += 1
            native = native if seen[native] == 1 else f"{native}:{seen[native]}"
            person_by_id |= dict.fromkeys((native, f"urn:uuid:{native}"), (contact.name, contact.person_id))
            if contact.relations:
                contacts_with_relations.append((native, contact))
            yield _contact(native, contact, card, unit)
    if empty:
        why = "the file holds no card (BEGIN:VCARD), and no table of contacts; export the contacts again"
        yield Failure("", "no_cards", why, whole_unit=unit.size > 0)
    for native, contact in contacts_with_relations:
        yield from _relationships(native, contact, person_by_id, unit, reading)


def recognise(file: Path) -> bool:
    """Whether a card begins in the first lines of the file, or a table has the columns of contacts."""
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    if _is_named_as_table(file):
        return is_table(head)
    return b"BEGIN:VCARD" in head.replace(b"\0", b"").upper()


def _is_named_as_table(file: Path) -> bool:
    return file.suffix.lower() == ".csv"


def _native(contact: Contact, reading: ReadContext) -> str:
    if contact.uid:
        return contact.uid.removeprefix("urn:uuid:")
    return reading.hash("\0".join([contact.name, *sorted(contact.phones), *sorted(contact.emails)]))


def _faults(card: VCard, contact: Contact) -> Iterator[Failure]:
    location = f"line {card.line}"
    if not card.has_end:
        why = "the card has no END:VCARD, the file may be cut off; what was read is kept, and nothing is deleted"
        yield Failure(location, "no_end", why, whole_unit=card.is_truncated)
    if card.bad_lines:
        why = f"{card.bad_lines} lines of the card are not properties (NAME:value); the others were read"
        yield Failure(location, "bad_line", why)
    if card.guessed_values:
        count = card.guessed_values
        why = f"{count} values of the card are not in UTF-8 and were read by a guess; save the file as UTF-8"
        yield Failure(location, "charset", why)
    if contact.bad:
        why = f"{', '.join(dict.fromkeys(contact.bad))} is not a whole number in its range and is left out"
        yield Failure(location, "bad_value", why)
    if contact.is_nobody:
        yield Failure(location, "no_name", "the card has no name, phone or address, so it is left out")


def _contact(native: str, contact: Contact, card: VCard, unit: Unit) -> Record:
    ts = _revision_time(contact.revised)
    identifiers = [*contact.aliases, *contact.phones, *contact.emails]
    about = {
        "aliases": contact.aliases,
        "phones": contact.phones,
        "emails": contact.emails,
        "addresses": contact.addresses,
    }
    about["notes"] = contact.notes
    extra: Json = {name: values for name, values in about.items() if values}
    if contact.facts:
        extra["facts"] = [{"predicate": predicate, "value": value} for predicate, value in contact.facts]
    return Record(
        source_id=native,
        text=_text(contact),
        rag_source_type="contact",
        subject=contact.name,
        ts=ts,
        date_quality="none" if ts is None else "modified",
        content_type="text/vcard",
        locations=[f"{unit.path}#L{card.line}"],
        people=[
            NamedPerson("owner", identifier, contact.person_id)
            for identifier in dict.fromkeys([contact.name, *identifiers])
        ],
        extra=extra,
    )


def _text(contact: Contact) -> str:
    """Names, notes and one line per fact, so that a search for a fact matches the card."""
    names = f"{contact.name} ({', '.join(contact.aliases)})" if contact.aliases else contact.name
    lines = [names, *contact.notes]
    lines += [f"{predicate.replace('_', ' ')}: {value}" for predicate, value in contact.facts]
    lines += [f"address: {address}" for address in contact.addresses if ("lives_in", address) not in contact.facts]
    lines += [f"phone: {phone}" for phone in contact.phones]
    lines += [f"email: {email}" for email in contact.emails]
    return "\n".join(lines)


def _relationships(
    native: str,
    contact: Contact,
    person_by_id: dict[str, tuple[str, int | None]],
    unit: Unit,
    reading: ReadContext,
) -> Iterator[Record]:
    """One record per relation of a card; `person_by_id` has name and person id of each card of the file."""
    seen: Counter[str] = Counter()
    by_name = {name: (name, person_id) for name, person_id in person_by_id.values()}
    for relation in contact.relations:
        name, person_id = person_by_id.get(relation.to) or by_name.get(relation.to) or (relation.to, None)
        target = relation.to.removeprefix("urn:uuid:") if relation.to in person_by_id else reading.hash(relation.to)
        source_id = f"{native}:{relation.type}:{target}"
        seen[source_id] += 1
        yield _relationship(
            source_id if seen[source_id] == 1 else f"{source_id}:{seen[source_id]}",
            contact,
            relation,
            name,
            person_id,
            unit,
        )


def _relationship(
    source_id: str, contact: Contact, relation: ContactRelation, name: str, person_id: int | None, unit: Unit
) -> Record:
    sentences = [part.rstrip(".") for part in (relation.description, *relation.notes) if part]
    about = {"from_person_id": contact.person_id, "to_person_id": person_id, "relationship_type": relation.type}
    about |= {"from_name": contact.name, "to_name": name} if None in (contact.person_id, person_id) else {}
    about |= {"description": relation.description, "attitude": relation.attitude, "proximity": relation.proximity}
    return Record(
        source_id=source_id,
        text="".join(f"{part}. " for part in sentences).strip()
        or f"{name}: {relation.type.replace('_', ' ')} of {contact.name}",
        rag_source_type="relationship",
        subject=f"{contact.name} - {name}",
        date_quality="none",
        locations=[unit.path],
        people=[NamedPerson("mentioned", contact.name, contact.person_id), NamedPerson("mentioned", name, person_id)],
        extra={"relationship": about | {"notes": relation.notes}},
    )


def _revision_time(revised: str | None) -> int | None:
    if not revised:
        return None
    try:
        at = datetime.fromisoformat(revised.strip())
    except ValueError:
        return None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
