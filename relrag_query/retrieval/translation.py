"""Translates the words of a question, so that texts in other languages are found.

Dictionary-based query translation. All translations of a word count as that word: a passage matches it as well as it
matches the best translation (Pirkola 1998, https://doi.org/10.1145/290941.290957).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from relrag_pipelines.languages import DEFAULT
from relrag_pipelines.text.analyzer import fold, whole_tokens
from relrag_pipelines.text.language import in_default_language
from relrag_query.retrieval.term_coverage import Frequencies, Term, idf, passages_with, terms_of
from relrag_query.understanding import lexicon

Translations = Mapping[str, Mapping[str, float]]
"""word of the question -> token of a translation -> confidence that a text with the token contains the translation"""

_TRANSLATION_CONFIDENCE = 0.7
"""confidence of a translation: most words have several meanings"""
_SEARCH_WEIGHT = 1.25
"""search weight of a translation: a text in another language may share nothing else with the question"""
_MIN_CONFIDENCE = 0.9
"""smallest confidence of a token that is searched for: its first letters alone have less"""


def translations(terms: Sequence[Term], question: str) -> Translations:
    """The translations of the words of a question, except names, times and words that only ask."""
    default = in_default_language(question)
    words = {
        term.word: lexicon.translations(term.word, default=default)
        for term in terms
        if not (term.light or term.is_time or _is_name(term.word, question))
    }
    return {word: dict(_tokens(forms)) for word, forms in words.items() if forms}


def translate(terms: Sequence[Term], translated: Translations) -> list[Term]:
    """The terms; each also matches its translations."""
    return [
        replace(
            term, translations={token: _TRANSLATION_CONFIDENCE * sure for token, sure in translated[term.word].items()}
        )
        if term.word in translated
        else term
        for term in terms
    ]


def translation_tokens(translated: Translations, frequencies: Frequencies) -> dict[str, float]:
    """The tokens to search for, each with its weight relative to a word of the question.

    Search weighs each token by its own rarity; this weight makes it the rarity of all tokens of the word together.
    """
    counted: dict[str, float] = {}
    for tokens in translated.values():
        sought = _searched_tokens(tokens)
        rarity = idf(passages_with(sought, frequencies), frequencies)
        for token in sought:
            counted[token] = _SEARCH_WEIGHT * min(1.0, rarity / idf(frequencies.get(token, 1), frequencies))
    return counted


def _searched_tokens(tokens: Mapping[str, float]) -> list[str]:
    """The tokens that identify a translation; of a word and its beginning only the beginning, shared by all forms."""
    confident = [token for token, confidence in tokens.items() if confidence >= _MIN_CONFIDENCE]
    endings = tuple(token[1:] for token in confident if token.startswith("~"))
    return [token for token in confident if not token.startswith(endings or "~~")]


def _tokens(words: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, float]]:
    """The tokens of translations by rising confidence, so that in a dict the highest one wins."""
    tokens = [
        (token, confidence)
        for language, texts in words.items()
        for word in texts
        for token, confidence in _forms(word, inflected=language != DEFAULT)
    ]
    return iter(sorted(tokens, key=lambda pair: pair[1]))


def _forms(word: str, *, inflected: bool) -> Iterator[tuple[str, float]]:
    if not inflected:  # a word that begins alike in the default language is another word
        yield from ((token, 1.0) for token in whole_tokens(fold(word)))
    else:
        yield from (pair for term in terms_of(word) for pair in term.tokens.items())


def _is_name(word: str, question: str) -> bool:
    return word[:1].isupper() and not question.lstrip("¿¡\"'„“(").startswith(word)
