"""Words of other languages that mean what the words of a question mean, so that texts in these are found.

Dictionary-based query translation. All words for one word of the question count as that word: what a passage holds of
it is the most that it holds of any (Pirkola 1998, https://doi.org/10.1145/290941.290957).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from relrag_pipelines.languages import DEFAULT
from relrag_pipelines.text.analyzer import fold, whole_tokens
from relrag_pipelines.text.language import is_english
from relrag_query.retrieval.term_coverage import Frequencies, Term, idf, passages_with, terms_of
from relrag_query.understanding import lexicon

Translations = Mapping[str, Mapping[str, float]]
"""a word of the question -> tokens of its translations -> how surely a text with one of them holds the translation"""

_SHARE = 0.7
"""how surely a text that holds a translation holds the word: most words have several meanings"""
_SOUGHT = 1.25
"""what a translation counts in the search for passages: in another language it may be all they share with a question"""
_FORM = 0.9
"""how surely a token has to tell a translation to be searched for: its first letters alone do not"""


def translations(terms: Sequence[Term], question: str) -> Translations:
    """The translations of the words of a question; of names, times and words that only ask there are none."""
    default = is_english(question)
    words = {
        term.word: lexicon.translations(term.word, default=default)
        for term in terms
        if not (term.light or term.is_time or _is_name(term.word, question))
    }
    return {word: dict(_tokens(found)) for word, found in words.items() if found}


def translate(terms: Sequence[Term], found: Translations) -> list[Term]:
    """The terms, each found by its translations as well."""
    return [
        replace(term, translations={token: _SHARE * sure for token, sure in found[term.word].items()})
        if term.word in found
        else term
        for term in terms
    ]


def translation_tokens(found: Translations, frequencies: Frequencies) -> dict[str, float]:
    """The tokens that are searched for, each with what it counts beside a word of the question.

    Search weighs each token by its own rarity; this makes of it that of all tokens of the word together.
    """
    counted: dict[str, float] = {}
    for tokens in found.values():
        sought = _sought(tokens)
        together = idf(passages_with(sought, frequencies), frequencies)
        for token in sought:
            counted[token] = _SOUGHT * min(1.0, together / idf(frequencies.get(token, 1), frequencies))
    return counted


def _sought(tokens: Mapping[str, float]) -> list[str]:
    """Those that tell a translation by themselves: of a word and its beginning only that, which all its forms have."""
    sure = [token for token, one in tokens.items() if one >= _FORM]
    begun = tuple(token[1:] for token in sure if token.startswith("~"))
    return [token for token in sure if not token.startswith(begun or "~~")]


def _tokens(words: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, float]]:
    """The tokens of translations, the surest of equal ones last."""
    found = [
        (token, sure)
        for language, some in words.items()
        for word in some
        for token, sure in _forms(word, inflected=language != DEFAULT)
    ]
    return iter(sorted(found, key=lambda one: one[1]))


def _forms(word: str, *, inflected: bool) -> Iterator[tuple[str, float]]:
    if not inflected:  # a word that begins alike in the default language is another word
        yield from ((token, 1.0) for token in whole_tokens(fold(word)))
    else:
        yield from (pair for term in terms_of(word) for pair in term.tokens.items())


def _is_name(word: str, question: str) -> bool:
    return word[:1].isupper() and not question.lstrip("¿¡\"'„“(").startswith(word)
