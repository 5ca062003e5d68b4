"""Finds the owner of a phone number or an e-mail address by its keyed value, which works in redacted archives too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relrag_pipelines.identity.participants import parse_identifiers
from relrag_query.people.question_words import QuestionWords, has_only_fillers
from relrag_query.understanding.people_question import UNKNOWN_OWNER, PeopleQuestion
from relrag_query.understanding.phrases import bare, load_phrases

IdentifierKey = Callable[[str, str], str]
"""kind and normalised value of an identifier -> its keyed value, as in identifiers"""


def read(words: QuestionWords, key_of: IdentifierKey, regions: Sequence[str]) -> PeopleQuestion | None:
    """The question for the owner of the number or address in it; None if the question asks something else.

    It has no people if no record states the owner, and all owners if there are several. `regions` are the countries
    of numbers without a country code.
    """
    phrases = load_phrases().people
    if not phrases.reached.search(words.plain):
        return None
    identifiers = [
        identifier for identifier in parse_identifiers(words.text, regions=tuple(regions)) if identifier.kind != "name"
    ]
    if len(identifiers) != 1:
        return None
    (identifier,) = identifiers
    rest = bare(words.text.replace(identifier.value, " "))
    for phrase in (phrases.reached, phrases.who, phrases.email, phrases.phone):
        rest = phrase.sub(" ", rest)
    if not has_only_fillers(rest):
        return None
    key = key_of(identifier.kind, identifier.normalised)
    ids = words.people.owners_of_identifier(identifier.kind, key, identifier.value)
    return PeopleQuestion("who", ids, ambiguous=len(ids) > 1, unknown="" if ids else UNKNOWN_OWNER)
