"""Searches redacted records for personal data; a month that contains any is removed from the lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from relrag_pipelines.errors import SafeError
from relrag_pipelines.settings import Source
from relrag_pipelines.stores import audit_mark, lake
from relrag_pipelines.workspace import Workspace

_MONTHS_CHECKED = 4
"""of a source, those that were written last"""


_IDS = frozenset(
    {
        "asset_id",
        "source_id",
        "thread_id",
        "parent_asset_id",
        "parent_ref",
        "content_hash",
        "timestamp",
        "pages",
        "spoken",
    }
)
"""columns that no policy touches; the export made them safe"""


class RedactionIncomplete(SafeError):
    """Months that were not checked since they were redacted hold personal data; the message says which."""


def require_checked(workspace: Workspace) -> None:
    """Checks what was redacted but not checked; RedactionIncomplete if personal data is found in it.

    That happens after a kill between the two, or if somebody materialised what follows but not the check.
    """
    for source in workspace.settings.sources:
        if audit_mark.is_unaudited(workspace.home, source.name) and (unredacted := check_redaction(workspace, source)):
            raise RedactionIncomplete(f"{source.name}: {describe_unredacted(unredacted)}")


def check_redaction(workspace: Workspace, source: Source) -> dict[str, int]:
    """The result of `find_unredacted`; the months in it are removed.

    Nothing can be made from them until they are redacted again.
    """
    unredacted = find_unredacted(workspace, source)
    lake.drop(workspace.home, "records", source.name, sorted(unredacted))
    audit_mark.mark_audited(workspace.home, source.name)
    return unredacted


def describe_unredacted(unredacted: Mapping[str, int]) -> str:
    """What to say of months that still hold personal data."""
    months = ", ".join(sorted(unredacted))
    return (
        f"{sum(unredacted.values())} of what was redacted still held personal data, in {months}; "
        "nothing of that is published, and the next sync redacts it again; if it stays so, please report it"
    )


def find_unredacted(workspace: Workspace, source: Source, most: int = 1000) -> dict[str, int]:
    """Number of strings in redacted records that contain what the policy forbids, by month with any.

    Examines at most `most` records, spread over each month, from the months written last; of the months that wait for
    the search, or of all where none does.
    """
    from relrag_pipelines.pii import json_values, record_strings, redact_tables, redacted_numbers

    counts: Counter[str] = Counter()
    if not workspace.settings.pii_redaction_enabled:
        return counts
    home, remaining = workspace.home, most
    for month in _months_to_search(home, source.name):
        rows = lake.read(home, "records", source.name, month)
        few = min(remaining, most // _MONTHS_CHECKED)
        rows = rows.take(pa.array(range(0, rows.num_rows, -(-rows.num_rows // few) or 1), pa.int64()))
        for row in rows.to_pylist():
            channel = redact_tables.channel_of(row["rag_source_type"], workspace.channel(source))
            row["extra"] = list(json_values.visible_strings(redact_tables.strip_keyed_refs(row["extra"])))
            row["numbers"] = sorted(redacted_numbers.stand_alone(row["numbers"], row["text"], row["subject"]))
            texts = _strings([value for name, value in row.items() if name not in _IDS])
            counts[month] += sum(
                bool(workspace.redactor.detect(record_strings.COMMIT.sub("-", text), channel)) for text in texts
            )
        remaining -= rows.num_rows
        if remaining <= 0:
            break
    return +counts


def _months_to_search(home: Path, source: str) -> list[str]:
    """The months that wait for the search, or all where none does; what was written last comes first."""
    marked = audit_mark.unaudited_months(home, source)
    files = lake.month_files(home, "records", source).items()
    written = {month: path.stat().st_mtime_ns for month, path in files if month in marked or not marked}
    return sorted(written, key=lambda month: (written[month], month), reverse=True)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
