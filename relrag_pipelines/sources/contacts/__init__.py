"""Contacts: vCard files. One record per card, and one for each relation between two people.

A card is known by its UID, else by the keyed hash of its names, phones and addresses. `X-RELRAG-PERSON-ID` pins the id
of the person. Names in all scripts, phones and addresses stand in `people`, from which the identifiers are made;
`extra` holds aliases, facts and the relationship for the identity layer, in the form of examples/archive.

Properties of ours: X-RELRAG-PERSON-ID; X-RELRAG-FACT;PREDICATE=plays:piano; and in the group of a RELATED
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
from relrag_pipelines.sources.contacts.vcard import VCard, cards

__all__ = ["read", "recognise"]

_HEAD = 4096


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The cards in file order, then their relations, each preceded by the failures of its card."""
    seen: Counter[str] = Counter()
    known: dict[str, tuple[str, int | None]] = {}
    related: list[tuple[str, Contact]] = []
    empty = True
    with open_plain(unit.file) as file:
        for card in cards(file):
            empty = False
            found = person(card)
            yield from _faults(card, found)
            if found.is_nobody:
                continue
            native = _native(found, reading)
            if found.uid and native in seen:
                why = "an earlier card of the file has the same UID and counts; give each its own"
                yield Failure(f"line {card.line}", "duplicate_id", why)
                continue
            seen[native] += 1
            native = native if seen[native] == 1 else f"{native}:{seen[native]}"
            known |= dict.fromkeys((native, f"urn:uuid:{native}"), (found.name, found.person_id))
            if found.relations:
                related.append((native, found))
            yield _contact(native, found, card, unit)
    if empty:
        why = "the file holds no card (BEGIN:VCARD); export the contacts again"
        yield Failure("", "no_cards", why, whole_unit=unit.size > 0)
    for native, found in related:
        yield from _relationships(native, found, known, unit, reading)


def recognise(file: Path) -> bool:
    """Whether a card begins in the first lines of the file."""
    with open_plain(file) as opened:
        return b"BEGIN:VCARD" in opened.read(_HEAD).replace(b"\0", b"").upper()


def _native(found: Contact, reading: ReadContext) -> str:
    if found.uid:
        return found.uid.removeprefix("urn:uuid:")
    return reading.hash("\0".join([found.name, *sorted(found.phones), *sorted(found.emails)]))


def _faults(card: VCard, found: Contact) -> Iterator[Failure]:
    place = f"line {card.line}"
    if not card.has_end:
        why = "the card has no END:VCARD, the file may be cut off; what was read is kept, and nothing is deleted"
        yield Failure(place, "no_end", why, whole_unit=card.is_truncated)
    if card.bad_lines:
        why = f"{card.bad_lines} lines of the card are not properties (NAME:value); the others were read"
        yield Failure(place, "bad_line", why)
    if card.guessed_values:
        count = card.guessed_values
        why = f"{count} values of the card are not in UTF-8 and were read by a guess; save the file as UTF-8"
        yield Failure(place, "charset", why)
    if found.bad:
        why = f"{', '.join(dict.fromkeys(found.bad))} is not a whole number in its range and is left out"
        yield Failure(place, "bad_value", why)
    if found.is_nobody:
        yield Failure(place, "no_name", "the card has no name, phone or address, so it is left out")


def _contact(native: str, found: Contact, card: VCard, unit: Unit) -> Record:
    ts = _revision_time(found.revised)
    reached = [*found.aliases, *found.phones, *found.emails]
    about = {"aliases": found.aliases, "phones": found.phones, "emails": found.emails, "addresses": found.addresses}
    about["notes"] = found.notes
    extra: Json = {name: values for name, values in about.items() if values}
    if found.facts:
        extra["facts"] = [{"predicate": predicate, "value": value} for predicate, value in found.facts]
    return Record(
        source_id=native,
        text=_text(found),
        rag_source_type="contact",
        subject=found.name,
        ts=ts,
        date_quality="none" if ts is None else "modified",
        content_type="text/vcard",
        locations=[f"{unit.path}#L{card.line}"],
        people=[NamedPerson("owner", one, found.person_id) for one in dict.fromkeys([found.name, *reached])],
        extra=extra,
    )


def _text(found: Contact) -> str:
    """Names, notes, and a line per fact, so that questions about a fact find it."""
    lines = [f"{found.name} ({', '.join(found.aliases)})" if found.aliases else found.name, *found.notes]
    lines += [f"{predicate.replace('_', ' ')}: {value}" for predicate, value in found.facts]
    lines += [f"address: {one}" for one in found.addresses if ("lives_in", one) not in found.facts]
    lines += [f"phone: {one}" for one in found.phones] + [f"email: {one}" for one in found.emails]
    return "\n".join(lines)


def _relationships(
    native: str, found: Contact, known: dict[str, tuple[str, int | None]], unit: Unit, reading: ReadContext
) -> Iterator[Record]:
    seen: Counter[str] = Counter()
    by_name = {name: (name, person_id) for name, person_id in known.values()}
    for one in found.relations:
        name, person_id = known.get(one.to) or by_name.get(one.to) or (one.to, None)
        target = one.to.removeprefix("urn:uuid:") if one.to in known else reading.hash(one.to)
        source_id = f"{native}:{one.type}:{target}"
        seen[source_id] += 1
        yield _relationship(
            source_id if seen[source_id] == 1 else f"{source_id}:{seen[source_id]}", found, one, name, person_id, unit
        )


def _relationship(
    source_id: str, found: Contact, one: ContactRelation, name: str, person_id: int | None, unit: Unit
) -> Record:
    said = [part.rstrip(".") for part in (one.description, *one.notes) if part]
    about = {"from_person_id": found.person_id, "to_person_id": person_id, "relationship_type": one.type}
    about |= {"from_name": found.name, "to_name": name} if None in (found.person_id, person_id) else {}
    about |= {"description": one.description, "attitude": one.attitude, "proximity": one.proximity}
    return Record(
        source_id=source_id,
        text="".join(f"{part}. " for part in said).strip() or f"{name}: {one.type.replace('_', ' ')} of {found.name}",
        rag_source_type="relationship",
        subject=f"{found.name} - {name}",
        date_quality="none",
        locations=[unit.path],
        people=[NamedPerson("mentioned", found.name, found.person_id), NamedPerson("mentioned", name, person_id)],
        extra={"relationship": about | {"notes": one.notes}},
    )


def _revision_time(written: str | None) -> int | None:
    if not written:
        return None
    try:
        at = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
