"""How long the first sync takes, source by source, on this machine, with the embedder that a new archive has."""

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
"""how much is embedded besides records: statements about people and relationships"""


def seconds_of_each(folder: Path, found: Discovery, timezone: str, settings: Settings | None = None) -> list[float]:
    """Seconds for each source of the folder, without START_SECONDS; `settings` say what embeds, by default e5."""
    settings = settings or Settings.model_validate({})
    each = _LOOK_SECONDS / max(1, len(found.sources))
    contents = [examine(folder, one, timezone, each) for one in found.sources]
    texts = [text for content in contents for text in content.texts]
    model, rate = embedders.model(settings), embedding_rate(settings, texts)
    share = model.embedded_share * _OTHER_EMBEDDED if model else 0.0
    return [
        _seconds(one.files, content) + (content.text * share / rate if rate else 0.0)
        for one, content in zip(found.sources, contents, strict=True)
    ]


def _seconds(files: int, content: SourceContent) -> float:
    """Without embedding."""
    return estimate(files, round(content.records), content.text).seconds + content.months * SECONDS_A_MONTH
