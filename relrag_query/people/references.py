"""Resolves whom a question means: by name, in any script, or by relation, step by step.

Nothing is guessed: where it is not certain who is meant there are several, and where nobody is known to be it, nobody.
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

_MOST_WORDS = 12
"""words of a question in which names of other scripts are looked for"""
_LONGEST_NAME = 3
"""words of a name that is looked for so"""
_MOST_PEOPLE = 8
"""names, or words for relatives, of a question about people; one with more is a list, or a text"""
_SHORTEST_PREFIXED = 4
"""letters, of which the first may be a prefix"""


def references(question: str, people: People, *, implied: bool = False) -> Iterator[Reference]:
    """Whom a question may mean, the likeliest first: by names as they are written, by how they sound, of strangers.

    `the architect` is the owner's; with `implied`, `the mother` too.
    """
    mentions = _mentions(question, people)
    if max(len(mentions), len(kin_words(question))) > _MOST_PEOPLE:
        return
    found = [_of_mention(question, one, people) for one in mentions]
    if (one := _reference(question, people, found, implied=implied)) is not None:
        yield one
    if mentions:
        return
    for name in (*_by_sound(question, people), *_strangers(question, people)):
        one = _reference(question, people, [name], implied=implied)
        if one is not None and (one.people or one.relative_facts or one.unknown or _is_name(question, one)):
            yield one


def one_person(typed: str, people: People) -> IndexedPerson:
    """The one person who is meant by a name, or by what he is to the owner: `my brother`.

    Raises PeopleError, which offers the choices.
    """
    try:
        return people.one(typed)
    except PeopleError:
        found = next(references(typed, people, implied=True), None)
        if found is None or len(found.people) != 1 or found.ambiguous or not found.relations:
            raise
        return people.by_id(found.people)[found.people[0]]


def _of_mention(question: str, mention: Mention, people: People) -> Reference:
    """Who bears a name; of a given name alone also who bears it in another script and is certainly somebody else."""
    ids = list(mention.person_ids)
    borne = _whole_names(people.by_id(ids).values()) if " " not in question[mention.start : mention.end] else []
    givens = {name.words[0] for name in borne}
    known = people.name_bearers(" ".join(givens).title(), is_name=True) if givens else {}
    for one, person in known.items():
        others = _whole_names([person])
        sounds = any(same(name.words[0], given) for name in others for given in givens)
        if one not in ids and sounds and not any(name_likeness(a, b).score for a in others for b in borne):
            ids.append(one)
    return Reference(mention.start, mention.end, ids, ambiguous=len(ids) > 1)


def _whole_names(people: Iterable[IndexedPerson]) -> list[WrittenName]:
    return [name for one in people for name in one.resolved_person.names if len(name.words) > 1]


def _reference(question: str, people: People, found: list[Reference], *, implied: bool) -> Reference | None:
    """What is said of those who are named, step by step: `the wife of my brother`."""
    names = [(one.start, one.end) for one in found]
    pending = [one for one in kin_words(question) if all(one.end <= start or one.start >= end for start, end in names)]
    while pending:
        resolved = next(
            ((word, one) for word in pending if (one := find_relative(question, word, found, people)) is not None), None
        )
        if resolved is None:
            break
        word, one = resolved
        pending.remove(word)
        found = [other for other in found if other.end <= one.start or other.start >= one.end]
        found.append(one)
    for word in pending:
        for one in found:
            if bare(question)[word.end : one.start] == " ":  # `doktora Beneše`: what comes before a name
                one.start = word.start
    if not found and len(pending) == 1 and (implied or pending[0].type in kinship.ROLES):
        (word,) = pending
        found = [relative_of(people.owner, word.start, word.end, word, people)]
    if not found and not pending:
        found = [*_own_family(question, people)]
    return found[0] if len(found) == 1 else None


def _names(question: str) -> Iterator[tuple[int, int]]:
    """Where words stand that may be somebody's name, the longest first: they say nothing else of a question."""
    written = list(re.finditer(r"[^\W\d_]+", question))
    if len(written) > _MOST_WORDS:
        return
    kin, said = [one for one in kin_words(question) if not _names_david(question, one)], load_phrases()
    free = [
        bare(one[0]).casefold() not in said.people.fillers
        and one[0].casefold() not in said.term.asking  # `אמר` (he said) sounds like Amir
        and all(one.end() <= kin.start or one.start() >= kin.end for kin in kin)
        for one in written
    ]
    for count in range(_LONGEST_NAME, 0, -1):
        for place in range(len(written) - count + 1):
            start, end = written[place].start(), written[place + count - 1].end()
            if all(free[place : place + count]) and not re.search(r"[^\w\s-]", question[start:end]):
                yield start, end


def _names_david(question: str, word: KinWord) -> bool:
    """Whether a word for a relative is a name: `של דוד` is of David, since an uncle would be `של הדוד`."""
    said = question[word.start : word.end]
    return question[: word.start].endswith("של ") and tables.plain(said) in tables.given_names()


def _by_sound(question: str, people: People) -> Iterator[Reference]:
    """Those who are named in another script, or in another spelling: these only may be meant."""
    places = list(_names(question))
    typed = [[question[start:end], *_strip_prefix(question[start:end])] for start, end in places]
    known = people.name_bearers(" ".join(dict.fromkeys(one for some in typed for one in some))) if typed else {}
    resolved = {one: person.resolved_person for one, person in known.items()}
    for (start, end), some in zip(places, typed, strict=True):
        for one in some:
            if ids := lookup.candidates(resolved, one):
                said = {script(name.full) for found in ids for name in resolved[found].names}
                yield Reference(start, end, ids, ambiguous=len(ids) > 1 or script(one) in said)


def _is_name(question: str, reference: Reference) -> bool:
    """Whether what nobody is known by is a name all the same: by a capital, or as a given name."""
    said = question[reference.start : reference.end]
    capital = reference.start > 0 and said[0].isupper()
    return capital or (tables.plain(said) in tables.given_names() and said not in tables.common())


def _strip_prefix(word: str) -> list[str]:
    """A Hebrew word without a letter that is written before names."""
    return [word[1:]] if word[0] in PREFIXED and len(word) >= _SHORTEST_PREFIXED else []


def _strangers(question: str, people: People) -> Iterator[Reference]:
    """Those whom a text names as somebody's relative, and who have no record of their own; and those nobody knows."""
    for start, end in _names(question):
        yield Reference(start, end, [], relative_facts=people.relative_facts(question[start:end]))


def _own_family(question: str, people: People) -> Iterator[Reference]:
    """The owner, where a question speaks of `my family`."""
    said, plain = load_phrases(), bare(question)
    if (owner := people.owner) is None:
        return
    for match in said.intent.family.finditer(plain):
        before = re.search(rf"(?<!\w)(?:{said.people.my})$", plain[: match.start()], re.IGNORECASE)
        behind = re.match(rf"(?:{said.people.my_behind})(?!\w)", plain[match.end() :])
        if before:
            yield Reference(before.start(), match.start(), [owner])
        elif behind:
            yield Reference(match.end(), match.end() + behind.end(), [owner])


def names(question: str, people: People) -> Iterator[Mention]:
    """The names in a question, of people who are known and of others."""
    known = _mentions(question, people)
    yield from known
    for start, end in _names(question):
        stranger = Reference(start, end, [])
        apart = all(end <= one.start or start >= one.end for one in known)
        if " " not in question[start:end] and apart and _is_name(question, stranger):
            yield Mention(start, end, (), False)


def named_ids(question: str, people: People) -> list[int]:
    """The people whom a question may name, in its order."""
    return list(dict.fromkeys(one for mention in _mentions(question, people) for one in mention.person_ids))


def _mentions(question: str, people: People) -> list[Mention]:
    """The names in a question, common words among them only where they stand as somebody's; small letters too."""
    found = people.finder(question).find(question)
    if not found and question == question.lower():
        found = people.finder(question.title()).find(question.title())
    kept = [one for one in found if not one.is_word or _is_possessed(question, one)]
    return [_with_title(question, one, people) for one in kept or (found if len(found) == 1 else [])]


def _with_title(question: str, name: Mention, people: People) -> Mention:
    """A family name with the title before it: `doktora Beneše` is no doctor of somebody named Beneš."""
    before = re.search(r"(\w+)\.? $", question[: name.start])
    if before is None or tables.plain(before[1]) not in tables.before_family_names():
        return name
    said = question[name.start : name.end]
    aliases = (row["alias"] for one in people.by_id(name.person_ids).values() for row in one.aliases)
    families = {written[-1] for alias in aliases if len(written := words(alias)) > 1}
    is_one = any(said in as_given(one) | inflections(one) for one in families)
    return name._replace(start=before.start()) if is_one else name


def _is_possessed(question: str, name: Mention) -> bool:
    """Whether a name that is also a word stands where only a name can."""
    before, behind = question[: name.start], question[name.end :]
    of = load_phrases().people.of
    if re.search(rf"(?:{of})$", before) and re.fullmatch(r"\W*", behind):
        return True
    return behind.startswith(("'s ", "’s ")) or (" " in question[name.start : name.end])
