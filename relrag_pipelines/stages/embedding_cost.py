"""An estimate of embedding: texts, tokens, cost, and what leaves this machine."""

from __future__ import annotations

from dataclasses import dataclass

from relrag_pipelines import embedders
from relrag_pipelines.embedders import embed_chunks
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import lake, vector_cache
from relrag_pipelines.workspace import Workspace

BYTES_A_TOKEN = 4
"""of UTF-8, roughly in any language: with e5 from 3.1 (code) and 3.3 (Czech) to 4.2 (English) and 4.7 (Hebrew)"""


@dataclass(frozen=True)
class CostEstimate:
    """What a sync is going to embed."""

    model: str
    texts: int
    """passages of the lake, and spans, that have no vector; those of files still to be read are not among them"""
    tokens: int
    """of these and of the files to be read, estimated from their length"""
    usd: float | None
    """by the list price; None where that is not known or nothing is paid"""
    host: str
    """where the texts are sent; empty: nowhere"""
    redacted: bool
    languages: tuple[str, ...] = ()
    """those that are embedded, ISO 639-1; empty: any"""
    seconds: float | None = None
    """that it may take on this machine; None where that is not known"""

    @property
    def words(self) -> str:
        """The same in a sentence."""
        most = f" of texts in {', '.join(self.languages)}" if self.languages else ""
        lead = f"embed {'up to' if most else 'about'} {self.tokens:,} tokens{most} with {self.model}"
        if not self.host:
            return f"{lead}, on this machine; nothing leaves it"
        cost = "" if self.usd is None else f", for {dollars(self.usd)}"
        kind = "redacted text" if self.redacted else "text as it stands (pii_redaction_enabled is false)"
        return f"{lead}{cost}: the {kind} of passages, and later of questions, is sent to {self.host}"


def dollars(usd: float) -> str:
    """An estimated amount in words."""
    return "less than $0.01" if usd < 0.01 else f"about ${usd:,.2f}"


def estimate_cost(workspace: Workspace, todo: Plan) -> CostEstimate | None:
    """What the plan will embed; None without an embedder, or if nothing is embedded."""
    model = embedders.model(workspace.settings)
    if model is None:
        return None
    stale = [part for part in todo.stale if part.stage == "embeddings"]
    missing = [text for part in stale for text in _texts_to_embed(workspace, model, part.source, part.month)]
    length = sum(len(text.encode("utf-8", "replace")) for text in missing)
    length += round(model.embedded_share * sum(export.text_bytes for export in todo.exports))
    if not length:
        return None
    tokens = length // BYTES_A_TOKEN
    usd = None if model.usd_per_million is None else tokens * model.usd_per_million / 1e6
    seconds = tokens / model.tokens_per_second if model.tokens_per_second else None
    redacted = workspace.settings.pii_redaction_enabled
    return CostEstimate(model.name, len(missing), tokens, usd, model.host, redacted, model.languages, seconds)


def _texts_to_embed(workspace: Workspace, model: embedders.ModelInfo, source: str, month: str) -> list[str]:
    """Texts of that month that are not in the cache."""
    chunks = lake.read(workspace.home, "chunks", source, month)
    texts = embed_chunks.texts_to_embed(chunks, model, workspace.keys.content_hash).texts
    cached = vector_cache.hashes_with_vector(workspace.home, model.name, list(texts))
    return [text for key, text in texts.items() if key not in cached]
