"""Which words of a question no passage holds: an answer says so, and is surer where there are none."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import Prefix

from relrag_pipelines.text.analyzer import fold
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit, drop_context
from relrag_query.retrieval.term_coverage import PART, Term, passage_tokens

_STEM, _ENDING = 3, 2
"""letters that forms of a word share at least, and in which they may differ at its end"""
_CANDIDATES = 8
"""passages that are searched for a word: those that hold it come first, then those with its beginning"""


def missing_words(context: QueryContext, hits: list[Hit]) -> list[str]:
    """Words that no passage holds, mistyped ones too; of the time asked for only where nothing is of that time."""
    gone = _absent_words(unmatched_terms(context, hits), context)
    gone |= {word for word, near in context.spellings.items() if not any(_inflects(word, other) for other in near)}
    return [one.word for one in context.terms if one.word in gone]


def _inflects(word: str, other: str) -> bool:
    """Whether two words differ in their endings only, as the forms of a name do that the index has in one of them."""
    return Prefix.similarity(fold(word), fold(other)) >= max(_STEM, len(word) - _ENDING)


def unmatched_terms(context: QueryContext, hits: list[Hit]) -> list[Term]:
    """The words that are rare and stand in none of the hits."""
    rare = [one for one in context.terms if not (one.light or one.occurs_in(context.frequencies))]
    if any(one.is_time for one in rare) and context.vectors.count(context.limits_in_time):
        rare = [one for one in rare if not one.is_time]
    held = frozenset[str]().union(*(passage_tokens(hit.chunk) for hit in drop_context(hits))) if rare else frozenset()
    return [one for one in rare if one.match(held) <= PART]


def _absent_words(terms: Sequence[Term], context: QueryContext) -> set[str]:
    """The words that no passage within the limits holds: how often words stand is known of a sample only."""
    found = {term.word: _candidates(term, context) for term in terms}
    ids = list(dict.fromkeys(one for some in found.values() for one in some))
    chunks = catalog_reader.chunks(context.connection, ids) if ids else {}
    held = {one: passage_tokens(chunk) for one, chunk in chunks.items()}
    return {
        term.word for term in terms if not any(term.match(held[one]) > PART for one in found[term.word] if one in held)
    }


def _candidates(term: Term, context: QueryContext) -> list[str]:
    """Ids of the passages that are likeliest to hold a word."""
    # also as the index writes it: a number that redaction replaced stands there as its pseudonym
    written = " ".join([term.word, *(token for token, sure in term.tokens.items() if sure > PART)])
    return [one.chunk_id for one in context.vectors.search(written, _CANDIDATES, context.limits)]
