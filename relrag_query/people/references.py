"""Resolves the people whom a question means: by name, in any script, or by relation, step by step.

Nothing is guessed: if it is not certain who is meant there are several people, and if nobody is known, none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from relrag_pipelines.identity import lookup
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text import kinship
from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import as_given, inflections, words
from relrag_pipelines.text.names.likeness import name_likeness
from relrag_pipelines.text.names.personal_name import WrittenName
from relrag_pipelines.text.names.spelling import same, script
from relrag_query.people.indexed_person import IndexedPerson, PeopleError
from relrag_query.people.kin_words import KinWord, kin_words
from relrag_query.people.people import People
from relrag_query.people.relatives import Reference, find_relative, relative_of
from relrag_query.understanding.phrases import bare, load_phrases

_MAX_QUESTION_WORDS = 12
"""a longer question is not searched for names of other scripts"""
_MAX_NAME_WORDS = 3
"""words of a name in another script"""
_MAX_REFERENCES = 8
"""names, or kin terms, of a question about people; one with more is a list, or a text"""
_MIN_PREFIXED_LETTERS = 4
"""a shorter word has no prefixed letter"""


def references(question: str, people: People, *, implied: bool = False) -> Iterator[Reference]:
    """The people whom a question may mean, the likeliest first: by names as written, by sound, then strangers.

    `the architect` is the owner's; with `implied`, `the mother` too.
    """
    mentions = _mentions(question, people)
    if max(len(mentions), len(kin_words(question))) > _MAX_REFERENCES:
        return
    by_name = [_mention_reference(question, mention, people) for mention in mentions]
    if (reference := _reference(question, people, by_name, implied=implied)) is not None:
        yield reference
    if mentions:
        return
    for name in (*_by_sound(question, people), *_strangers(question, people)):
        reference = _reference(question, people, [name], implied=implied)
        if reference is None:
            continue
        if reference.people or reference.relative_facts or reference.unknown or _is_name(question, reference):
            yield reference


def one_person(typed: str, people: People) -> IndexedPerson:
    """The only person whom a name or a relationship to the owner (`my brother`) means.

    Raises PeopleError, which lists the choices.
    """
    try:
        return people.find_one(typed)
    except PeopleError:
        reference = next(references(typed, people, implied=True), None)
        if reference is None or len(reference.people) != 1 or reference.ambiguous or not reference.relations:
            raise
        return people.by_id(reference.people)[reference.people[0]]


def _mention_reference(question: str, mention: Mention, people: People) -> Reference:
    """The bearers of a name; for a given name alone, also different people who bear it in another script."""
    ids = list(mention.person_ids)
    whole_names = _whole_names(people.by_id(ids).values()) if " " not in question[mention.start : mention.end] else []
    givens = {name.words[0] for name in whole_names}
    bearers = people.name_bearers(" ".join(givens).title(), is_name=True) if givens else {}
    for person_id, person in bearers.items():
        others = _whole_names([person])
        sounds_alike = any(same(name.words[0], given) for name in others for given in givens)
        if person_id in ids or not sounds_alike:
            continue
        if not any(name_likeness(other, name).score for other in others for name in whole_names):
            ids.append(person_id)
    return Reference(mention.start, mention.end, ids, ambiguous=len(ids) > 1)


def _whole_names(people: Iterable[IndexedPerson]) -> list[WrittenName]:
    return [name for person in people for name in person.resolved_person.names if len(name.words) > 1]


def _reference(question: str, people: People, names: list[Reference], *, implied: bool) -> Reference | None:
    """The people whom names and kin terms mean together: `the wife of my brother`; None if that is not clear."""
    resolved, pending = _resolve_relatives(question, people, names)
    for word in pending:
        for reference in resolved:
            if bare(question)[word.end : reference.start] == " ":  # a title before a name: `doktora Beneše`
                reference.start = word.start
    if not resolved and len(pending) == 1 and (implied or pending[0].type in kinship.ROLES):
        (word,) = pending
        resolved = [relative_of(people.owner, word.start, word.end, word, people)]
    if not resolved and not pending:
        resolved = [*_own_family(question, people)]
    return resolved[0] if len(resolved) == 1 else None


def _resolve_relatives(question: str, people: People, names: list[Reference]) -> tuple[list[Reference], list[KinWord]]:
    """The references after each kin term that belongs to one was followed, and the kin terms that are left."""
    spans = [(name.start, name.end) for name in names]
    pending = [
        word for word in kin_words(question) if all(word.end <= start or word.start >= end for start, end in spans)
    ]
    resolved = names
    while pending:
        steps = ((word, find_relative(question, word, resolved, people)) for word in pending)
        step = next(((word, relative) for word, relative in steps if relative is not None), None)
        if step is None:
            break
        word, relative = step
        pending.remove(word)
        apart = [other for other in resolved if other.end <= relative.start or other.start >= relative.end]
        resolved = [*apart, relative]
    return resolved, pending


def _name_spans(question: str) -> Iterator[tuple[int, int]]:
    """Spans of words that may be names, the longest first: words without another meaning in a question."""
    matches = list(re.finditer(r"[^\W\d_]+", question))
    if len(matches) > _MAX_QUESTION_WORDS:
        return
    kin_terms, phrases = [word for word in kin_words(question) if not _is_given_name(question, word)], load_phrases()
    free = [
        bare(match[0]).casefold() not in phrases.people.fillers
        and match[0].casefold() not in phrases.term.asking  # `אמר` (he said) sounds like Amir
        and all(match.end() <= term.start or match.start() >= term.end for term in kin_terms)
        for match in matches
    ]
    for count in range(_MAX_NAME_WORDS, 0, -1):
        for first in range(len(matches) - count + 1):
            start, end = matches[first].start(), matches[first + count - 1].end()
            if all(free[first : first + count]) and not re.search(r"[^\w\s-]", question[start:end]):
                yield start, end


def _is_given_name(question: str, word: KinWord) -> bool:
    """Whether a kin term is a name: `של דוד` is of David, since an uncle would be `של הדוד`."""
    written = question[word.start : word.end]
    return question[: word.start].endswith("של ") and tables.plain(written) in tables.given_names()


def _by_sound(question: str, people: People) -> Iterator[Reference]:
    """People who may be meant by a name in another script, or in another spelling."""
    spans = list(_name_spans(question))
    spellings = [[question[start:end], *_strip_prefix(question[start:end])] for start, end in spans]
    every_name = " ".join(dict.fromkeys(name for names in spellings for name in names))
    bearers = people.name_bearers(every_name) if spellings else {}
    resolved = {person_id: person.resolved_person for person_id, person in bearers.items()}
    for (start, end), names in zip(spans, spellings, strict=True):
        for name in names:
            if ids := lookup.candidates(resolved, name):
                scripts = {script(written.full) for person_id in ids for written in resolved[person_id].names}
                yield Reference(start, end, ids, ambiguous=len(ids) > 1 or script(name) in scripts)


def _is_name(question: str, reference: Reference) -> bool:
    """Whether words that no known person is called by are a name: by a capital letter, or as a given name."""
    written = question[reference.start : reference.end]
    capital = reference.start > 0 and written[0].isupper()
    return capital or (tables.plain(written) in tables.given_names() and written not in tables.common())


def _strip_prefix(word: str) -> list[str]:
    """A Hebrew word without a prefixed letter."""
    return [word[1:]] if word[0] in PREFIXED and len(word) >= _MIN_PREFIXED_LETTERS else []


def _strangers(question: str, people: People) -> Iterator[Reference]:
    """References to people without a record, with the facts that name them."""
    for start, end in _name_spans(question):
        yield Reference(start, end, [], relative_facts=people.relative_facts(question[start:end]))


def _own_family(question: str, people: People) -> Iterator[Reference]:
    """The owner, if a question speaks of `my family`."""
    phrases, plain = load_phrases(), bare(question)
    if (owner := people.owner) is None:
        return
    for family in phrases.intent.family.finditer(plain):
        before = re.search(rf"(?<!\w)(?:{phrases.people.my})$", plain[: family.start()], re.IGNORECASE)
        after = re.match(rf"(?:{phrases.people.my_behind})(?!\w)", plain[family.end() :])
        if before:
            yield Reference(before.start(), family.start(), [owner])
        elif after:
            yield Reference(family.end(), family.end() + after.end(), [owner])


def names(question: str, people: People) -> Iterator[Mention]:
    """The names in a question, of known people and of others."""
    mentions = _mentions(question, people)
    yield from mentions
    for start, end in _name_spans(question):
        stranger = Reference(start, end, [])
        apart = all(end <= mention.start or start >= mention.end for mention in mentions)
        if " " not in question[start:end] and apart and _is_name(question, stranger):
            yield Mention(start, end, (), False)


def named_ids(question: str, people: People) -> list[int]:
    """The people whom a question may name, in the order of the names."""
    mentions = _mentions(question, people)
    return list(dict.fromkeys(person_id for mention in mentions for person_id in mention.person_ids))


def _mentions(question: str, people: People) -> list[Mention]:
    """The names in a question, in small letters too; common words only where they are used as names."""
    mentions = people.finder(question).find(question)
    if not mentions and question == question.lower():
        mentions = people.finder(question.title()).find(question.title())
    sure = [mention for mention in mentions if not mention.is_word or _is_possessed(question, mention)]
    if not sure and len(mentions) == 1:
        sure = [*mentions]
    return [_with_title(question, mention, people) for mention in sure]


def _with_title(question: str, name: Mention, people: People) -> Mention:
    """A family name with the title before it: `doktora Beneše` is no doctor of somebody named Beneš."""
    title = re.search(r"(\w+)\.? $", question[: name.start])
    if title is None or tables.plain(title[1]) not in tables.before_family_names():
        return name
    written = question[name.start : name.end]
    persons = people.by_id(name.person_ids).values()
    aliases = [words(row["alias"]) for person in persons for row in person.aliases]
    family_names = {alias_words[-1] for alias_words in aliases if len(alias_words) > 1}
    is_family_name = any(written in as_given(family) | inflections(family) for family in family_names)
    return name._replace(start=title.start()) if is_family_name else name


def _is_possessed(question: str, name: Mention) -> bool:
    """Whether a common word is in a position of a name: behind `of` at the end, or with a possessive ending."""
    before, after = question[: name.start], question[name.end :]
    of = load_phrases().people.of
    if re.search(rf"(?:{of})$", before) and re.fullmatch(r"\W*", after):
        return True
    return after.startswith(("'s ", "’s ")) or (" " in question[name.start : name.end])
