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
    """The tables of an index, and figures: tokens expected and used, passages left for the next sync.

    Raises ModelError where the model cannot be asked at all, for lack of a key or a package.
    """
    from relrag_pipelines.graphrag.build import build
    from relrag_pipelines.graphrag.llm import extraction, model_writer
    from relrag_pipelines.language_models import model, reading

    options = workspace.settings.graphrag
    client = model.load(options.service, options.model or model.USUAL[options.service], options.url)
    home, file = workspace.home, model_answers.GRAPHRAG
    answers, keep = model_answers.load(home, file), partial(model_answers.keep, home, file)
    texts = chunks["text"].tolist()
    ahead = reading.estimate(texts, extraction.question(options.gleanings, claims=options.claims), client.name, answers)
    result = extraction.extract(
        texts,
        client,
        answers,
        budget=options.token_budget,
        gleanings=options.gleanings,
        claims=options.claims,
        keep=keep,
    )
    writer = model_writer.ModelWriter(client, answers, options.token_budget - result.tokens, keep)
    if result.reason:  # a service that fails is not asked for more
        writer.reason = result.reason
    tables = build(chunks, people, None, extractions=result.answers, writer=writer, claims=options.claims)
    return tables, {
        "model": client.name,
        "tokens_expected": ahead,
        "tokens": result.tokens + writer.tokens,
        "written": writer.asked - writer.failed,
        "failed": len(result.failures) + writer.failed,
        "pending": len(result.pending) + writer.pending,
        "stopped": result.reason or writer.reason,
    }
