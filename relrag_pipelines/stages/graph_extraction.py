"""A GraphRAG index by a language model, within a budget; earlier results are reused."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from relrag_pipelines.stores import model_answers
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

    from relrag_pipelines.graphrag.schema import Tables


def build_by_model(
    workspace: Workspace, chunks: pd.DataFrame, people: pd.DataFrame | None
) -> tuple[Tables, dict[str, Any]]:
    """The tables of an index, and what it took: tokens before and after, what is left for the next sync.

    Raises ModelError where the model cannot be asked at all, for lack of a key or a package.
    """
    from relrag_pipelines.graphrag.build import build
    from relrag_pipelines.graphrag.llm import extraction, model_writer
    from relrag_pipelines.language_models import model, reading

    asked = workspace.settings.graphrag
    client = model.load(asked.service, asked.model or model.USUAL[asked.service], asked.url)
    home, file = workspace.home, model_answers.GRAPHRAG
    known, keep = model_answers.load(home, file), partial(model_answers.keep, home, file)
    texts = chunks["text"].tolist()
    ahead = reading.estimate(texts, extraction.question(asked.gleanings, claims=asked.claims), client.name, known)
    found = extraction.extract(
        texts, client, known, budget=asked.token_budget, gleanings=asked.gleanings, claims=asked.claims, keep=keep
    )
    writer = model_writer.ModelWriter(client, known, asked.token_budget - found.tokens, keep)
    if found.reason:  # a service that fails is not asked for more
        writer.reason = found.reason
    tables = build(chunks, people, None, extractions=found.answers, writer=writer, claims=asked.claims)
    return tables, {
        "model": client.name,
        "tokens_expected": ahead,
        "tokens": found.tokens + writer.tokens,
        "written": writer.asked - writer.failed,
        "failed": len(found.failures) + writer.failed,
        "pending": len(found.pending) + writer.pending,
        "stopped": found.reason or writer.reason,
    }
