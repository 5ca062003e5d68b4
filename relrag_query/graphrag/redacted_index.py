"""Redacts a GraphRAG index as it is opened, if its texts were not redacted under the current policies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import PIIRedactor, RedactionError
from relrag_pipelines.stages.redaction_policy import possible_channels
from relrag_pipelines.workspace import Workspace
from relrag_query.graphrag.index import Index
from relrag_query.retrieval.indexed_records import DEFAULT
from relrag_query.retrieval.redacted_views import WITHHELD

_TEXTS = {
    "documents": ("title", "text"),
    "text_units": ("text",),
    "entities": ("title", "type", "description"),
    "relationships": ("source", "target", "description"),
    "community_reports": ("title", "full_content", "summary"),
    "covariates": ("subject_id", "type", "status", "description", "source_text"),
    "nodes": ("title",),
}
"""columns that hold text, of names too: equal names stay equal, so that what is joined by them is"""


def redact(index: Index, workspace: Workspace, *, own: bool) -> Index:
    """The index with redacted texts: its own has texts of all channels, another index the default channel."""
    channels = {DEFAULT}
    if own:
        channels = channels.union(*(possible_channels(workspace, source) for source in workspace.settings.sources))
    ordered = sorted(channels, key=lambda channel: (_keeps_pseudonyms(workspace, channel), channel))
    tables = dict(index.tables)
    for name, columns in _TEXTS.items():
        present = [column for column in columns if column in tables[name]]
        redacted = {column: _redact_column(tables[name][column], workspace.redactor, ordered) for column in present}
        tables[name] = tables[name].assign(**redacted)
    return replace(index, tables=tables)


def _keeps_pseudonyms(workspace: Workspace, channel: str) -> bool:
    """Whether the policy of a channel tells equal values apart from others; such a policy is applied last."""
    policies = workspace.settings.pii_policies
    return policies.get(channel, policies[DEFAULT]).action == "pseudonymize"


def _redact_column(column: pd.Series, redactor: PIIRedactor, channels: Iterable[str]) -> pd.Series:
    """The strings of a column, redacted; other values are unchanged."""
    values = column.tolist()
    for channel in channels:
        texts = pa.array([value if isinstance(value, str) else "" for value in values], pa.string())
        for row in pc.indices_nonzero(pc.match_substring_regex(texts, redactor.hint(channel))).to_pylist():
            values[row] = _redact_text(values[row], redactor, channel)
    return pd.Series(values, index=column.index, dtype=object)


def _redact_text(text: str, redactor: PIIRedactor, channel: str) -> str:
    try:
        return redactor.redact(text, channel)
    except RedactionError:
        return WITHHELD
