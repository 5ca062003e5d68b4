"""Which words of a question no passage holds: an answer says so, and is surer where there are none."""

from __future__ import annotations

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
    gone = {one.word for one in unmatched_terms(context, hits) if not _occurs(one, context)}
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


def _occurs(term: Term, context: QueryContext) -> bool:
    """Whether a passage within the limits holds a word: how often words stand is known of a sample only."""
    # also as the index writes it: a number that redaction replaced stands there as its pseudonym
    written = " ".join([term.word, *(token for token, sure in term.tokens.items() if sure > PART)])
    found = context.vectors.search(written, _CANDIDATES, context.limits)
    chunks = catalog_reader.chunks(context.connection, [one.chunk_id for one in found])
    return any(term.match(passage_tokens(chunk)) > PART for chunk in chunks.values())
