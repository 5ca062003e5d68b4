"""A person with all names, and the error for a name that does not identify one person."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from relrag_pipelines.errors import RelragError
from relrag_pipelines.identity.entries import Claim, NamingEntry
from relrag_pipelines.identity.resolve import ResolvedPerson

_MAX_DIGITS = 18
"""digits of an id"""


class PeopleError(RelragError):
    """A name means nobody, or several people; the message lists them."""

    stored = "a name does not tell who is meant"


class SeveralPeople(PeopleError):
    """A name may mean several people."""

    person_ids: Sequence[int] = ()


class WrongType(PeopleError):
    """There is no such relationship type; the message names similar ones."""


@dataclass
class IndexedPerson:
    """A person with all aliases."""

    person_id: int
    name: str
    is_owner: bool = False
    aliases: list[dict[str, Any]] = field(default_factory=list)
    """alias, script, kind, keyed, stated: rows of person_aliases"""

    @functools.cached_property
    def resolved_person(self) -> ResolvedPerson:
        """The person in the form whose names can be compared."""
        claims = tuple(Claim(alias["kind"], alias["alias"], alias["keyed"], False) for alias in self.aliases)
        entry = NamingEntry("", "", any(alias["stated"] for alias in self.aliases), claims, None, 0)
        return ResolvedPerson(self.person_id, self.name, [entry], [], sorted(entry.written_names))


def is_number(typed: str) -> bool:
    """Whether a text may be the id of a person, which is a BIGINT in the database."""
    return typed.isascii() and typed.isdigit() and len(typed) <= _MAX_DIGITS
