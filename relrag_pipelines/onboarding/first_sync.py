"""Estimates the first sync per source, on this machine, with the default embedder of a new archive."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines import embedders
from relrag_pipelines.onboarding.discover import Discovery
from relrag_pipelines.onboarding.estimate import SECONDS_A_MONTH, estimate
from relrag_pipelines.onboarding.machine_speed import embedding_rate
from relrag_pipelines.onboarding.source_sample import SourceContent, examine
from relrag_pipelines.settings import Settings

_LOOK_SECONDS = 6.0
"""for all sources together"""
_OTHER_EMBEDDED = 1.15
"""factor for embedded texts other than records: statements about people and relationships"""


def seconds_of_each(folder: Path, discovery: Discovery, timezone: str, settings: Settings | None = None) -> list[float]:
    """Seconds per source of the folder, without START_SECONDS; the embedder is that of `settings`, by default e5."""
    settings = settings or Settings.model_validate({})
    each = _LOOK_SECONDS / max(1, len(discovery.sources))
    contents = [examine(folder, source, timezone, each) for source in discovery.sources]
    texts = [text for content in contents for text in content.texts]
    model, rate = embedders.model(settings), embedding_rate(settings, texts)
    share = model.embedded_share * _OTHER_EMBEDDED if model else 0.0
    return [
        _seconds(source.files, content) + (content.text * share / rate if rate else 0.0)
        for source, content in zip(discovery.sources, contents, strict=True)
    ]


def _seconds(files: int, content: SourceContent) -> float:
    """Seconds of a source without embedding."""
    return estimate(files, round(content.records), content.text).seconds + content.months * SECONDS_A_MONTH
