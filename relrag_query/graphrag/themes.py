"""Describes part of an index without a model, as themes: people, time, figures and sentences.

A theme grows from the entity that tells most of the text units that are asked about, with those that stand mostly
beside it. Themes are taken one after another, each for text units that no earlier one has, so that they differ.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from relrag_pipelines.graphrag.extractive_reports import FIGURE, figures_of, is_tabular, title
from relrag_pipelines.graphrag.mention_graph import plain_title
from relrag_pipelines.graphrag.words import normal_form
from relrag_pipelines.text.analyzer import fold
from relrag_pipelines.text.sentences import sentences, spans
from relrag_query.graphrag.citations import Dataset, Reference
from relrag_query.graphrag.corpus import PERSON, Corpus
from relrag_query.graphrag.terms import Term, cohesion, nouns, shared_units, terms

THEMES, SENTENCES = 6, 3
_PEOPLE, _FIGURES = 4, 4
_TELLING, _FEW, _TITLED = 8, 4, 3
"""terms of a theme at most; themes below which one text unit is enough for another; things that a title names"""
_EVERYWHERE = 0.5
"""share of all text units from which on whoever is named in them tells nothing of a theme"""
_SHORTEST, _LONGEST = 25, 260
"""characters of a sentence that can be read by itself"""
_MARKS = re.compile(r"^[\s>*#–—•-]+|\*\*|\s*\|\s*$")


class Statement(NamedTuple):
    """A sentence, and what it rests on."""

    text: str
    unit: int
    """row of text_units"""
    day: str
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class Theme:
    """A subject that text units speak of."""

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
    left = terms(units, corpus, words)
    for least in (2, 1):
        while len(found) < (most if least > 1 else _FEW):
            seed = _seed(left, free, least)
            if seed is None:
                break
            telling, about = _grow(seed, left)
            repeated = 2 * len(about & free) < len(about)  # earlier themes tell most of it
            about &= free
            free -= about
            left = [one for one in left if one not in telling]
            if not repeated and (theme := _theme(telling, sorted(about), corpus, used)):
                used.update(one.text for one in theme.statements)
                found.append(theme)
    return sorted(found, key=lambda theme: (-len(theme.units), theme.first, theme.title))


_TRIED, _ALONE = 40, 0.03
"""terms that may begin a theme, and what one is worth that no other goes with"""


def _seed(left: Sequence[Term], free: set[int], least: int) -> Term | None:
    """The term that tells most of the text units that no theme has yet, others going with it."""
    able = [one for one in left if len(one.units & free) >= least]
    best = sorted(able, key=lambda one: one.worth(free), reverse=True)[:_TRIED]
    return max(
        best, key=lambda one: (one.worth(free)[0] * (_ALONE + cohesion(one, able, free)), one.title), default=None
    )


def _grow(seed: Term, found: Sequence[Term]) -> tuple[list[Term], set[int]]:
    """The terms that stand mostly where the seed does, it first, and the text units that are about them."""
    least = min(2, len(seed.units))
    shared = shared_units(seed, found)
    others = [one for one in found if shared.get(one.key, 0) >= max(least, len(one.units) / 2)]
    telling = [seed, *sorted(others, key=lambda one: one.worth(seed.units), reverse=True)][:_TELLING]
    named = Counter(unit for one in telling for unit in one.units)
    return telling, set(seed.units) | {unit for unit, count in named.items() if count > 2}


def _theme(telling: Sequence[Term], units: list[int], corpus: Corpus, used: set[str]) -> Theme | None:
    said = _statements(units, telling, corpus, used)
    if not said:
        return None
    first, last = corpus.span(units)
    figures = Counter(one for unit in units for one in figures_of(corpus.texts[unit]))
    ranked = sorted(figures, key=lambda one: (-figures[one], -len(one), one))
    people = tuple(_people(units, corpus))
    return Theme(
        title=title(_things(telling, said, corpus), people, [first, last]),
        community=corpus.community_of([one.entity for one in telling if one.entity is not None]),
        units=tuple(units),
        people=people,
        first=first,
        last=last,
        figures=tuple(ranked[:_FIGURES]),
        statements=tuple(said),
    )


def _things(telling: Sequence[Term], said: Sequence[Statement], corpus: Corpus) -> list[str]:
    """What a theme is called: its terms, and where these are few the rarest nouns of its sentences."""
    found = [one.title for one in telling]
    if len(found) < _TITLED:
        counted = Counter(word for one in said for word in {*nouns(one.text, corpus)} if not word[0].isupper())
        used = {word: corpus.vocabulary[normal_form(word)] for word in counted}
        worth = {
            word: counted[word] * one.noun * math.log(1 + len(corpus.texts) / one.units) for word, one in used.items()
        }
        found += sorted(counted, key=lambda word: (-worth[word], word))
    return found


def _people(units: Sequence[int], corpus: Corpus) -> Iterator[str]:
    """Those who are named in most of the text units; whoever is named everywhere comes last."""
    named = Counter(row for unit in units for row in corpus.entities_of_unit[unit] if corpus.types[row] == PERSON)
    worth = {
        row: count * math.log(1.1 * len(corpus.texts) / len(corpus.units_of_entity[row]))
        for row, count in named.items()
    }
    often = _EVERYWHERE * len(corpus.texts)
    telling = [row for row in named if len(corpus.units_of_entity[row]) < often] or list(named)
    kept: list[str] = []
    for row in sorted(telling, key=lambda row: (-worth[row], corpus.titles[row])):
        name = plain_title(corpus.titles[row])
        if len(kept) < _PEOPLE and not any({*fold(name).split()} <= {*fold(other).split()} for other in kept):
            kept.append(name)
            yield name


def _statements(units: Sequence[int], telling: Sequence[Term], corpus: Corpus, used: set[str]) -> list[Statement]:
    """The sentences that say most of what a theme is called, from different text units, in the order of time."""
    worth = [(one, 1 / (1 + place)) for place, one in enumerate(telling)]
    found: list[tuple[float, Statement]] = []
    for unit in units:
        text = corpus.texts[unit]
        for start, end in spans(sentences(text)):
            said = _MARKS.sub("", " ".join(text[start:end].split()))
            score = _score(said, worth)
            if score > 0 and said not in used:
                found.append((score, Statement(said, unit, corpus.day(unit), _references(unit, said, telling, corpus))))
    ranked = list({one.text: one for _, one in sorted(found, key=lambda one: (one[0], -one[1].unit))}.values())[::-1]
    of_unit = {one.unit: one for one in reversed(ranked)}
    chosen = [one for one in ranked if of_unit[one.unit] is one][:SENTENCES]
    chosen += [one for one in ranked if one not in chosen][: SENTENCES - len(chosen)]
    return sorted(chosen, key=lambda one: (one.day or "9999", one.unit))


_CLUMSY = re.compile(r":$|\S@\S|<[A-Z_]+[:>]")
"""of a sentence that only opens a list, or lists addresses: it says little by itself"""


def _score(said: str, worth: Sequence[tuple[Term, float]]) -> float:
    """How much a sentence says: words of the theme, a figure, and a length at which it can be read by itself."""
    if len(said) > 2 * _LONGEST or len(said.split()) < 4:
        return 0
    plain = normal_form(said)
    score = sum(value for term, value in worth if term.stands_in(plain))
    if not score:
        return 0
    score += 0.3 * bool(FIGURE.search(said)) + 0.2 * bool(re.search(r"\d", said))
    if not _SHORTEST <= len(said) <= _LONGEST:
        score *= 0.4
    return score * (0.3 if is_tabular(said) or _CLUMSY.search(said) else 1)


def _references(unit: int, said: str, telling: Sequence[Term], corpus: Corpus) -> tuple[Reference, ...]:
    plain = normal_form(said)
    named = [
        Reference(Dataset.ENTITIES, corpus.entity_numbers[one.entity])
        for one in telling
        if one.entity is not None and unit in one.units and one.stands_in(plain)
    ]
    return (*named[:3], Reference(Dataset.SOURCES, unit))
