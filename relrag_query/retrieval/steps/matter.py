"""Step 1, matter: a follow-up stays with the records of its earlier question, unless it names a matter of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import PART, Term, passage_tokens, tokens
from relrag_query.understanding.intent import asked_values

MOST = 2
"""hits of the earlier question whose records and threads are the matter"""
_NEAR = 86_400
"""seconds from a chat window within which another one of its chat is of the same matter"""
_OWN_WORDS = 2
"""words of a follow-up in one passage, and in none of the earlier matter, that name a matter; one may be a verb"""


def keep_matter(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Marks the hits of the matter, and adds those of the earlier question that are missing, behind all others."""
    if not context.matter:
        return hits
    marked = [replace(hit, of_matter=_is_of_matter(hit, context.matter)) for hit in _with_matter(hits, context.matter)]
    own = [term for term in context.question.terms if not term.is_earlier]
    if _name_own_matter(own, marked):
        context.note("matter", "the question names a matter of its own")
        context.question = replace(context.question, terms=own)
        return hits
    context.note("matter", f"{sum(hit.of_matter for hit in marked)} hits are of the matter of the earlier question")
    return marked


def _with_matter(hits: list[Hit], matter: tuple[Hit, ...]) -> list[Hit]:
    """The hits, and behind them those of the earlier question that are missing."""
    present = {hit.chunk.chunk_id for hit in hits}
    least = min((hit.score for hit in hits), default=0.0)
    return [*hits, *(replace(hit, score=least) for hit in matter if hit.chunk.chunk_id not in present)]


def _name_own_matter(own: Sequence[Term], hits: Sequence[Hit]) -> bool:
    """Whether words of the follow-up, that no passage of the earlier matter holds, stand together or in a title."""
    of_matter = frozenset[str]().union(*(passage_tokens(hit.chunk) for hit in hits if hit.of_matter))
    words = [word for word in own if _is_telling(word) and word.match(of_matter) <= PART]
    return any(_are_matter(words, hit) for hit in hits if not hit.of_matter)


def _is_telling(word: Term) -> bool:
    return not (word.light or word.is_time or asked_values(word.word))


def _are_matter(words: Sequence[Term], hit: Hit) -> bool:
    """Whether a passage holds some of these words, or its subject or the name of its file one of them."""
    title = tokens("\n".join(filter(None, (hit.chunk.subject, hit.chunk.file_name))))
    present = [word for word in words if word.match(passage_tokens(hit.chunk)) > PART]
    return len(present) >= _OWN_WORDS or any(word.match(title) > PART for word in present)


def _is_of_matter(hit: Hit, matter: tuple[Hit, ...]) -> bool:
    return any(_is_same_matter(hit, other) for other in matter)


def _is_same_matter(hit: Hit, other: Hit) -> bool:
    """Whether two passages are of one record or thread; a chat goes over many matters, a day of it over few."""
    if hit.chunk.asset_id == other.chunk.asset_id:
        return True
    if hit.chunk.thread_id is None or hit.chunk.thread_id != other.chunk.thread_id:
        return False
    return not hit.chunk.members or abs((hit.chunk.ts or 0) - (other.chunk.ts or 0)) <= _NEAR
