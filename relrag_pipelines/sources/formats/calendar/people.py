"""Organisers and attendees of events, as Outlook, Google, Apple, Exchange and Lotus write them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from icalendar.parser.property import unescape_backslash

from relrag_pipelines.sources.formats.calendar.content_lines import Property
from relrag_pipelines.sources.formats.text_cleaning import clean

_LETTER = r"[^\s<>()\[\],;:\"'@]"
_ADDRESS = re.compile(rf"(?<!{_LETTER}){_LETTER}+@{_LETTER}+")
_MAILTO = re.compile("^mailto:", re.IGNORECASE)
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
    parameters = property_.parameters
    yield from _people(property_.value, parameters.get("CN", ""), parameters.get("EMAIL", ""))


@functools.lru_cache(4096)
def _people(value: str, common_name: str, declared: str) -> tuple[Person, ...]:
    """The people of a value, its CN and its EMAIL, where Apple writes the address: its value is a path on the server.

    The same people attend many events of a calendar.
    """
    name, text = _name(common_name), Property("", {}, value).text
    values = _NEXT.split(text)
    if len(values) > 1:
        return tuple(person for value in values if (person := _person("", value)))
    person = _person(name, text) or _person(name, declared)
    if person and not person.address and (match := _ADDRESS.search(declared)):
        person = Person(person.name, match[0].lower())
    return (person,) if person else ()


def without_repeats(people: Iterable[Person]) -> tuple[Person, ...]:
    """The people in order, without duplicates; a bare address is dropped if somebody with a name has it."""
    distinct = list(dict.fromkeys(people))
    addresses_with_name = {person.address for person in distinct if person.name}
    return tuple(person for person in distinct if person.name or person.address not in addresses_with_name)


def _person(name: str, value: str) -> Person | None:
    """`mailto:a@b.org`, `a@b.org`, or `Jana <a@b.org>` from vCalendar 1.0; other values give no address."""
    match = _ADDRESS.search(_MAILTO.sub("", value.strip()))
    address = match[0].lower() if match else ""
    if match and not name and "<" in value:
        name = _name(value.partition("<")[0])
    if name.casefold() == address:
        name = ""
    return Person(name, address) if name or address else None


def _name(text: str) -> str:
    plain = unescape_backslash(text) if "\\" in text else text
    name = " ".join(clean(plain).split()).strip("\"'")
    return _MAILTO.sub("", name).strip()
