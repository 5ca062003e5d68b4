"""Which candidates are entities, decided by how they are used in all texts together.

- A capital counts where the word is written with one within sentences at least as often as without.
- A word is a term where it comes in bursts: residual inverse document frequency, after Church and Gale, "Poisson
  mixtures", Natural Language Engineering 1 (1995). Words that are everywhere, and words spread by chance, are none.
- In Hebrew a word with a prefixed letter is the word without it, where that one is at least as frequent.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import Stemmer

from relrag_pipelines.graphrag.candidates import Candidate, EntityType, is_function_word
from relrag_pipelines.text.analyzer import PREFIXED, fold


@dataclass(frozen=True)
class Selection:
    """Thresholds of what becomes an entity."""

    min_frequency: int = 2
    """text units that name it at least"""
    max_share: float = 0.2
    """of all text units that name a term at most; more frequent ones tell nothing apart"""
    min_burst: float = 0.1
    """residual inverse document frequency of a term at least, in bits"""
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


_stem = Stemmer.Stemmer("english").stemWord
_NO_LIMIT = 20
"""text units below which a share means nothing"""


def select(found: Sequence[Sequence[Candidate]], people: Iterable[Mention], options: Selection) -> list[Mention]:
    """The mentions of entities, by text unit and place; `found` holds the candidates of each text unit."""
    known = list(people)
    named = _spans_of_people(known)
    mentions = [*known, *_names(found, named), *_forms(found, named), *_terms(found, named, options)]
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


def _names(found: Sequence[Sequence[Candidate]], named: dict[int, list[tuple[int, int]]]) -> Iterator[Mention]:
    small = Counter(fold(one.text) for some in found for one in some if one.type == EntityType.TERM)
    capital = Counter(
        fold(word)
        for some in found
        for one in some
        if one.type == EntityType.NAME
        for place, word in enumerate(one.text.split())
        if place or not one.opens
    )

    whole = Counter(fold(one.text) for some in found for one in some if one.type == EntityType.NAME)

    def is_name(word: str, of: str) -> bool:
        folded = fold(word)
        # a first name may begin every sentence that it stands in
        return capital[folded] >= max(1, small[folded]) or (not small[folded] and " " in of and whole[fold(of)] > 1)

    for unit, some in enumerate(found):
        for one in some:
            if one.type == EntityType.NAME and not _overlaps(one, named[unit]):
                words, start = one.text.split(), one.start
                while words and (is_function_word(fold(words[0])) or not is_name(words[0], one.text)):
                    start += len(words.pop(0)) + 1
                while words and is_function_word(fold(words[-1])):
                    words.pop()
                if words and len(words[0]) > 1:
                    text = " ".join(words)
                    yield Mention(unit, fold(text), EntityType.NAME, text, start)


def _terms(
    found: Sequence[Sequence[Candidate]], named: dict[int, list[tuple[int, int]]], options: Selection
) -> Iterator[Mention]:
    words = Counter(fold(one.text) for some in found for one in some if one.type == EntityType.TERM)
    keys = {word: _stem(_without_prefix(word, words)) for word in words}
    total, units = Counter[str](), Counter[str]()
    for some in found:
        within = Counter(keys[fold(one.text)] for one in some if one.type == EntityType.TERM)
        total.update(within)
        units.update(within.keys())
    most = len(found) * options.max_share if len(found) >= _NO_LIMIT else len(found)
    chosen = {
        key for key, count in units.items()
        if options.min_frequency <= count <= most and burst(total[key], count, len(found)) >= options.min_burst
    }  # fmt: skip
    for unit, some in enumerate(found):
        for one in some:
            if one.type != EntityType.TERM or (key := keys[fold(one.text)]) not in chosen:
                continue
            if not _overlaps(one, named[unit]):
                yield Mention(unit, key, EntityType.TERM, one.text, one.start)


def burst(total: int, units: int, count: int) -> float:
    """Residual inverse document frequency in bits: how many fewer of `count` texts hold a word than chance would have.

    `total` is how often the word stands in all texts, `units` in how many.
    """
    return math.log2(1 - math.exp(-total / count)) - math.log2(units / count)


def _without_prefix(word: str, words: Counter[str]) -> str:
    while len(word) > 3 and word[0] in PREFIXED and words[word[1:]] >= words[word]:
        word = word[1:]
    return word


def _unify_types(mentions: list[Mention]) -> list[Mention]:
    """All mentions of a key with the type that counts most among them."""
    order: dict[str, int] = {one: place for place, one in enumerate(EntityType)}
    best: dict[str, str] = {}
    for one in mentions:
        best[one.key] = min(best.get(one.key, one.type), one.type, key=order.__getitem__)
    return [one._replace(type=best[one.key]) for one in mentions]


def _frequency(mentions: list[Mention]) -> Counter[str]:
    return Counter(key for _, key in {(one.unit, one.key) for one in mentions})


def _limit(mentions: list[Mention], frequency: Counter[str], most: int) -> list[Mention]:
    """Of each text unit the entities that tell most: by type, then the rarest."""
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
    return any(start < one.start + len(one.text) and one.start < end for start, end in spans)
