"""Step 8, token budget: of the hits what a language model is given. Who quotes reads them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from relrag_query.answering.generative import prompt_words
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit

TOKENS_A_WORD = 1.5
"""of a language model, for each word or mark; more in Hebrew and Czech than in English"""
_OF_ONE_SOURCE = 0.4
"""share of the budget that one record or chat may take: a long document could fill it by itself"""


def trim_to_budget(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The first hits that the model's budget has room for."""
    if context.settings.answerer == "extractive":
        return hits
    kept = fit_token_budget(hits, context.settings.answer_context_tokens)
    budget = context.settings.answer_context_tokens
    context.note("budget", f"{len(kept)} of {len(hits)} passages are given to the model, within {budget} tokens")
    return kept


def fit_token_budget(hits: Sequence[Hit], tokens: int) -> list[Hit]:
    """The first hits that have room, each passage whole and of one source a share at most; at least one."""
    kept: list[Hit] = []
    left = tokens / TOKENS_A_WORD
    most = left * _OF_ONE_SOURCE
    taken: Counter[str] = Counter()
    for hit in hits:
        size, source = prompt_words(hit), _source(hit)
        if kept and taken[source] + size > most:
            continue
        left -= size
        if kept and left < 0:
            break
        taken[source] += size
        kept.append(hit)
    return kept


def _source(hit: Hit) -> str:
    """The chat of a chat window, else the record."""
    return str(hit.chunk.thread_id) if hit.chunk.members else hit.chunk.asset_id
