"""Organisers and attendees of events, as Outlook, Google, Apple, Exchange and Lotus write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from icalendar.parser.property import unescape_backslash

from relrag_pipelines.sources.formats.calendar.content_lines import Property
from relrag_pipelines.sources.formats.text_cleaning import clean

_LETTER = r"[^\s<>()\[\],;:\"'@]"
_ADDRESS = re.compile(rf"(?<!{_LETTER}){_LETTER}+@{_LETTER}+")
_NEXT = re.compile(r"[,;]\s*(?=(?:mailto:|[^\s,;]+@))", re.IGNORECASE)
"""separator between the addresses of a list on one line"""


@dataclass(frozen=True)
class Person:
    """An organiser or attendee; name or address may be empty, but not both."""

    name: str = ""
    address: str = ""
    """mail address, lower case"""

    @property
    def full(self) -> str:
        """`Name <address>`, or whichever of the two exists."""
        return f"{self.name} <{self.address}>" if self.name and self.address else self.name or self.address


def read_people(property_: Property) -> Iterator[Person]:
    """The people of an ORGANIZER or ATTENDEE property: usually one, several for a list, none if it names nobody."""
    name = _name(property_.parameters.get("CN", ""))
    values = _NEXT.split(property_.text)
    if len(values) > 1:
        yield from (person for value in values if (person := _person("", value)))
        return
    declared = property_.parameters.get("EMAIL", "")  # Apple: the value is a path on its server
    person = _person(name, property_.text) or _person(name, declared)
    if person and not person.address and (match := _ADDRESS.search(declared)):
        person = Person(person.name, match[0].lower())
    if person:
        yield person


def without_repeats(people: Iterable[Person]) -> tuple[Person, ...]:
    """The people in order, without duplicates; a bare address is dropped if somebody with a name has it."""
    distinct = list(dict.fromkeys(people))
    addresses_with_name = {person.address for person in distinct if person.name}
    return tuple(person for person in distinct if person.name or person.address not in addresses_with_name)


def _person(name: str, value: str) -> Person | None:
    """`mailto:a@b.org`, `a@b.org`, or `Jana <a@b.org>` from vCalendar 1.0; other values give no address."""
    match = _ADDRESS.search(re.sub("^mailto:", "", value.strip(), flags=re.IGNORECASE))
    address = match[0].lower() if match else ""
    if match and not name and "<" in value:
        name = _name(value.partition("<")[0])
    if name.casefold() == address:
        name = ""
    return Person(name, address) if name or address else None


def _name(text: str) -> str:
    name = " ".join(clean(unescape_backslash(text)).split()).strip("\"'")
    return re.sub("^mailto:", "", name, flags=re.IGNORECASE).strip()
