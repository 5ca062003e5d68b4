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
_TELLING, _MAX_FEW_THEMES, _TITLED = 8, 4, 3
"""terms of a theme; themes up to which one text unit is enough for another; terms in a title"""
_EVERYWHERE = 0.5
"""share of all text units; people who are named in more of them say nothing about a theme"""
_MIN_SENTENCE_CHARS, _MAX_SENTENCE_CHARS = 25, 260
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
    """The themes of text units, the one with most of them first; `words` are those of the question."""
    free, selected, used = set(units), list[Theme](), set[str]()
    remaining = terms(units, corpus, words)
    for least in (2, 1):
        while len(selected) < (most if least > 1 else _MAX_FEW_THEMES):
            seed = _seed(remaining, free, least)
            if seed is None:
                break
            telling, theme_units = _grow(seed, remaining)
            repeated = 2 * len(theme_units & free) < len(theme_units)  # earlier themes tell most of it
            theme_units &= free
            free -= theme_units
            remaining = [term for term in remaining if term not in telling]
            if not repeated and (theme := _theme(telling, sorted(theme_units), corpus, used)):
                used.update(statement.text for statement in theme.statements)
                selected.append(theme)
    return sorted(selected, key=lambda theme: (-len(theme.units), theme.first, theme.title))


_TRIED, _ALONE = 40, 0.03
"""terms that may begin a theme, and what one is worth that no other goes with"""


def _seed(remaining: Sequence[Term], free: set[int], least: int) -> Term | None:
    """The term with most of the text units that no theme covers yet and that co-occurs with others."""
    candidates = [term for term in remaining if len(term.units & free) >= least]
    best = sorted(candidates, key=lambda term: term.worth(free), reverse=True)[:_TRIED]
    return max(
        best,
        key=lambda term: (term.worth(free)[0] * (_ALONE + cohesion(term, candidates, free)), term.title),
        default=None,
    )


def _grow(seed: Term, candidates: Sequence[Term]) -> tuple[list[Term], set[int]]:
    """The terms that mostly co-occur with the seed, after it, and the text units that are about them."""
    least = min(2, len(seed.units))
    shared = shared_units(seed, candidates)
    others = [term for term in candidates if shared.get(term.key, 0) >= max(least, len(term.units) / 2)]
    telling = [seed, *sorted(others, key=lambda term: term.worth(seed.units), reverse=True)][:_TELLING]
    counts = Counter(unit for term in telling for unit in term.units)
    return telling, set(seed.units) | {unit for unit, count in counts.items() if count > 2}


def _theme(telling: Sequence[Term], units: list[int], corpus: Corpus, used: set[str]) -> Theme | None:
    statements = _statements(units, telling, corpus, used)
    if not statements:
        return None
    first, last = corpus.span(units)
    figures = Counter(figure for unit in units for figure in figures_of(corpus.texts[unit]))
    ranked = sorted(figures, key=lambda figure: (-figures[figure], -len(figure), figure))
    people = tuple(_people(units, corpus))
    return Theme(
        title=title(_things(telling, statements, corpus), people, [first, last]),
        community=corpus.community_of([term.entity for term in telling if term.entity is not None]),
        units=tuple(units),
        people=people,
        first=first,
        last=last,
        figures=tuple(ranked[:_FIGURES]),
        statements=tuple(statements),
    )


def _things(telling: Sequence[Term], statements: Sequence[Statement], corpus: Corpus) -> list[str]:
    """Words for a theme's title: its terms, and if these are few the rarest nouns of its sentences."""
    titles = [term.title for term in telling]
    if len(titles) < _TITLED:
        counts = Counter(
            word for statement in statements for word in {*nouns(statement.text, corpus)} if not word[0].isupper()
        )
        entries = {word: corpus.vocabulary[normal_form(word)] for word in counts}
        worth = {
            word: counts[word] * entry_.noun * math.log(1 + len(corpus.texts) / entry_.units)
            for word, entry_ in entries.items()
        }
        titles += sorted(counts, key=lambda word: (-worth[word], word))
    return titles


def _people(units: Sequence[int], corpus: Corpus) -> Iterator[str]:
    """The people named in most of the text units; those named everywhere come last."""
    counts = Counter(row for unit in units for row in corpus.entities_of_unit[unit] if corpus.types[row] == PERSON)
    worth = {
        row: count * math.log(1.1 * len(corpus.texts) / len(corpus.units_of_entity[row]))
        for row, count in counts.items()
    }
    limit = _EVERYWHERE * len(corpus.texts)
    telling = [row for row in counts if len(corpus.units_of_entity[row]) < limit] or list(counts)
    names: list[str] = []
    for row in sorted(telling, key=lambda row: (-worth[row], corpus.titles[row])):
        name = plain_title(corpus.titles[row])
        if len(names) < _PEOPLE and not any({*fold(name).split()} <= {*fold(other).split()} for other in names):
            names.append(name)
            yield name


def _scored_sentences(
    units: Sequence[int], telling: Sequence[Term], corpus: Corpus, used: set[str]
) -> Iterator[tuple[float, Statement]]:
    """Yields each sentence that is not in `used` and contains one of the terms, with its score."""
    worth = [(term, 1 / (1 + rank)) for rank, term in enumerate(telling)]
    for unit in units:
        text = corpus.texts[unit]
        for start, end in spans(sentences(text)):
            sentence = _MARKS.sub("", " ".join(text[start:end].split()))
            score = _score(sentence, worth)
            if score > 0 and sentence not in used:
                references = _references(unit, sentence, telling, corpus)
                yield score, Statement(sentence, unit, corpus.day(unit), references)


def _statements(units: Sequence[int], telling: Sequence[Term], corpus: Corpus, used: set[str]) -> list[Statement]:
    """The sentences that say most of what a theme is called, from different text units, in the order of time."""
    scored = _scored_sentences(units, telling, corpus, used)
    by_text = {statement.text: statement for _, statement in sorted(scored, key=lambda pair: (pair[0], -pair[1].unit))}
    ranked = list(by_text.values())[::-1]
    best_by_unit = {statement.unit: statement for statement in reversed(ranked)}
    chosen = [statement for statement in ranked if best_by_unit[statement.unit] is statement][:SENTENCES]
    chosen += [statement for statement in ranked if statement not in chosen][: SENTENCES - len(chosen)]
    return sorted(chosen, key=lambda statement: (statement.day or "9999", statement.unit))


_CLUMSY = re.compile(r":$|\S@\S|<[A-Z_]+[:>]")
"""of a sentence that only opens a list, or lists addresses: it says little by itself"""


def _score(sentence: str, worth: Sequence[tuple[Term, float]]) -> float:
    """How much a sentence says: words of the theme, a figure, and a length at which it can be read by itself."""
    if len(sentence) > 2 * _MAX_SENTENCE_CHARS or len(sentence.split()) < 4:
        return 0
    normalised = normal_form(sentence)
    score = sum(value for term, value in worth if term.stands_in(normalised))
    if not score:
        return 0
    score += 0.3 * bool(FIGURE.search(sentence)) + 0.2 * bool(re.search(r"\d", sentence))
    if not _MIN_SENTENCE_CHARS <= len(sentence) <= _MAX_SENTENCE_CHARS:
        score *= 0.4
    return score * (0.3 if is_tabular(sentence) or _CLUMSY.search(sentence) else 1)


def _references(unit: int, sentence: str, telling: Sequence[Term], corpus: Corpus) -> tuple[Reference, ...]:
    normalised = normal_form(sentence)
    entities = [
        Reference(Dataset.ENTITIES, corpus.entity_numbers[term.entity])
        for term in telling
        if term.entity is not None and unit in term.units and term.stands_in(normalised)
    ]
    return (*entities[:3], Reference(Dataset.SOURCES, unit))
