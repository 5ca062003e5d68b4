"""Decides which candidates are entities, by how they are used in all texts together.

- A capital counts where the word is written with one within sentences at least as often as without.
- A word is a term where it is used as a noun (nouns.py) and tells texts apart: it is not everywhere.
- Words that stand side by side more than once, the noun among them where the language has it, are a term of their own;
  within a longer one only where they also stand without it, as in Frantzi, Ananiadou and Mima, "Automatic recognition
  of multi-word terms: the C-value/NC-value method", International Journal on Digital Libraries 3 (2000).
- Titles (Mrs, pan, גב') are no part of a name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from relrag_pipelines.graphrag.entity_candidates import Candidate, EntityType, is_function_word, says_nothing
from relrag_pipelines.graphrag.nouns import Nouns
from relrag_pipelines.graphrag.words import is_title, normal_form
from relrag_pipelines.text.analyzer import fold


@dataclass(frozen=True)
class Selection:
    """The thresholds of entity selection."""

    min_frequency: int = 2
    """text units that name it at least"""
    max_share: float = 0.2
    """of all text units that name a term at most; more frequent ones tell nothing apart"""
    min_noun: float = 0.5
    """how likely a term is a noun at least"""
    longest: int = 3
    """words of a term at most"""
    per_text_unit: int = 15
    """entities of a text unit at most, so that relations grow linearly with text"""


class Mention(NamedTuple):
    """One place where an entity is named."""

    unit: int
    """row of text_units"""
    key: str
    """the same for all forms of a name"""
    type: str
    """an EntityType, or what a model calls it"""
    text: str
    start: int
    """offset in the text unit, in code points; -1: it is named as sender or recipient"""


_ABBREVIATED = 4
"""letters of an abbreviation at most"""
_COVERED = 0.8
"""share of the text units of a term in which a longer one holds it, from which on only that one counts"""
_NO_LIMIT = 20
"""text units below which a share means nothing"""


def select(
    found: Sequence[Sequence[Candidate]],
    people: Iterable[Mention],
    nouns: Nouns,
    options: Selection,
    names: Mapping[str, str | None] = MappingProxyType({}),
) -> list[Mention]:
    """The mentions of entities, by text unit and place; `found` holds the candidates of each text unit.

    `names` are words of people's names, as KnownPeople.words has them: they mean these people, and nothing else.
    """
    known = [*people, *_first_names(found, nouns, names)]
    named = _spans_of_people(known)
    mentions = [
        *known,
        *_names(found, named, nouns, names),
        *_forms(found, named),
        *_terms(found, named, nouns, options),
    ]
    mentions = _unify_types([one for one in mentions if one.key])
    frequency = _frequency(mentions)
    kept = [one for one in mentions if frequency[one.key] >= options.min_frequency]
    return sorted(_limit(kept, frequency, options.per_text_unit), key=lambda one: (one.unit, one.start, one.key))


def _spans_of_people(known: list[Mention]) -> dict[int, list[tuple[int, int]]]:
    """Where people are named: unit -> spans."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one in known:
        if one.start >= 0:
            spans[one.unit].append((one.start, one.start + len(one.text)))
    return spans


def _forms(found: Sequence[Sequence[Candidate]], named: dict[int, list[tuple[int, int]]]) -> Iterator[Mention]:
    """Numbers, files and quotations: their form tells what they are."""
    for unit, some in enumerate(found):
        for one in some:
            if one.type in (EntityType.NUMBER, EntityType.FILE, EntityType.QUOTATION) and not _overlaps(
                one, named[unit]
            ):
                yield Mention(unit, " ".join(fold(one.text).split()), one.type, one.text, one.start)


def _first_names(
    found: Sequence[Sequence[Candidate]], nouns: Nouns, names: Mapping[str, str | None]
) -> Iterator[Mention]:
    """Parts of names in a script without capitals, where the word is no other; of several people it is nobody's."""
    for unit, some in enumerate(found):
        for one in some:
            if one.type != EntityType.TERM or not nouns.head_first(one.text) or not nouns.is_name(one.text, names):
                continue
            yield Mention(unit, names[nouns.bare(one.text)] or "", EntityType.PERSON, one.text, one.start)


def _names(
    found: Sequence[Sequence[Candidate]],
    named: dict[int, list[tuple[int, int]]],
    nouns: Nouns,
    names: Mapping[str, str | None],
) -> Iterator[Mention]:
    small = Counter(fold(one.text) for some in found for one in some if one.type == EntityType.TERM and not one.opens)
    capital = Counter(
        fold(word)
        for some in found
        for one in some
        if one.type == EntityType.NAME
        for place, word in enumerate(one.text.split())
        if (place or not one.opens) and not _is_shouted(word)
    )

    whole = Counter(fold(one.text) for some in found for one in some if one.type == EntityType.NAME)

    def is_name(word: str, of: str) -> bool:
        folded = fold(word)
        # a first name may begin every sentence that it stands in
        return capital[folded] >= max(1, small[folded]) or (not small[folded] and " " in of and whole[fold(of)] > 1)

    for unit, some in enumerate(found):
        for one in some:
            if one.type == EntityType.NAME and not _overlaps(one, named[unit]):
                words, start = _trim(one, is_name)
                people = {names.get(normal_form(word), "") for word in words}
                if len(people) == 1 and (key := min(people, key=str)):
                    yield Mention(unit, key, EntityType.PERSON, " ".join(words), start)
                elif (
                    "" in people
                    and words
                    and len(words[0]) > 1
                    and not (len(words) == 1 and says_nothing(normal_form(words[0])))
                ):
                    text = " ".join(words)
                    yield Mention(unit, fold(text), EntityType.NAME, text, start)


def _trim(candidate: Candidate, is_name: Callable[[str, str], bool]) -> tuple[list[str], int]:
    """The words of a name without those around it that only begin a sentence or name nothing; and where they begin.

    `is_name` tells of a word whether it is a name, in the candidate's text.
    """
    words, start = candidate.text.split(), candidate.start
    while words and (
        _names_nothing(words[0])
        or (candidate.opens and says_nothing(normal_form(words[0])))
        or not is_name(words[0], candidate.text)
    ):
        start += (len(words[0]) + 1) * (start >= 0)
        words.pop(0)
    while words and _names_nothing(words[-1]):
        words.pop()
    return words, start


def _is_shouted(word: str) -> bool:
    """Whether a word is written in capitals for show; a short one may be an abbreviation."""
    return len(word) > _ABBREVIATED and word.isupper()


def _names_nothing(word: str) -> bool:
    return is_function_word(normal_form(word)) or is_title(normal_form(word))


class _Phrase(NamedTuple):
    """Words side by side in a text unit."""

    unit: int
    words: tuple[Candidate, ...]
    keys: tuple[str, ...]
    """of the words"""
    key: str


def _terms(
    found: Sequence[Sequence[Candidate]], named: dict[int, list[tuple[int, int]]], nouns: Nouns, options: Selection
) -> Iterator[Mention]:
    phrases = [
        part
        for unit, some in enumerate(found)
        for run in _runs(unit, some, named[unit], nouns)
        for part in _nominal_parts(run, nouns, options)
    ]
    units: dict[str, set[int]] = defaultdict(set)
    for one in phrases:
        units[one.key].add(one.unit)
    most = len(found) * options.max_share if len(found) >= _NO_LIMIT else len(found)
    kept = {key for key, of in units.items() if options.min_frequency <= len(of) <= most}
    kept -= _subsumed_terms(kept, units)
    for one in phrases:
        if one.key in kept:
            start = one.words[0].start
            yield Mention(one.unit, one.key, EntityType.TERM, " ".join(word.text for word in one.words), start)


def _runs(unit: int, some: Sequence[Candidate], spans: list[tuple[int, int]], nouns: Nouns) -> Iterator[_Phrase]:
    """The words with a meaning that stand side by side, people's names and what only opens a sentence aside."""
    run: list[Candidate] = []
    for one in some:
        if one.type != EntityType.TERM or not one.use:
            continue
        if not one.use.joins and run:
            yield _phrase(unit, run, nouns)
            run = []
        if (one.opens and not nouns.knows(one.text)) or _overlaps(one, spans):
            if run:
                yield _phrase(unit, run, nouns)
            run = []
        else:
            run.append(one)
    if run:
        yield _phrase(unit, run, nouns)


def _phrase(unit: int, words: Sequence[Candidate], nouns: Nouns) -> _Phrase:
    keys = tuple(nouns.key(one.text) for one in words)
    return _Phrase(unit, tuple(words), keys, " ".join(keys))


def _nominal_parts(run: _Phrase, nouns: Nouns, options: Selection) -> Iterator[_Phrase]:
    """The phrases of a run that have a noun where their language has it, and no word that is rather a verb."""
    chances = [nouns.likely(key) for key in run.keys]
    heads_first = [nouns.head_first(one.text) for one in run.words]
    for first in range(len(chances)):
        for last in range(first, min(first + options.longest, len(chances))):
            if chances[last] < options.min_noun / 2:
                break
            if chances[first if heads_first[first] else last] >= options.min_noun:
                key = " ".join(run.keys[first : last + 1])
                yield _Phrase(run.unit, run.words[first : last + 1], run.keys[first : last + 1], key)


def _subsumed_terms(kept: Set[str], units: Mapping[str, set[int]]) -> set[str]:
    """Terms that stand nearly always within one longer term."""
    found = set()
    for key in kept:
        words = key.split(" ")
        for size in range(1, len(words)):
            for start in range(len(words) - size + 1):
                part = " ".join(words[start : start + size])
                if part in kept and len(units[key]) >= _COVERED * len(units[part]):
                    found.add(part)
    return found


def _unify_types(mentions: list[Mention]) -> list[Mention]:
    """Gives all mentions of a key the type that takes precedence among them."""
    order: dict[str, int] = {one: place for place, one in enumerate(EntityType)}
    best: dict[str, str] = {}
    for one in mentions:
        best[one.key] = min(best.get(one.key, one.type), one.type, key=order.__getitem__)
    return [one._replace(type=best[one.key]) for one in mentions]


def _frequency(mentions: list[Mention]) -> Counter[str]:
    return Counter(key for _, key in {(one.unit, one.key) for one in mentions})


def _limit(mentions: list[Mention], frequency: Counter[str], most: int) -> list[Mention]:
    """The most telling entities of each text unit: by type, then the rarest."""
    order: dict[str, int] = {one: place for place, one in enumerate(EntityType)}
    of_unit: dict[int, dict[str, str]] = defaultdict(dict)
    for one in mentions:
        of_unit[one.unit][one.key] = one.type
    kept = {
        (unit, key)
        for unit, types in of_unit.items()
        for key in sorted(types, key=lambda key: (order[types[key]], frequency[key], key))[:most]
    }
    limited = [one for one in mentions if (one.unit, one.key) in kept]
    still = _frequency(limited)
    return [one for one in limited if still[one.key] > 1 or frequency[one.key] == 1]


def _overlaps(one: Candidate, spans: list[tuple[int, int]]) -> bool:
    """Whether a candidate stands where a person is named; one of a subject stands nowhere."""
    return one.start >= 0 and any(start < one.start + len(one.text) and one.start < end for start, end in spans)
