"""The person on a card: names, phones and addresses, facts, relations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from relrag_pipelines.sources.contacts.vcard import Property, VCard

PINNED = "X-RELRAG-PERSON-ID"
FACT = "X-RELRAG-FACT"
DESCRIPTION, ATTITUDE, PROXIMITY, NOTE = (
    f"X-RELRAG-{name}" for name in ("DESCRIPTION", "ATTITUDE", "PROXIMITY", "NOTE")
)

_DATE = re.compile(r"(?:(\d{4})|--)-?(\d\d)-?(\d\d)(?:T.*)?")
_NO_YEAR = ("1604",)
"""years that Apple writes in dates without a year"""
_APPLE_LABEL = re.compile(r"_\$!<(.*)>!\$_")
_ANDROID = "vnd.android.cursor.item/"
_ANDROID_RELATIONS = {
    "1": "assistant", "2": "sibling", "3": "child", "4": "partner", "5": "parent", "6": "friend", "7": "manager",
    "8": "parent", "9": "parent", "10": "partner", "11": "referred_by", "12": "relative", "13": "sibling",
    "14": "spouse",
}  # fmt: skip
_NAMED_RELATIONS = {"X-SPOUSE": "spouse", "X-EVOLUTION-SPOUSE": "spouse", "X-MANAGER": "manager"}
_NAMED_RELATIONS |= {"X-EVOLUTION-MANAGER": "manager", "X-ASSISTANT": "assistant", "X-EVOLUTION-ASSISTANT": "assistant"}
_LOCATION_TYPES = frozenset({"pref", "home", "work", "other"})
_VAGUE = frozenset({"contact", "acquaintance", "agent", "emergency"})
"""types of RELATED (RFC 6350, section 6.6.6) that yield to any more specific type"""
_FACTS = {"BDAY": "birthday", "ANNIVERSARY": "anniversary", "X-ANNIVERSARY": "anniversary", "TITLE": "occupation"}
_FACTS |= {"ROLE": "role", "URL": "url", "GENDER": "gender", "LANG": "language", "DEATHDATE": "died"}
_DATES = ("birthday", "anniversary", "died")


@dataclass
class ContactRelation:
    """A relation that a card states between its person and another."""

    to: str
    """a UID, or a name"""
    type: str
    """role of the other person towards the person of the card: mentor, spouse, child ..."""
    description: str | None = None
    attitude: int | None = None
    """1 (very negative) to 5 (very positive)"""
    proximity: int | None = None
    """1 (distant) to 5 (very close)"""
    notes: list[str] = field(default_factory=list)


@dataclass
class Contact:
    """One contact."""

    name: str
    uid: str | None = None
    person_id: int | None = None
    aliases: list[str] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    """predicate and value, such as birthday 1986-05-02, or 06-14 without a year"""
    notes: list[str] = field(default_factory=list)
    relations: list[ContactRelation] = field(default_factory=list)
    revised: str | None = None
    bad: list[str] = field(default_factory=list)
    """properties with invalid values"""

    @property
    def is_nobody(self) -> bool:
        """Whether the card has neither a name nor a way to reach anybody."""
        return not (self.name or self.phones or self.emails)


def person(card: VCard) -> Contact:
    """The contact on a card; unknown properties are ignored."""
    contact = Contact("")
    names = [" ".join(property_.text.split()) for property_ in card.properties if property_.name == "FN"]
    labels = {
        property_.group: _label(property_.value)
        for property_ in card.properties
        if property_.name == "X-ABLABEL" and property_.group
    }
    for property_ in card.properties:
        _add_property(contact, property_, labels)
    contact.relations = list(_relations(card, labels, contact))
    structured = [_in_order(property_.parts) for property_ in card.properties if property_.name == "N"]
    companies = [_joined_parts(property_) for property_ in card.properties if property_.name == "ORG"]
    _set_names(contact, [*names, *structured], companies)
    return contact


def _set_names(contact: Contact, names: list[str], companies: list[str]) -> None:
    """Chooses the contact's name (own name, alias, company, address or phone) and keeps its other names as aliases."""
    names = [*names, *contact.aliases]
    contact.name = next(filter(None, [*names, *companies]), "") or next(iter([*contact.emails, *contact.phones]), "")
    contact.aliases = [name for name in dict.fromkeys(names) if name and name != contact.name]


def _add_property(contact: Contact, property_: Property, labels: dict[str, str]) -> None:
    """Adds the value of a property to the contact; relations are read elsewhere."""
    text = property_.text.strip()
    if not text:
        return
    if add := _ADDERS.get(property_.name):
        add(contact, property_, text)
    elif property_.name == "X-ABDATE":
        contact.facts.append((labels.get(property_.group, "date"), _date(text, property_)))
    elif property_.name == "X-ANDROID-CUSTOM" and text.startswith(f"{_ANDROID}nickname"):
        contact.aliases += [part for part in property_.parts[1:2] if part]
    elif predicate := _FACTS.get(property_.name):
        contact.facts.append((predicate, _date(text, property_) if predicate in _DATES else text))


def _add_uid(contact: Contact, property_: Property, text: str) -> None:
    contact.uid = text


def _add_person_id(contact: Contact, property_: Property, text: str) -> None:
    if text.isascii() and text.isdigit() and int(text) < 2**63:
        contact.person_id = int(text)
    else:
        contact.bad.append(property_.name)


def _add_nicknames(contact: Contact, property_: Property, text: str) -> None:
    parts = (part.strip() for part in re.split(r"(?<!\\),", property_.value))
    contact.aliases += [part for part in parts if part]


def _add_phone(contact: Contact, property_: Property, text: str) -> None:
    contact.phones.append(re.sub(r";ext=.*", "", text.removeprefix("tel:"), flags=re.IGNORECASE))


def _add_email(contact: Contact, property_: Property, text: str) -> None:
    contact.emails.append(text.removeprefix("mailto:"))


def _add_address(contact: Contact, property_: Property, text: str) -> None:
    """Adds the address on one line, and the town as a fact unless the address is for work."""
    box, extended, street, town, region, code, country = (property_.parts + [""] * 7)[:7]
    lines = [street, extended, box, f"{code} {town}".strip(), region, country]
    contact.addresses.append(", ".join(" ".join(line.split()) for line in lines if line.strip()))
    if town and "work" not in property_.types:
        contact.facts.append(("lives_in", " ".join(town.split())))


def _add_company(contact: Contact, property_: Property, text: str) -> None:
    contact.facts.append(("works_at", _joined_parts(property_)))


def _add_note(contact: Contact, property_: Property, text: str) -> None:
    contact.notes.append(text)


def _add_revision(contact: Contact, property_: Property, text: str) -> None:
    contact.revised = text


def _add_fact(contact: Contact, property_: Property, text: str) -> None:
    contact.facts.append((property_.parameters.get("PREDICATE", "fact").lower(), text))


_ADDERS: dict[str, Callable[[Contact, Property, str], None]] = {
    "UID": _add_uid,
    PINNED: _add_person_id,
    "NICKNAME": _add_nicknames,
    "TEL": _add_phone,
    "EMAIL": _add_email,
    "ADR": _add_address,
    "ORG": _add_company,
    "NOTE": _add_note,
    "REV": _add_revision,
    FACT: _add_fact,
}
"""property -> function that adds its text, which isn't empty, to a contact"""


def _joined_parts(property_: Property) -> str:
    """The parts of a property that aren't empty, joined by commas."""
    return ", ".join(part for part in property_.parts if part)


def _relations(card: VCard, labels: dict[str, str], contact: Contact) -> Iterator[ContactRelation]:
    """The relations of a card; invalid values are added to the contact's `bad`."""
    for property_ in card.properties:
        text = property_.text.strip()
        if not text:
            continue
        if property_.name == "RELATED":
            relation = ContactRelation(text, _relation_type(property_))
            yield _describe_relation(card, relation, property_.group, contact)
        elif property_.name == "X-ABRELATEDNAMES":
            yield ContactRelation(text, _type(labels.get(property_.group) or _relation_type(property_)))
        elif property_.name in _NAMED_RELATIONS:
            yield ContactRelation(text, _NAMED_RELATIONS[property_.name])
        elif property_.name == "X-ANDROID-CUSTOM" and text.startswith(f"{_ANDROID}relation"):
            _, name, kind, *label = [*property_.parts, "", ""]
            yield ContactRelation(name, _ANDROID_RELATIONS.get(kind) or _type(label[0] or "related"))


def _relation_type(property_: Property) -> str:
    """The most specific type: `spouse` of `pref,emergency,spouse`."""
    types = [type_ for type_ in property_.types if type_ not in _LOCATION_TYPES]
    return _type(min(types, key=_VAGUE.__contains__, default="related"))


def _describe_relation(card: VCard, relation: ContactRelation, group: str, contact: Contact) -> ContactRelation:
    """Adds the description, notes and scores in the properties of a group to the relation, and returns it."""
    for property_ in card.properties if group else ():
        if property_.group != group:
            continue
        text = property_.text.strip()
        if property_.name == DESCRIPTION:
            relation.description = text
        elif property_.name == NOTE:
            relation.notes.append(text)
        elif property_.name in (ATTITUDE, PROXIMITY):
            if text in ("1", "2", "3", "4", "5"):
                setattr(relation, property_.name.rpartition("-")[2].lower(), int(text))
            else:
                contact.bad.append(property_.name)
    return relation


def _type(text: str) -> str:
    return re.sub(r"[^\w]+", "_", text.lower().removeprefix("x-")).strip("_") or "related"


def _label(value: str) -> str:
    match = _APPLE_LABEL.fullmatch(value.strip())
    return _type(match[1] if match else value)


def _in_order(parts: list[str]) -> str:
    """`Rubin;Alex;;Dr.;` as `Dr. Alex Rubin`."""
    family_name, given_name, middle_names, prefixes, suffixes = (parts + [""] * 5)[:5]
    return " ".join(" ".join([prefixes, given_name, middle_names, family_name, suffixes]).split())


def _date(text: str, property_: Property) -> str:
    """ISO 8601; without a year if the card has none: 06-14."""
    match = _DATE.fullmatch(text)
    if not match:
        return text
    year, month, day = match.groups()
    year_omitted = property_.parameters.get("X-APPLE-OMIT-YEAR", *_NO_YEAR) == year
    return f"{month}-{day}" if not year or year_omitted else f"{year}-{month}-{day}"
