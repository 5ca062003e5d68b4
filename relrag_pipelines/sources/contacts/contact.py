"""The person on a card: names, phones and addresses, facts, relations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from relrag_pipelines.sources.contacts.vcard import Property, VCard

PINNED = "X-RELRAG-PERSON-ID"
FACT = "X-RELRAG-FACT"
DESCRIPTION, ATTITUDE, PROXIMITY, NOTE = (
    f"X-RELRAG-{name}" for name in ("DESCRIPTION", "ATTITUDE", "PROXIMITY", "NOTE")
)

_DATE = re.compile(r"(?:(\d{4})|--)-?(\d\d)-?(\d\d)(?:T.*)?")
_NO_YEAR = ("1604",)
"""years that Apple writes where it knows none"""
_APPLE_LABEL = re.compile(r"_\$!<(.*)>!\$_")
_ANDROID = "vnd.android.cursor.item/"
_ANDROID_RELATIONS = {
    "1": "assistant", "2": "sibling", "3": "child", "4": "partner", "5": "parent", "6": "friend", "7": "manager",
    "8": "parent", "9": "parent", "10": "partner", "11": "referred_by", "12": "relative", "13": "sibling",
    "14": "spouse",
}  # fmt: skip
_NAMED_RELATIONS = {"X-SPOUSE": "spouse", "X-EVOLUTION-SPOUSE": "spouse", "X-MANAGER": "manager"}
_NAMED_RELATIONS |= {"X-EVOLUTION-MANAGER": "manager", "X-ASSISTANT": "assistant", "X-EVOLUTION-ASSISTANT": "assistant"}
_OF_ANY_PROPERTY = frozenset({"pref", "home", "work", "other"})
_VAGUE = frozenset({"contact", "acquaintance", "agent", "emergency"})
"""types of RELATED (RFC 6350, section 6.6.6) beside which another tells more"""
_FACTS = {"BDAY": "birthday", "ANNIVERSARY": "anniversary", "X-ANNIVERSARY": "anniversary", "TITLE": "occupation"}
_FACTS |= {"ROLE": "role", "URL": "url", "GENDER": "gender", "LANG": "language", "DEATHDATE": "died"}
_DATES = ("birthday", "anniversary", "died")


@dataclass
class ContactRelation:
    """Somebody to whom a card says its person is related."""

    to: str
    """a UID, or a name"""
    type: str
    """mentor, spouse, child ...: what the other one is to the person of the card"""
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
    """properties whose value does not fit"""

    @property
    def is_nobody(self) -> bool:
        """Whether the card has neither a name nor a way to reach anybody."""
        return not (self.name or self.phones or self.emails)


def person(card: VCard) -> Contact:
    """The contact on a card; unknown properties are ignored."""
    found = Contact("")
    names = [" ".join(one.text.split()) for one in card.properties if one.name == "FN"]
    labels = {one.group: _label(one.value) for one in card.properties if one.name == "X-ABLABEL" and one.group}
    for one in card.properties:
        _add_property(found, one, labels)
    found.relations = list(_relations(card, labels, found))
    structured = [_in_order(one.parts) for one in card.properties if one.name == "N"]
    company = [", ".join(part for part in one.parts if part) for one in card.properties if one.name == "ORG"]
    candidates = [name for name in (*names, *structured, *found.aliases, *company) if name]
    found.name = candidates[0] if candidates else next(iter([*found.emails, *found.phones]), "")
    found.aliases = [one for one in dict.fromkeys([*names, *structured, *found.aliases]) if one and one != found.name]
    return found


def _add_property(found: Contact, one: Property, labels: dict[str, str]) -> None:
    text = one.text.strip()
    if not text:
        return
    if one.name == "UID":
        found.uid = text
    elif one.name == PINNED:
        if text.isascii() and text.isdigit() and int(text) < 2**63:
            found.person_id = int(text)
        else:
            found.bad.append(one.name)
    elif one.name == "NICKNAME":
        found.aliases += [part.strip() for part in re.split(r"(?<!\\),", one.value) if part.strip()]
    elif one.name == "TEL":
        found.phones.append(re.sub(r";ext=.*", "", text.removeprefix("tel:"), flags=re.IGNORECASE))
    elif one.name == "EMAIL":
        found.emails.append(text.removeprefix("mailto:"))
    elif one.name == "ADR":
        _address(found, one)
    elif one.name == "ORG":
        found.facts.append(("works_at", ", ".join(part for part in one.parts if part)))
    elif one.name == "NOTE":
        found.notes.append(text)
    elif one.name == "REV":
        found.revised = text
    elif one.name == FACT:
        found.facts.append((one.parameters.get("PREDICATE", "fact").lower(), text))
    elif one.name == "X-ABDATE":
        found.facts.append((labels.get(one.group, "date"), _date(text, one)))
    elif one.name == "X-ANDROID-CUSTOM" and text.startswith(f"{_ANDROID}nickname"):
        found.aliases += [part for part in one.parts[1:2] if part]
    elif predicate := _FACTS.get(one.name):
        found.facts.append((predicate, _date(text, one) if predicate in _DATES else text))


def _address(found: Contact, one: Property) -> None:
    """The address on one line; where somebody lives is the town of one that is not for work."""
    box, extended, street, town, region, code, country = (one.parts + [""] * 7)[:7]
    whole = [street, extended, box, f"{code} {town}".strip(), region, country]
    found.addresses.append(", ".join(" ".join(part.split()) for part in whole if part.strip()))
    if town and "work" not in one.types:
        found.facts.append(("lives_in", " ".join(town.split())))


def _relations(card: VCard, labels: dict[str, str], found: Contact) -> Iterator[ContactRelation]:
    for one in card.properties:
        text = one.text.strip()
        if not text:
            continue
        if one.name == "RELATED":
            yield _describe_relation(card, ContactRelation(text, _related_as(one)), one.group, found)
        elif one.name == "X-ABRELATEDNAMES":
            yield ContactRelation(text, _type(labels.get(one.group) or _related_as(one)))
        elif one.name in _NAMED_RELATIONS:
            yield ContactRelation(text, _NAMED_RELATIONS[one.name])
        elif one.name == "X-ANDROID-CUSTOM" and text.startswith(f"{_ANDROID}relation"):
            _, name, kind, *label = [*one.parts, "", ""]
            yield ContactRelation(name, _ANDROID_RELATIONS.get(kind) or _type(label[0] or "related"))


def _related_as(one: Property) -> str:
    """The most specific type: `spouse` of `pref,emergency,spouse`."""
    types = [type_ for type_ in one.types if type_ not in _OF_ANY_PROPERTY]
    return _type(min(types, key=_VAGUE.__contains__, default="related"))


def _describe_relation(card: VCard, relation: ContactRelation, group: str, found: Contact) -> ContactRelation:
    """The relation with what the properties of its group say of it."""
    for one in card.properties if group else ():
        if one.group != group:
            continue
        text = one.text.strip()
        if one.name == DESCRIPTION:
            relation.description = text
        elif one.name == NOTE:
            relation.notes.append(text)
        elif one.name in (ATTITUDE, PROXIMITY):
            if text in ("1", "2", "3", "4", "5"):
                setattr(relation, one.name.rpartition("-")[2].lower(), int(text))
            else:
                found.bad.append(one.name)
    return relation


def _type(written: str) -> str:
    return re.sub(r"[^\w]+", "_", written.lower().removeprefix("x-")).strip("_") or "related"


def _label(value: str) -> str:
    match = _APPLE_LABEL.fullmatch(value.strip())
    return _type(match[1] if match else value)


def _in_order(parts: list[str]) -> str:
    """`Rubin;Alex;;Dr.;` as `Dr. Alex Rubin`."""
    family, given, middle, before, after = (parts + [""] * 5)[:5]
    return " ".join(" ".join([before, given, middle, family, after]).split())


def _date(text: str, one: Property) -> str:
    """ISO 8601; without a year if the card has none: 06-14."""
    match = _DATE.fullmatch(text)
    if not match:
        return text
    year, month, day = match.groups()
    unknown = one.parameters.get("X-APPLE-OMIT-YEAR", *_NO_YEAR) == year
    return f"{month}-{day}" if not year or unknown else f"{year}-{month}-{day}"
