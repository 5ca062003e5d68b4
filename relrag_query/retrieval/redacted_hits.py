"""What services and language models are given: passages redacted once more, by the policies of now.

What is published was redacted when it was indexed, and once more changes nothing in it. Policies may have become
stricter since, and the next sync has not come yet: a text that goes to another machine does not wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from relrag_pipelines.pii import PIIRedactor, RedactionError
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.redaction_policy import possible_channels
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.workspace import Workspace
from relrag_query.retrieval.hit import Hit

WITHHELD = "[withheld: it could not be redacted]"
_HASH = r"(?:h[0-9a-f]{16}|(?=\d*[a-f])[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_PART = rf"(?:{_HASH}|[a-z_]+|\d{{8}}T\d{{6}}|\d{{1,6}})"
_OWN_ID = re.compile(rf"(?:{_PART}:)*?{_HASH}(?::{_PART})*")
"""an id made of hashes, beside names of kinds and sources, times and counts; it holds nothing of a text"""
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


def context_redaction(settings: Settings, generation: Generation | None) -> Callable[[str], str] | None:
    """What a text goes through before a language model reads it; None where it stays as it is.

    It stays where the generation that it is of was published under the policies of now. Else all is replaced that any
    channel hides, since a text does not tell which channel it is of; ids of ours stay. What cannot be redacted is
    withheld.
    """
    workspace = Workspace(settings)
    if not settings.pii_redaction_enabled:
        return None
    if generation and plans.policy_hash(workspace) == generation.manifest.get("policy"):
        return None
    channels = {_DEFAULT}.union(*(possible_channels(workspace, source) for source in settings.sources))

    def redact(text: str) -> str:
        if _OWN_ID.fullmatch(text):
            return text
        try:
            for channel in sorted(channels):
                text = workspace.redactor.redact(text, channel)
        except RedactionError:
            return WITHHELD
        return text

    return redact


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The value with each string in its lists and objects changed."""
    if isinstance(value, dict):
        return {name: change_texts(one, change) for name, one in value.items()}
    if isinstance(value, list):
        return [change_texts(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def _redacted(hit: Hit, redactor: PIIRedactor, channel: str) -> Hit:
    def string(text: str | None) -> str | None:
        return text and redactor.redact(text, channel)

    def reference(ref: str | None) -> str | None:
        return ref if ref is None or _OWN_ID.fullmatch(ref) else redactor.redact(ref, channel)

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
        parent_ref=reference(hit.chunk.parent_ref),
    )
    messages = tuple(
        replace(one, sender=string(one.sender), text=redactor.redact(one.text, channel)) for one in hit.messages
    )
    extra = change_texts(dict(hit.extra), lambda text: redactor.redact(text, channel))
    return replace(hit, chunk=chunk, messages=messages, extra=extra)
