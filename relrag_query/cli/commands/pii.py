"""`relrag pii`: how much personal data was replaced, and what would be found in a text, with the reasons."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relrag_pipelines import settings as settings_module
from relrag_pipelines.pii import redact_tables
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from presidio_analyzer import RecognizerResult

_STAND_IN = re.compile(r"<([A-Z][A-Z0-9_]+)(?::k\d+:e?[0-9a-f]+)?>")


def report(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints how many values of each entity were replaced, by channel and month; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    counted = _counts(workspace)
    rows = [{"entity": e, "channel": c, "month": m, "count": n} for (e, c, m), n in sorted(counted.items())]
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    widths = [max(len(str(row[name])) for row in rows) if rows else 0 for name in ("entity", "channel")]
    for row in rows:
        print(safe(f"{row['entity']:<{widths[0]}}  {row['channel']:<{widths[1]}}  {row['month']}  {row['count']:>7,}"))
    print(f"{number(sum(counted.values()), 'value')} replaced in what is indexed.")
    if not workspace.settings.pii_redaction_enabled:
        print("Redaction is off: personal data is indexed as it stands; pii_redaction_enabled in relrag.toml.")
    print("What a policy removes or masks leaves nothing that could be counted.")
    return 0


def test(text: str, channel: str = "default", config: Path | None = None) -> int:
    """Prints what Presidio finds in the text under a channel's policy, why, and the text redacted."""
    workspace = Workspace(settings_module.load(config))
    redactor = workspace.redactor
    found = sorted(redactor.explain(text, channel), key=lambda one: (one.start, -one.end, -one.score))
    for one in found:
        action = redactor.action(one.entity_type, channel)
        print(safe(f"{one.entity_type}  {text[one.start : one.end]!r}  {one.score:.2f}  {action}"))
        for line in _reasons(one):
            print(safe(f"    {line}"))
    print("Nothing is found." if not found else "")
    print(safe(redactor.redact(text, channel)))
    if not redactor.enabled:
        print("Redaction is off in this archive; with it on, the above would be replaced.")
    return 0


def _reasons(one: RecognizerResult) -> Iterator[str]:
    """Presidio's explanation of a finding, a line a step."""
    why: Any = one.analysis_explanation
    yield why.textual_explanation or f"found by {why.recognizer}"
    if why.original_score != one.score:
        yield f"score {why.original_score:.2f}, raised to {one.score:.2f}"
    if why.supportive_context_word:
        yield f"because of the word {why.supportive_context_word!r} in front of it"


def _counts(workspace: Workspace) -> Counter[tuple[str, str, str]]:
    """How many values stand replaced in records, by entity, channel and month."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for source in workspace.settings.sources:
        for month in sorted(lake.manifest(workspace.home, "records", source.name)):
            for row in lake.read(workspace.home, "records", source.name, month).to_pylist():
                channel = redact_tables.channel_of(row["rag_source_type"], workspace.channel(source))
                for text in _strings(list(row.values())):
                    for match in _STAND_IN.finditer(text):
                        counted[match[1], channel, month] += 1
    return counted


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
