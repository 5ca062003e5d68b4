"""Resolves the people whom a question means: by name, in any script, or by relation, step by step.

Nothing is guessed: if it is not certain who is meant there are several people, and if nobody is known, none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from relrag_pipelines.identity import lookup
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.text import kinship
from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.names.likeness import name_likeness
from relrag_pipelines.text.names.personal_name import WrittenName
from relrag_pipelines.text.names.spelling import same, script
from relrag_query.people.indexed_person import IndexedPerson, PeopleError
from relrag_query.people.kin_words import KinWord
from relrag_query.people.people import People
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.relatives import Reference, find_relative, relative_of
from relrag_query.understanding.phrases import load_phrases

_MAX_REFERENCES = 8
"""names, or kin terms, of a question about people; one with more is a list, or a text"""
_MIN_PREFIXED_LETTERS = 4
"""a shorter word has no prefixed letter"""


def references(words: QuestionWords, *, implied: bool = False) -> Iterator[Reference]:
    """The people whom a question may mean, the likeliest first: by names as written, by sound, then strangers.

    `the architect` is the owner's; with `implied`, `the mother` too.
    """
    if max(len(words.mentions), len(words.kin_words)) > _MAX_REFERENCES:
        return
    by_name = [_mention_reference(words, mention) for mention in words.mentions]
    if (reference := _reference(words, by_name, implied=implied)) is not None:
        yield reference
    if by_name:
        return
    for name in (*_by_sound(words), *_strangers(words)):
        reference = _reference(words, [name], implied=implied)
        if reference is not None and (_is_meant(reference) or words.is_name((reference.start, reference.end))):
            yield reference


def _is_meant(reference: Reference) -> bool:
    return bool(reference.people or reference.relative_facts or reference.unknown)


def one_person(typed: str, people: People) -> IndexedPerson:
    """The only person whom a name or a relationship to the owner (`my brother`) means.

    Raises PeopleError, which lists the choices.
    """
    try:
        return people.find_one(typed)
    except PeopleError:
        reference = next(references(QuestionWords(typed, people), implied=True), None)
        if reference is None or len(reference.people) != 1 or reference.ambiguous or not reference.relations:
            raise
        return people.by_id(reference.people)[reference.people[0]]


def _mention_reference(words: QuestionWords, mention: Mention) -> Reference:
    """The bearers of a name; for a given name alone, also different people who bear it in another script."""
    ids = list(mention.person_ids)
    if " " not in words.text[mention.start : mention.end]:
        ids += _bearers_in_other_scripts(ids, words.people)
    return Reference(mention.start, mention.end, ids, ambiguous=len(ids) > 1)


def _bearers_in_other_scripts(ids: list[int], people: People) -> list[int]:
    """Other people whose given name sounds alike and whose whole name is none of these people's."""
    whole_names = _whole_names(people.by_id(ids).values())
    givens = {name.words[0] for name in whole_names}
    bearers = people.name_bearers(" ".join(givens).title(), is_name=True) if givens else {}
    others = {person_id: _whole_names([person]) for person_id, person in bearers.items() if person_id not in ids}
    return [
        person_id
        for person_id, names in others.items()
        if any(same(name.words[0], given) for name in names for given in givens)
        and not any(name_likeness(other, name).score for other in names for name in whole_names)
    ]


def _whole_names(people: Iterable[IndexedPerson]) -> list[WrittenName]:
    return [name for person in people for name in person.resolved_person.names if len(name.words) > 1]


def _reference(words: QuestionWords, names: list[Reference], *, implied: bool) -> Reference | None:
    """The people whom names and kin terms mean together: `the wife of my brother`; None if that is not clear."""
    resolved, pending = _resolve_relatives(words, names)
    for word in pending:
        for reference in resolved:
            if words.plain[word.end : reference.start] == " ":  # a title before a name: `doktora Beneše`
                reference.start = word.start
    if not resolved and len(pending) == 1 and (implied or pending[0].type in kinship.ROLES):
        (word,) = pending
        resolved = [relative_of(words.people.owner, word.start, word.end, word, words.people)]
    if not resolved and not pending:
        resolved = [*_own_family(words)]
    return resolved[0] if len(resolved) == 1 else None


def _resolve_relatives(words: QuestionWords, names: list[Reference]) -> tuple[list[Reference], list[KinWord]]:
    """The references after each kin term that belongs to one was followed, and the kin terms that are left."""
    pending = [word for word in words.kin_words if all(_are_apart(word, name) for name in names)]
    resolved = names
    while step := _first_relative(words, pending, resolved):
        word, relative = step
        pending.remove(word)
        resolved = [*(other for other in resolved if _are_apart(other, relative)), relative]
    return resolved, pending


def _are_apart(span: KinWord | Reference, other: Reference) -> bool:
    """Whether no character belongs to both."""
    return span.end <= other.start or span.start >= other.end


def _first_relative(
    words: QuestionWords, pending: Iterable[KinWord], resolved: list[Reference]
) -> tuple[KinWord, Reference] | None:
    """The first kin term that belongs to a reference, and whom both mean; None if none does."""
    steps = ((word, find_relative(words, word, resolved)) for word in pending)
    return next(((word, relative) for word, relative in steps if relative is not None), None)


def _scripts(persons: Iterable[ResolvedPerson]) -> set[str]:
    """The scripts in which names of these people are written."""
    return {script(written.full) for person in persons for written in person.names}


def _by_sound(words: QuestionWords) -> Iterator[Reference]:
    """People who may be meant by a name in another script, or in another spelling."""
    written_names = {span: words.text[slice(*span)] for span in words.name_spans}
    spellings = {span: [name, *_strip_prefix(name)] for span, name in written_names.items()}
    every_name = " ".join(dict.fromkeys(itertools.chain.from_iterable(spellings.values())))
    bearers = words.people.name_bearers(every_name) if spellings else {}
    resolved = {person_id: person.resolved_person for person_id, person in bearers.items()}
    for (start, end), names in spellings.items():
        for name in names:
            if ids := lookup.candidates(resolved, name):
                scripts = _scripts(resolved[person_id] for person_id in ids)
                yield Reference(start, end, ids, ambiguous=len(ids) > 1 or script(name) in scripts)


def _strip_prefix(word: str) -> list[str]:
    """A word without a prefixed letter, of languages that write some words as one letter before the next."""
    return [word[1:]] if word[0] in PREFIXED and len(word) >= _MIN_PREFIXED_LETTERS else []


def _strangers(words: QuestionWords) -> Iterator[Reference]:
    """References to people without a record, with the facts that name them."""
    for start, end in words.name_spans:
        yield Reference(start, end, [], relative_facts=words.people.relative_facts(words.text[start:end]))


def _own_family(words: QuestionWords) -> Iterator[Reference]:
    """The owner, if a question speaks of `my family`."""
    phrases, plain = load_phrases(), words.plain
    if (owner := words.people.owner) is None:
        return
    for family in phrases.intent.family.finditer(plain):
        before = re.search(rf"(?<!\w)(?:{phrases.people.my})$", plain[: family.start()], re.IGNORECASE)
        after = re.match(rf"(?:{phrases.people.my_behind})(?!\w)", plain[family.end() :])
        if before:
            yield Reference(before.start(), family.start(), [owner])
        elif after:
            yield Reference(family.end(), family.end() + after.end(), [owner])
