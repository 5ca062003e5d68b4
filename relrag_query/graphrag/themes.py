"""What a part of an index is about, without a model: themes, each with its people, time, figures and sentences.

A theme grows from the entity that tells most of the text units that are asked about, with those that stand mostly
beside it. Themes are taken one after another, each for text units that no earlier one has, so that they differ.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from relrag_pipelines.chunking.sentences import sentences, spans
from relrag_pipelines.graphrag.candidates import EntityType, candidates, is_function_word
from relrag_pipelines.graphrag.common_words import is_common
from relrag_pipelines.graphrag.reports import FIGURE
from relrag_pipelines.text.analyzer import fold
from relrag_query.graphrag.citations import Dataset, Reference
from relrag_query.graphrag.corpus import PERSON, Corpus
from relrag_query.graphrag.support import stem

THEMES, SENTENCES = 6, 3
_NAMES, _PEOPLE, _FIGURES = 3, 4, 4
_TELLING, _FEW = 8, 4
"""terms of a theme at most; themes below which one text unit is enough for another"""
_READ, _COUNTED = 600, 400
"""text units up to which all words are looked at, and the terms that are looked at at most"""
_SHORTEST, _LONGEST = 25, 260
"""characters of a sentence that can be read by itself"""
_TABLE = re.compile(r"[|;\t]|(?:\w+: \S+.*){3}|^\W*#|^- \[|https?://|\*\*")
"""rows of tables, headings and lists, which say little by themselves"""
_MARKS = re.compile(r"^[\s>*#–—•-]+|\*\*|\s*\|\s*$")


_WORTH = {"WORD": 0.8, EntityType.TERM: 1.0, EntityType.NAME: 1.2, EntityType.QUOTATION: 1.2, EntityType.NUMBER: 0.5}
"""of terms, by type"""


class Statement(NamedTuple):
    """A sentence, and what it rests on."""

    text: str
    unit: int
    """row of text_units"""
    day: str
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class Theme:
    """One thing that is talked about."""

    title: str
    community: int
    """number of the community that it is part of"""
    units: tuple[int, ...]
    """rows of text_units, those that were asked about"""
    people: tuple[str, ...]
    first: str
    last: str
    """days, ISO 8601; empty where they are not known"""
    figures: tuple[str, ...]
    statements: tuple[Statement, ...]


def themes(units: Sequence[int], corpus: Corpus, words: Sequence[str] = (), most: int = THEMES) -> list[Theme]:
    """The themes of text units, the one that most of them speak of first; `words` are those of the question."""
    free, found, used = set(units), list[Theme](), set[str]()
    terms = _terms(units, corpus, words)
    for least in (2, 1):
        while len(found) < (most if least > 1 else _FEW):
            seed = max(
                (one for one in terms if len(one.units & free) >= least), key=lambda one: one.worth(free), default=None
            )
            if seed is None:
                break
            telling, about = _around(seed, terms)
            free -= about
            terms = [one for one in terms if one not in telling]
            if theme := _theme(telling, sorted(about), corpus, used):
                used.update(one.text for one in theme.statements)
                found.append(theme)
    return sorted(found, key=lambda theme: (-len(theme.units), theme.first, theme.title))


@dataclass(frozen=True)
class _Term:
    """An entity, or another word, and where it stands in the text units that are asked about."""

    key: str
    """how its forms begin"""
    title: str
    units: frozenset[int]
    rare: float
    """how much it tells wherever it stands"""
    entity: int | None = None
    """its row, where it is one"""

    def worth(self, units: Set[int]) -> tuple[float, str]:
        """How much it tells of text units; the title breaks ties."""
        return len(self.units & units) * self.rare, self.title


def _terms(units: Sequence[int], corpus: Corpus, words: Sequence[str]) -> list[_Term]:
    """Everything but people that the text units name, and where these are not many, their words."""
    said = {stem(fold(word)) for word in words}
    places: dict[str, set[int]] = {}
    forms: dict[str, Counter[str]] = {}
    rows: dict[str, int] = {}
    for unit in units:
        for row in corpus.entities_of_unit[unit]:
            if not corpus.is_person(row):
                key = stem(fold(corpus.titles[row]))
                rows.setdefault(key, row)
                places.setdefault(key, set()).add(unit)
                forms.setdefault(key, Counter())[corpus.titles[row]] += 1
        for word in _words(corpus.texts[unit]) if len(units) <= _READ else ():
            if not (corpus.is_name(word) or is_function_word(fold(word)) or is_common(fold(word))):
                key = stem(fold(word))
                places.setdefault(key, set()).add(unit)
                forms.setdefault(key, Counter())[word] += 1
    kept = [key for key in places if key not in said and not is_function_word(key)]
    kept = sorted(kept, key=lambda key: (-len(places[key]), key))[:_COUNTED]
    found = []
    for key in kept:
        entity, of = rows.get(key), frozenset(places[key])
        found.append(_Term(key, _form(forms[key]), of, _rarity(key, entity, of, corpus), entity))
    return found


def _words(text: str) -> Iterator[str]:
    for one in candidates(text):
        if one.type in (EntityType.TERM, EntityType.NAME) and " " not in one.text:
            yield one.text


def _form(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], len(form), form))


def _rarity(key: str, entity: int | None, units: Set[int], corpus: Corpus) -> float:
    """How few text units hold it, and which share of these is asked about."""
    everywhere = len(units)
    if entity is not None:
        everywhere = max(everywhere, len(corpus.units_of_entity[entity]))
    elif len(units) < len(corpus.texts):
        everywhere = max(everywhere, sum(key in text for text in corpus.folded))
    worth = _WORTH.get("WORD" if entity is None else corpus.types[entity], 1.0)
    return worth * math.log(1 + len(corpus.texts) / everywhere) * (0.5 + len(units) / everywhere)


def _around(seed: _Term, terms: Sequence[_Term]) -> tuple[list[_Term], set[int]]:
    """The terms that stand mostly where the seed does, it first, and the text units that are about them."""
    least = min(2, len(seed.units))
    shared = {one.key: len(one.units & seed.units) for one in terms if one is not seed}
    beside = [one for one in terms if shared.get(one.key, 0) >= max(least, len(one.units) / 2)]
    telling = [seed, *sorted(beside, key=lambda one: one.worth(seed.units), reverse=True)][:_TELLING]
    named = Counter(unit for one in telling for unit in one.units)
    return telling, set(seed.units) | {unit for unit, count in named.items() if count > 2}


def _theme(telling: Sequence[_Term], units: list[int], corpus: Corpus, used: set[str]) -> Theme | None:
    said = _statements(units, telling, corpus, used)
    if not said:
        return None
    first, last = corpus.span(units)
    figures = Counter(" ".join(one.split()) for unit in units for one in FIGURE.findall(corpus.texts[unit]))
    ranked = sorted(figures, key=lambda one: (-figures[one], -len(one), one))
    return Theme(
        title=", ".join(_distinct([one.title for one in telling])[:_NAMES]),
        community=corpus.community_of([one.entity for one in telling if one.entity is not None]),
        units=tuple(units),
        people=tuple(_people(units, corpus)),
        first=first,
        last=last,
        figures=tuple(ranked[:_FIGURES]),
        statements=tuple(said),
    )


def _distinct(titles: Sequence[str]) -> list[str]:
    """Without titles that are part of an earlier one."""
    kept: list[str] = []
    for title in titles:
        if not any(fold(title)[:5] in fold(other) for other in kept):
            kept.append(title)
    return kept


def _people(units: Sequence[int], corpus: Corpus) -> Iterator[str]:
    """Those who are named in most of the text units."""
    named = Counter(row for unit in units for row in corpus.entities_of_unit[unit] if corpus.types[row] == PERSON)
    kept: list[str] = []
    for row in sorted(named, key=lambda row: (-named[row], corpus.titles[row])):
        title = corpus.titles[row]
        if len(kept) < _PEOPLE and not any({*fold(title).split()} <= {*fold(other).split()} for other in kept):
            kept.append(title)
            yield title


def _statements(units: Sequence[int], telling: Sequence[_Term], corpus: Corpus, used: set[str]) -> list[Statement]:
    """The sentences that say most of what a theme is called, from different text units, in the order of time."""
    worth = {one.key: 1 / (1 + place) for place, one in enumerate(telling)}
    found: list[tuple[float, Statement]] = []
    for unit in units:
        text = corpus.texts[unit]
        for start, end in spans(sentences(text)):
            said = _MARKS.sub("", " ".join(text[start:end].split()))
            score = _score(said, worth)
            if score > 0 and said not in used:
                found.append((score, Statement(said, unit, corpus.day(unit), _references(unit, said, telling, corpus))))
    ranked = [one for _, one in sorted(found, key=lambda one: (-one[0], one[1].unit, one[1].text))]
    of_unit = {one.unit: one for one in reversed(ranked)}
    chosen = [one for one in ranked if of_unit[one.unit] is one][:SENTENCES]
    chosen += [one for one in ranked if one not in chosen][: SENTENCES - len(chosen)]
    return sorted(chosen, key=lambda one: (one.day or "9999", one.unit))


def _score(said: str, worth: dict[str, float]) -> float:
    """How much a sentence says: words of the theme, a figure, and a length at which it can be read by itself."""
    if len(said) > 2 * _LONGEST or len(said.split()) < 4:
        return 0
    folded = fold(said)
    score = sum(value for key, value in worth.items() if key in folded)
    if not score:
        return 0
    score += 0.3 * bool(FIGURE.search(said)) + 0.2 * bool(re.search(r"\d", said))
    if not _SHORTEST <= len(said) <= _LONGEST:
        score *= 0.4
    return score * (0.3 if _TABLE.search(said) else 1)


def _references(unit: int, said: str, telling: Sequence[_Term], corpus: Corpus) -> tuple[Reference, ...]:
    folded = fold(said)
    named = [
        Reference(Dataset.ENTITIES, corpus.entity_numbers[one.entity])
        for one in telling
        if one.entity is not None and unit in one.units and one.key in folded
    ]
    return (*named[:3], Reference(Dataset.SOURCES, unit))
