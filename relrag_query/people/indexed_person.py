"""A person with all names, and the error for a name that does not tell who is meant."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from relrag_pipelines.errors import RelragError
from relrag_pipelines.identity.entries import Claim, NamingEntry
from relrag_pipelines.identity.resolve import ResolvedPerson

_DIGITS = 18
"""of an id at most"""


class PeopleError(RelragError):
    """Nobody, or not one person alone, is meant; the message says who might be."""

    stored = "a name does not tell who is meant"


class WrongType(PeopleError):
    """No relationship is of that type; the message says what was meant."""


@dataclass
class IndexedPerson:
    """A person with the names that he is known by."""

    person_id: int
    name: str
    is_owner: bool = False
    aliases: list[dict[str, Any]] = field(default_factory=list)
    """alias, script, kind, keyed, stated: rows of person_aliases"""

    @functools.cached_property
    def resolved_person(self) -> ResolvedPerson:
        """As names are compared."""
        claims = tuple(Claim(one["kind"], one["alias"], one["keyed"], False) for one in self.aliases)
        entry = NamingEntry("", "", any(one["stated"] for one in self.aliases), claims, None, 0)
        return ResolvedPerson(self.person_id, self.name, [entry], [], sorted(entry.written_names))


def is_number(typed: str) -> bool:
    """Whether a text may be the id of a person, which is a BIGINT of the database."""
    return typed.isascii() and typed.isdigit() and len(typed) <= _DIGITS
