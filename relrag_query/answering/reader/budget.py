"""Step 8, token budget: how many excerpts a language model is given. Without a model nothing is trimmed."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_pipelines.text.token_count import count_tokens
from relrag_query.answering.reader.protocol import Passage
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit

MAX_PASSAGES = 8
"""excerpts that a model reads at most"""
TOKENS_A_WORD = 1.5
"""of a language model, for each word or mark; more in Hebrew and Czech than in English"""


def note_budget(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """All hits, since excerpts are chosen from them first; the trace says how much of these a model is given."""
    if context.settings.answerer != "extractive":
        tokens = context.settings.answer_context_tokens
        context.note("budget", f"a model is given {MAX_PASSAGES} excerpts of them, within {tokens} tokens")
    return hits


def fit_token_budget(passages: Sequence[Passage], tokens: int) -> list[Passage]:
    """The first passages that have room in so many tokens, each whole, at least one and at most MAX_PASSAGES."""
    fitting: list[Passage] = []
    room = tokens / TOKENS_A_WORD
    for passage in passages[:MAX_PASSAGES]:
        room -= count_tokens(passage.text) + count_tokens(passage.header)
        if fitting and room < 0:
            break
        fitting.append(passage)
    return fitting
