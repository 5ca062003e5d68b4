"""Finds whose a phone number or an e-mail address is, by its keyed value, redacted or not."""

from __future__ import annotations

from collections.abc import Callable

from relrag_pipelines.identity.participants import parse_identifiers
from relrag_query.people.people import People
from relrag_query.people.questions import PeopleQuestion, has_only_fillers
from relrag_query.understanding.phrases import bare, load_phrases

IdentifierKey = Callable[[str, str], str]
"""kind and normalised value of an identifier -> its keyed value, as in identifiers"""

UNKNOWN_OWNER = "number or address"
"""`unknown` of a question about one that no record says the owner of"""


def read(question: str, people: People, keyed: IdentifierKey, regions: tuple[str, ...] = ()) -> PeopleQuestion | None:
    """Who has the number or address that a question asks about; None where it asks something else.

    Nobody where no record says whose it is. A number that two people use names both. `regions` are the countries that
    a number without a code may be of.
    """
    said = load_phrases().people
    found = [one for one in parse_identifiers(question, regions=regions) if one.kind != "name"]
    if len(found) != 1 or not said.reached.search(bare(question)):
        return None
    rest = bare(question.replace(found[0].value, " "))
    for phrase in (said.reached, said.who, said.email, said.phone):
        rest = phrase.sub(" ", rest)
    if not has_only_fillers(rest):
        return None
    ids = people.owners_of_identifier(found[0].kind, keyed(found[0].kind, found[0].normalised), found[0].value)
    return PeopleQuestion("who", ids, ambiguous=len(ids) > 1, unknown="" if ids else UNKNOWN_OWNER)
