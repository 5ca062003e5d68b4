"""Decides which candidates are entities, by their use in all texts together.

- A capitalised word is a name if it is written with a capital within sentences at least as often as without.
- A word is a term if it is used as a noun (nouns.py) and not in too large a share of the texts.
- Adjacent words that occur together more than once, including the noun where the language puts it, are a term of their
  own; part of a longer term is one only if it also occurs without it, as in Frantzi, Ananiadou and Mima, "Automatic
  recognition of multi-word terms: the C-value/NC-value method", International Journal on Digital Libraries 3 (2000).
- Titles (Mrs, pan, גב') are not part of a name.
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
    """least number of text units that name an entity"""
    max_share: float = 0.2
    """largest share of text units that name a term; more frequent terms don't distinguish texts"""
    min_noun: float = 0.5
    """least likelihood that a term is a noun"""
    longest: int = 3
    """most words of a term"""
    per_text_unit: int = 15
    """most entities of a text unit, so that relations grow linearly with text"""


class Mention(NamedTuple):
    """One position where an entity is named."""

    unit: int
    """row of text_units"""
    key: str
    """equal for all forms of a name"""
    type: str
    """an EntityType, or a type that a model gave"""
    text: str
    start: int
    """offset in the text unit, in code points; -1: named as sender or recipient"""


_MAX_ABBREVIATION = 4
"""letters of an abbreviation"""
_COVERED = 0.8
"""share of a term's text units within a longer term from which only the longer term counts"""
_MIN_UNITS_FOR_SHARE = 20
"""text units below which `max_share` isn't applied"""


def select(
    unit_candidates: Sequence[Sequence[Candidate]],
    people: Iterable[Mention],
    nouns: Nouns,
    options: Selection,
    names: Mapping[str, str | None] = MappingProxyType({}),
) -> list[Mention]:
    """The mentions of entities, by text unit and position; `unit_candidates` has the candidates of each text unit.

    `names` are words of people's names, as in KnownPeople.words: they mean these people, and nothing else.
    """
    people = [*people, *_first_names(unit_candidates, nouns, names)]
    people_spans = _spans_of_people(people)
    mentions = [
        *people,
        *_names(unit_candidates, people_spans, nouns, names),
        *_forms(unit_candidates, people_spans),
        *_terms(unit_candidates, people_spans, nouns, options),
    ]
    mentions = _unify_types([mention for mention in mentions if mention.key])
    frequency = _frequency(mentions)
    frequent = [mention for mention in mentions if frequency[mention.key] >= options.min_frequency]
    limited = _limit(frequent, frequency, options.per_text_unit)
    return sorted(limited, key=lambda mention: (mention.unit, mention.start, mention.key))


def _spans_of_people(mentions: list[Mention]) -> dict[int, list[tuple[int, int]]]:
    """Spans in which people are named, by text unit."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for mention in mentions:
        if mention.start >= 0:
            spans[mention.unit].append((mention.start, mention.start + len(mention.text)))
    return spans


def _with_units(unit_candidates: Sequence[Sequence[Candidate]]) -> Iterator[tuple[int, Candidate]]:
    """Every candidate with the row of its text unit."""
    for unit, candidates in enumerate(unit_candidates):
        for candidate in candidates:
            yield unit, candidate


def _forms(
    unit_candidates: Sequence[Sequence[Candidate]], people_spans: dict[int, list[tuple[int, int]]]
) -> Iterator[Mention]:
    """Numbers, files and quotations, which are entities by their form."""
    types = (EntityType.NUMBER, EntityType.FILE, EntityType.QUOTATION)
    for unit, candidate in _with_units(unit_candidates):
        if candidate.type in types and not _overlaps(candidate, people_spans[unit]):
            key = " ".join(fold(candidate.text).split())
            yield Mention(unit, key, candidate.type, candidate.text, candidate.start)


def _first_names(
    unit_candidates: Sequence[Sequence[Candidate]], nouns: Nouns, names: Mapping[str, str | None]
) -> Iterator[Mention]:
    """Parts of names in a script without capitals, if no other word looks so; an ambiguous one has no key."""
    for unit, candidate in _with_units(unit_candidates):
        text = candidate.text
        if candidate.type == EntityType.TERM and nouns.head_first(text) and nouns.is_name(text, names):
            yield Mention(unit, names[nouns.bare(text)] or "", EntityType.PERSON, text, candidate.start)


class _Capitals:
    """How often words and names are written with and without capitals."""

    def __init__(self, unit_candidates: Sequence[Sequence[Candidate]]) -> None:
        self._small: Counter[str] = Counter()
        self._capital: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        for _, candidate in _with_units(unit_candidates):
            if candidate.type == EntityType.TERM and not candidate.opens:
                self._small[fold(candidate.text)] += 1
            elif candidate.type == EntityType.NAME:
                self._names[fold(candidate.text)] += 1
                self._count_words(candidate)

    def _count_words(self, name: Candidate) -> None:
        for index, word in enumerate(name.text.split()):
            if (index or not name.opens) and not _is_shouted(word):
                self._capital[fold(word)] += 1

    def is_name(self, word: str, text: str) -> bool:
        """Whether a word of a candidate's text is a name by its capitals."""
        folded = fold(word)
        if self._capital[folded] >= max(1, self._small[folded]):
            return True
        # a first name may begin all its sentences
        return not self._small[folded] and " " in text and self._names[fold(text)] > 1


def _names(
    unit_candidates: Sequence[Sequence[Candidate]],
    people_spans: dict[int, list[tuple[int, int]]],
    nouns: Nouns,
    names: Mapping[str, str | None],
) -> Iterator[Mention]:
    """Capitalised names: those of a known person by that person's key, else by their own text."""
    capitals = _Capitals(unit_candidates)
    for unit, candidate in _with_units(unit_candidates):
        if candidate.type != EntityType.NAME or _overlaps(candidate, people_spans[unit]):
            continue
        words, start = _trim(candidate, capitals.is_name)
        text = " ".join(words)
        people = {names.get(normal_form(word), "") for word in words}
        if len(people) == 1 and (key := min(people, key=str)):
            yield Mention(unit, key, EntityType.PERSON, text, start)
        elif "" in people and _is_telling(words):
            yield Mention(unit, fold(text), EntityType.NAME, text, start)


def _is_telling(words: list[str]) -> bool:
    """Whether a name is more than a letter or an everyday word."""
    if not words or len(words[0]) <= 1:
        return False
    return len(words) > 1 or not says_nothing(normal_form(words[0]))


def _trim(candidate: Candidate, is_name: Callable[[str, str], bool]) -> tuple[list[str], int]:
    """The words of a name without surrounding words that only begin a sentence or carry no name, and their offset.

    `is_name` tests a word of the candidate's text.
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
    """Whether a word is capitalised for emphasis; a short one may be an abbreviation."""
    return len(word) > _MAX_ABBREVIATION and word.isupper()


def _names_nothing(word: str) -> bool:
    return is_function_word(normal_form(word)) or is_title(normal_form(word))


class _Phrase(NamedTuple):
    """Adjacent words in a text unit."""

    unit: int
    words: tuple[Candidate, ...]
    keys: tuple[str, ...]
    """keys of the words"""
    key: str


def _terms(
    unit_candidates: Sequence[Sequence[Candidate]],
    people_spans: dict[int, list[tuple[int, int]]],
    nouns: Nouns,
    options: Selection,
) -> Iterator[Mention]:
    """The terms that are frequent enough, not too frequent, and not nearly always part of a longer term."""
    phrases: list[_Phrase] = []
    for unit, candidates in enumerate(unit_candidates):
        for run in _runs(unit, candidates, people_spans[unit], nouns):
            phrases += _nominal_parts(run, nouns, options)
    units: dict[str, set[int]] = defaultdict(set)
    for phrase in phrases:
        units[phrase.key].add(phrase.unit)
    unit_count = len(unit_candidates)
    most = unit_count * options.max_share if unit_count >= _MIN_UNITS_FOR_SHARE else unit_count
    terms = {key for key, rows in units.items() if options.min_frequency <= len(rows) <= most}
    terms -= _subsumed_terms(terms, units)
    for phrase in phrases:
        if phrase.key in terms:
            text = " ".join(word.text for word in phrase.words)
            yield Mention(phrase.unit, phrase.key, EntityType.TERM, text, phrase.words[0].start)


def _runs(
    unit: int, candidates: Sequence[Candidate], people_spans: list[tuple[int, int]], nouns: Nouns
) -> Iterator[_Phrase]:
    """Runs of adjacent content words, interrupted by people's names and by words that only open a sentence."""
    run: list[Candidate] = []
    for word in candidates:
        if word.type != EntityType.TERM or not word.use:
            continue
        interrupts = (word.opens and not nouns.knows(word.text)) or _overlaps(word, people_spans)
        if run and (interrupts or not word.use.joins):
            yield _phrase(unit, run, nouns)
            run = []
        if not interrupts:
            run.append(word)
    if run:
        yield _phrase(unit, run, nouns)


def _phrase(unit: int, words: Sequence[Candidate], nouns: Nouns) -> _Phrase:
    keys = tuple(nouns.key(word.text) for word in words)
    return _Phrase(unit, tuple(words), keys, " ".join(keys))


def _nominal_parts(run: _Phrase, nouns: Nouns, options: Selection) -> Iterator[_Phrase]:
    """The parts of a run with a noun where their language puts it, and no word that is more likely a verb."""
    chances = [nouns.likely(key) for key in run.keys]
    heads_first = [nouns.head_first(word.text) for word in run.words]
    for first in range(len(chances)):
        for last in range(first, min(first + options.longest, len(chances))):
            if chances[last] < options.min_noun / 2:
                break
            if chances[first if heads_first[first] else last] >= options.min_noun:
                key = " ".join(run.keys[first : last + 1])
                yield _Phrase(run.unit, run.words[first : last + 1], run.keys[first : last + 1], key)


def _subsumed_terms(terms: Set[str], units: Mapping[str, set[int]]) -> set[str]:
    """Terms that occur nearly always within one longer term."""
    subsumed = set()
    for key in terms:
        for part in _parts(key):
            if part in terms and len(units[key]) >= _COVERED * len(units[part]):
                subsumed.add(part)
    return subsumed


def _parts(key: str) -> Iterator[str]:
    """The shorter phrases within a phrase."""
    words = key.split(" ")
    for size in range(1, len(words)):
        for start in range(len(words) - size + 1):
            yield " ".join(words[start : start + size])


def _unify_types(mentions: list[Mention]) -> list[Mention]:
    """Gives all mentions of a key the type that takes precedence among them."""
    order: dict[str, int] = {type_: rank for rank, type_ in enumerate(EntityType)}
    best: dict[str, str] = {}
    for mention in mentions:
        best[mention.key] = min(best.get(mention.key, mention.type), mention.type, key=order.__getitem__)
    return [mention._replace(type=best[mention.key]) for mention in mentions]


def _frequency(mentions: list[Mention]) -> Counter[str]:
    """Number of text units that mention each key."""
    return Counter(key for _, key in {(mention.unit, mention.key) for mention in mentions})


def _limit(mentions: list[Mention], frequency: Counter[str], most: int) -> list[Mention]:
    """The entities of each text unit that distinguish it most: by type, then the rarest."""
    order: dict[str, int] = {type_: rank for rank, type_ in enumerate(EntityType)}
    types_by_unit: dict[int, dict[str, str]] = defaultdict(dict)
    for mention in mentions:
        types_by_unit[mention.unit][mention.key] = mention.type
    selected: set[tuple[int, str]] = set()
    for unit, types in types_by_unit.items():
        ranked = sorted(types, key=lambda key: (order[types[key]], frequency[key], key))
        selected.update((unit, key) for key in ranked[:most])
    limited = [mention for mention in mentions if (mention.unit, mention.key) in selected]
    limited_frequency = _frequency(limited)
    return [mention for mention in limited if limited_frequency[mention.key] > 1 or frequency[mention.key] == 1]


def _overlaps(candidate: Candidate, spans: list[tuple[int, int]]) -> bool:
    """Whether a candidate overlaps the name of a person; one in a subject has no position and never does."""
    begin, end = candidate.start, candidate.start + len(candidate.text)
    return begin >= 0 and any(start < end and begin < span_end for start, span_end in spans)
