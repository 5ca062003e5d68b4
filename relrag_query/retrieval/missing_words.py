"""Finds words of a question that no passage contains: an answer names them, and is more confident without any."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.distance import Prefix

from relrag_pipelines import languages
from relrag_pipelines.text.analyzer import fold
from relrag_pipelines.text.language import likeliest
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit, drop_context
from relrag_query.retrieval.term_coverage import PART, Term, passage_tokens

_MIN_STEM, _MAX_ENDING = 3, 2
"""forms of a word share at least the first number of letters; their endings have at most the second"""
_MAX_CANDIDATES = 8
"""passages read for each word: search ranks those with the word first, then those with its beginning"""


def missing_words(context: QueryContext, hits: list[Hit]) -> list[str]:
    """Words that no passage contains, mistyped ones too; time words only if no passage lies within that time."""
    absent = _absent_words(unmatched_terms(context, hits), context)
    absent |= {word for word, near in context.spellings.items() if not any(_inflects(word, other) for other in near)}
    return [term.word for term in context.question.terms if term.word in absent]


def telling_words(words: list[str], question: str, shown: Sequence[str]) -> list[str]:
    """The missing words that no shown text can have in another form or language; a code is the same in all."""
    if not words or not shown:
        return words
    codes = [word for word in words if re.search(r"\d", word)]
    if likeliest(question, languages.codes()) != likeliest(shown[0], languages.codes()):
        return codes
    others = re.findall(r"\w+", " ".join(shown))
    return [word for word in words if word in codes or not any(_inflects(word, other) for other in others)]


def _inflects(word: str, other: str) -> bool:
    """Whether two words differ in their endings only, such as two forms of a name."""
    return Prefix.similarity(fold(word), fold(other)) >= max(_MIN_STEM, len(word) - _MAX_ENDING)


def _without_answered_time(terms: list[Term], context: QueryContext) -> list[Term]:
    """The words without those for a time of which the archive has passages."""
    other = [term for term in terms if not term.is_time]
    is_answered = len(other) < len(terms) and context.vectors.count(context.limits_in_time) > 0
    return other if is_answered else terms


def unmatched_terms(context: QueryContext, hits: list[Hit]) -> list[Term]:
    """The rare words that occur in none of the hits."""
    rare = [term for term in context.question.terms if not (term.light or term.occurs_in(context.frequencies))]
    rare = _without_answered_time(rare, context)
    tokens = frozenset[str]().union(*(passage_tokens(hit.chunk) for hit in drop_context(hits))) if rare else frozenset()
    return [term for term in rare if term.match(tokens) <= PART]


def _absent_words(terms: Sequence[Term], context: QueryContext) -> set[str]:
    """The words that no passage within the limits contains: read, since frequencies come from a sample."""
    candidates = {term.word: _candidates(term, context) for term in terms}
    ids = list(dict.fromkeys(chunk_id for chunk_ids in candidates.values() for chunk_id in chunk_ids))
    chunks = catalog_reader.chunks(context.connection, ids) if ids else {}
    tokens = {chunk_id: passage_tokens(chunk) for chunk_id, chunk in chunks.items()}
    return {
        term.word
        for term in terms
        if not any(term.match(tokens[chunk_id]) > PART for chunk_id in candidates[term.word] if chunk_id in tokens)
    }


def _candidates(term: Term, context: QueryContext) -> list[str]:
    """Ids of the passages that most likely contain a word."""
    # include the indexed form: redaction replaces some numbers by pseudonyms
    written = " ".join([term.word, *(token for token, sure in term.tokens.items() if sure > PART)])
    return [point.chunk_id for point in context.vectors.search(written, _MAX_CANDIDATES, context.limits)]
