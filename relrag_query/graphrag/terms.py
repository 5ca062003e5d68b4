"""The terms of text units, which are entities other than people, and nouns, with how much each tells about them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from relrag_pipelines.graphrag.entity_candidates import EntityType, is_function_word
from relrag_pipelines.graphrag.mention_graph import plain_title
from relrag_pipelines.graphrag.words import normal_form
from relrag_query.graphrag.corpus import Corpus
from relrag_query.graphrag.support import stem

_READ, _COUNTED = 2000, 600
"""text units up to which all words are looked at, and the terms that are looked at at most"""
_NOUN = 0.5
"""how likely a word is a noun at least"""
_COMPANIONS = 3
"""terms by which it is told how well others go with one"""
_WORTH: dict[str, float] = {"WORD": 0.8, EntityType.NAME: 1.2, EntityType.QUOTATION: 1.2, EntityType.NUMBER: 0.3}
"""of terms, by type; of others 1"""
_PAPER = 0.3
"""what a term of documents without a time is worth, which nobody talks in"""
_LONGER = 0.4
"""that each further word of a phrase adds"""
_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?:['’״\"-][^\W\d_]+)*(?!\w|-\d)")
"""by which titles of entities are told apart"""


@dataclass(frozen=True)
class Term:
    """An entity or another noun, and where it occurs in the text units asked about."""

    key: str
    title: str
    parts: tuple[str, ...]
    """how its words begin in any form"""
    units: frozenset[int]
    conversation_share: float
    """share of these units in which people talk or write, at a time that is known"""
    rarity: float
    """its weight in any text"""
    entity: int | None = None
    """its row, where it is one"""

    def worth(self, units: Set[int]) -> tuple[float, str]:
        """How much it tells about text units; the title breaks ties."""
        return len(self.units & units) * self.rarity * (_PAPER + (1 - _PAPER) * self.conversation_share), self.title

    def stands_in(self, text: str) -> bool:
        """Whether a text, compared, holds it in any form."""
        return all(part in text for part in self.parts)


def terms(units: Sequence[int], corpus: Corpus, words: Iterable[str] = ()) -> list[Term]:
    """The terms of text units, those of most units first; `words` are those of the question, which tell nothing."""
    question_keys = {_key(normal_form(word), corpus) for word in words}
    gathered = _TermCollector(corpus)
    for unit in units:
        gathered.read(unit, whole=len(units) <= _READ)
    keys = [key for key in gathered.places if key not in question_keys and not is_function_word(key)]
    keys = sorted(keys, key=lambda key: (-len(gathered.places[key]), key))[:_COUNTED]
    return [gathered.term(key) for key in keys]


def shared_units(seed: Term, candidates: Sequence[Term]) -> dict[str, int]:
    """The number of text units that each other term shares with the seed, by key."""
    return {term.key: len(term.units & seed.units) for term in candidates if term is not seed}


def cohesion(seed: Term, candidates: Sequence[Term], units: Set[int]) -> float:
    """How closely the best other terms co-occur with a seed in text units, 0 to 1, by the Dice coefficient.

    Terms that share only one text unit are ignored.
    """
    seed_units = seed.units & units
    coefficients = sorted(
        (
            2 * len(term.units & seed_units) / (len(term.units & units) + len(seed_units))
            for term in candidates
            if term is not seed and len(term.units & seed_units) > 1
        ),
        reverse=True,
    )
    return sum(coefficients[:_COMPANIONS]) / _COMPANIONS


class _TermCollector:
    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self.places: dict[str, set[int]] = {}
        self._forms: dict[str, Counter[str]] = {}
        self._rows: dict[str, int] = {}

    def read(self, unit: int, *, whole: bool) -> None:
        """Takes the entities and, of the `whole` text, the nouns of a unit."""
        corpus = self._corpus
        for row in corpus.entities_of_unit[unit]:
            if not corpus.is_person(row):
                title = plain_title(corpus.titles[row])
                key = " ".join(_key(word, corpus) for word in normal_form(title).split())
                self._rows.setdefault(key, row)
                self._add(key, unit, title)
        for word in nouns(corpus.texts[unit], corpus) if whole else ():
            self._add(_key(normal_form(word), corpus), unit, word)

    def term(self, key: str) -> Term:
        """The data that were collected for a key."""
        entity, of = self._rows.get(key), frozenset(self.places[key])
        forms = self._forms[key]
        title = min(forms, key=lambda form: (-forms[form], form[:1].isupper(), len(form), form))
        return Term(
            key,
            title,
            tuple(map(stem, key.split())),
            of,
            self._conversation_share(of),
            self._rarity(key, entity, of),
            entity,
        )

    def _add(self, key: str, unit: int, form: str) -> None:
        self.places.setdefault(key, set()).add(unit)
        self._forms.setdefault(key, Counter())[form] += 1

    def _conversation_share(self, units: Set[int]) -> float:
        return sum(bool(self._corpus.day(unit)) for unit in units) / len(units)

    def _rarity(self, key: str, entity: int | None, units: Set[int]) -> float:
        """How few text units hold it, and which share of these is asked about."""
        corpus, everywhere = self._corpus, len(units)
        if entity is not None:
            everywhere = max(everywhere, len(corpus.units_of_entity[entity]))
        everywhere = max(everywhere, corpus.units_of_key.get(key, 0))
        worth = _WORTH.get("WORD" if entity is None else corpus.types[entity], 1.0)
        worth *= 1 + _LONGER * key.count(" ")
        return worth * math.log(1 + len(corpus.texts) / everywhere) * (0.5 + len(units) / everywhere)


def nouns(text: str, corpus: Corpus) -> Iterator[str]:
    """The words of a text that are likely nouns, and nobody's name."""
    for match in _WORD.finditer(text):
        word = corpus.vocabulary.get(normal_form(match[0]))
        if word and word.noun >= _NOUN and not corpus.is_name(match[0]):
            yield match[0]


def _key(word: str, corpus: Corpus) -> str:
    entry_ = corpus.vocabulary.get(word)
    return entry_.key if entry_ else word
