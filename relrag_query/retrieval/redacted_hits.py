"""What services and language models are given: passages redacted once more, by the policies of now.

What is published was redacted when it was indexed, and once more changes nothing in it. Policies may have become
stricter since, and the next sync has not come yet: a text that goes to another machine does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relrag_pipelines.pii import PIIRedactor, RedactionError
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.settings import Settings
from relrag_pipelines.workspace import Workspace
from relrag_query.retrieval.hit import Hit

_DEFAULT = "default"
"""the channel of what no source holds, such as facts about people"""


def redact_hits(hits: Sequence[Hit], settings: Settings) -> list[Hit]:
    """The hits with what their channels hide replaced, in order; one that cannot be redacted is left out."""
    if not settings.pii_redaction_enabled:
        return list(hits)
    workspace, redacted = Workspace(settings), []
    channels = {one.name: workspace.channel(one) for one in settings.sources}
    for hit in hits:
        channel = channel_of(hit.rag_source_type, channels.get(hit.source, _DEFAULT))
        try:
            redacted.append(_redacted(hit, workspace.redactor, channel))
        except RedactionError:
            continue
    return redacted


def _redacted(hit: Hit, redactor: PIIRedactor, channel: str) -> Hit:
    def string(text: str | None) -> str | None:
        return text and redactor.redact(text, channel)

    def all_of(texts: Sequence[str]) -> list[str]:
        return redactor.redact_many(texts, channel)

    chunk = replace(
        hit.chunk,
        text=redactor.redact(hit.chunk.text, channel),
        from_=string(hit.chunk.from_),
        to=all_of(hit.chunk.to),
        participants=all_of(hit.chunk.participants),
        subject=string(hit.chunk.subject),
        file_name=string(hit.chunk.file_name),
        source_uri=string(hit.chunk.source_uri),
    )
    messages = tuple(
        replace(one, sender=string(one.sender), text=redactor.redact(one.text, channel)) for one in hit.messages
    )
    extra = {name: string(value) if isinstance(value, str) else value for name, value in hit.extra.items()}
    return replace(hit, chunk=chunk, messages=messages, extra=extra)
