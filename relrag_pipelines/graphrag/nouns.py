"""Recognises nouns by their use, without a model.

A noun follows an article, a possessive or a preposition (the boiler, v kotli, של הדוד), a verb follows a pronoun or an
auxiliary; lists of these words are all that is known of a language (words/). Uses of a word are counted over all texts.
For a rare word the uses of words with its ending count too. In Hebrew an article or preposition is a letter of the word
itself.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from relrag_pipelines import languages as folders
from relrag_pipelines.graphrag.entity_candidates import Candidate, Cue, EntityType
from relrag_pipelines.graphrag.words import languages, normal_form
from relrag_pipelines.text.analyzer import PREFIXED

_PRIOR = 2.0
"""uses that the ending of a word counts for"""
_USUAL, _UNUSUAL = 0.6, 0.3
"""share of nouns among unknown words, and among those whose ending contradicts it"""
_ENDING = 2


@dataclass
class _Uses:
    """Counts of uses as a noun and as a verb."""

    nouns: int = 0
    verbs: int = 0

    def add(self, nouns: int, verbs: int) -> None:
        """Counts further uses."""
        self.nouns += nouns
        self.verbs += verbs

    def share(self, expected: float) -> float:
        """The share of nouns; `expected` dominates while there are few uses."""
        return (self.nouns + _PRIOR * expected) / (self.nouns + self.verbs + _PRIOR)


class Nouns:
    """The words of all texts: the key that their forms share, and how likely each is a noun."""

    def __init__(self, unit_candidates: Iterable[Sequence[Candidate]]) -> None:
        """`unit_candidates` has the candidates of each text."""
        every = chain.from_iterable(unit_candidates)
        terms = [candidate for candidate in every if candidate.type == EntityType.TERM]
        self._words = Counter(normal_form(term.text) for term in terms)
        self._small = Counter(normal_form(term.text) for term in terms if not term.opens)
        self._languages = _languages(terms)
        self._keys = {word: self._key(word) for word in self._words}
        self._likely = self._likelihoods(*self._uses(terms))

    def key(self, word: str) -> str:
        """The key that all forms of a word share; the word itself if it is no term of any text."""
        word = normal_form(word)
        return self._keys.get(word, word)

    def likely(self, key: str) -> float:
        """How likely the words of a key are nouns, 0 to 1."""
        return self._likely.get(key, _USUAL)

    def knows(self, word: str) -> bool:
        """Whether a word occurs without a capital anywhere."""
        return self._small[normal_form(word)] > 0

    def vocabulary(
        self, unit_candidates: Sequence[Sequence[Candidate]], names: Collection[str]
    ) -> dict[str, Sequence[Any]]:
        """Every word in normal form: its key, how likely it is a noun, and how many of these texts contain any form.

        Words of people's `names` are no nouns.
        """
        units: Counter[str] = Counter()
        for candidates in unit_candidates:
            units.update({self.key(word.text) for word in candidates if word.type == EntityType.TERM})
        words = sorted(self._keys)
        keys = [self._keys[word] for word in words]
        return {
            "word": words,
            "key": keys,
            "noun": [
                0.0 if self.is_name(word, names) else round(self.likely(key), 4)
                for word, key in zip(words, keys, strict=True)
            ],
            "text_units": [units[key] for key in keys],
        }

    def bare(self, word: str) -> str:
        """A word in normal form, without Hebrew prefix letters."""
        return self._without_prefix(normal_form(word))

    def is_name(self, word: str, names: Collection[str]) -> bool:
        """Whether a word belongs to people's names and isn't another word: Hebrew names have no article."""
        bare = self.bare(word)
        return bare in names and not any(self._words[f"{article}{bare}"] for article in _articles())

    def head_first(self, word: str) -> bool:
        """Whether a word is of a language in which the first word of a phrase is the noun that the others tell of."""
        code = self._languages.get(normal_form(word))
        return code is not None and folders.language(code).head_first

    def _key(self, word: str) -> str:
        language = self._languages[word]
        return languages()[language].stem(self._without_prefix(word))

    def _without_prefix(self, word: str) -> str:
        """A word without prefixed letters, where what is left is a word at least as frequent."""
        while len(word) > 3 and word[0] in PREFIXED and self._words[word[1:]] >= self._words[word]:
            word = word[1:]
        return word

    def _uses(self, terms: Iterable[Candidate]) -> tuple[Counter[str], Counter[str]]:
        """How often each word is used as a noun, and as a verb."""
        nouns, verbs = Counter[str](), Counter[str]()
        for term in terms:
            word = normal_form(term.text)
            assert term.use
            nouns[word] += term.use.cue == Cue.NOUN
            verbs[word] += term.use.cue == Cue.VERB
        for word, count in self._words.items():
            if word[0] in _noun_prefixes() and self._without_prefix(word) != word:
                nouns[word] += count
        return nouns, verbs

    def _likelihoods(self, nouns: Counter[str], verbs: Counter[str]) -> dict[str, float]:
        """The likelihood of each key, from its words' uses as nouns and verbs, and from their endings."""
        endings: dict[tuple[str, str], _Uses] = defaultdict(_Uses)
        keys: dict[str, _Uses] = defaultdict(_Uses)
        for word in self._words:
            endings[self._ending(word)].add(nouns[word], verbs[word])
        expected: dict[str, list[float]] = defaultdict(list)
        for word, count in self._words.items():
            usual = _UNUSUAL if word.endswith(languages()[self._languages[word]].not_noun) else _USUAL
            # endings that speak against a noun stay against it, whatever stands before them
            prior = min(endings[self._ending(word)].share(usual), usual if usual == _UNUSUAL else 1.0)
            keys[self._keys[word]].add(nouns[word], verbs[word])
            expected[self._keys[word]] += [prior] * count
        return {key: uses.share(sum(expected[key]) / len(expected[key])) for key, uses in keys.items()}

    def _ending(self, word: str) -> tuple[str, str]:
        return self._languages[word], word[-_ENDING:]


@functools.cache
def _noun_prefixes() -> frozenset[str]:
    """Prefixed letters that are an article or a preposition."""
    return frozenset().union(*(language.noun_prefixes for language in folders.languages()))


@functools.cache
def _articles() -> tuple[str, ...]:
    return tuple(language.article for language in folders.languages() if language.article)


def _languages(terms: Iterable[Candidate]) -> dict[str, str]:
    """The language of each word: that of most lines with it."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for term in terms:
        assert term.use
        votes[normal_form(term.text)][term.use.language] += 1
    return {word: min(counts, key=lambda language: (-counts[language], language)) for word, counts in votes.items()}
