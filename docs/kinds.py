"""docs/sources.md: for every kind how to export, what is read, its options, and the fields that its records fill.

How to export is written in exports/<kind>.md. What is filled is told by the records that the connectors read from
examples/: the demo archive, and samples that show more of a kind.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from relrag_pipelines import settings
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS, Kind, ReadContext, mail_ids
from relrag_pipelines.stores.table_schema import columns

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
DEMO_KINDS = {source["kind"] for source in tomllib.loads((ROOT / "relrag.toml").read_text("utf-8"))["sources"]}
SAMPLES = {
    "code": "examples/samples/shop",
    "legacy": "examples/samples/older",
    "jsonl": "examples/samples/notes.jsonl",
} | {
    name: f"examples/samples/{name}"
    for name in KINDS.keys() - DEMO_KINDS
    if (ROOT / "examples" / "samples" / name).exists()
}
"""kind -> where it is shown: these fill more fields than the demo archive, and their code is in another language, or
the demo has none of them"""
FIELDS = tuple(
    column.name
    for column in columns(Record)
    if column.name not in {"source_id", "asset_id", "source", "kind", "rag_source_type", "client_id", "project_id"}
    and column.name not in {"text", "ts", "date_quality", "locations", "extra", "content_hash"}
)
"""what a connector may know of a record beside its text"""

_EVERY_KIND = ("exclude", "channel", "retain")
_IMAP = ("user", "folders")
_LONGEST = 60
_KEYS = Keys(b"i" * 32, b"p" * 32, "k1")


@functools.cache
def samples() -> dict[tuple[str, str], list[Record]]:
    """(kind, rag_source_type) -> the records of that type, in the order of KINDS."""
    demo = settings.load(ROOT / "relrag.toml", environ={})
    places = {source.kind: demo.source_path(source) for source in demo.sources}
    places |= {kind: ROOT / place for kind, place in SAMPLES.items()}
    found: dict[tuple[str, str], list[Record]] = {}
    for kind in KINDS.values():
        reading = ReadContext("sample", demo.timezone, _KEYS.id_hash, owner=demo.owner)
        place = places[kind.name]
        server = {"url": "imaps://imap.example.org", "user": "sample"}  # of which the sample is a mirror
        source = Source.model_validate(
            {"name": "sample", "kind": kind.name, **(server if kind.always_remote else {"path": place})}
        )
        for unit in scan_units(place, kind, source, {}, "").units.values():
            for record in kind.read(unit, reading):
                if isinstance(record, Record):
                    found.setdefault((kind.name, record.rag_source_type or kind.rag_source_type), []).append(record)
    return found


def value(record: Record, field: str) -> Any:
    """What a record says in a field of FIELDS; None where it says nothing."""
    said = getattr(record, {"from": "from_", "timestamp": "ts"}.get(field, field))
    if field in ("parent_ref", "parent_asset_id") and said:
        said = mail_ids.plain_id(said)  # the export names mails, over all of them together
    return None if said in (None, "", []) else said


def filled(kind: str, rag_source_type: str) -> dict[str, int]:
    """Field -> how many of the sample's records of that type fill it."""
    records = samples()[kind, rag_source_type]
    counts = {field: sum(value(record, field) is not None for record in records) for field in FIELDS}
    if KINDS[kind].threads:  # the export works them out, over all mails together
        counts["thread_id"] = len(records)
    return counts


def page() -> str:
    """The whole page."""
    lines = ["# Sources", "", "Generated from `docs/exports/`, the table of kinds and the samples in `examples/` by"]
    lines += ["`make docs`; do not edit.", ""]
    lines += [
        "A source is a table `[[sources]]` of relrag.toml with a `name`, a `kind` and a `path`; `relrag init FOLDER`"
    ]
    lines += ["looks into a folder and writes them. Files are never changed; only servers that `url` names are asked."]
    lines += [""]
    for kind in KINDS.values():
        lines += [f"## {kind.name}", "", f"{kind.meaning[0].upper()}{kind.meaning[1:]}.", "", *_files(kind)]
        lines += [(DOCS / "exports" / f"{kind.name}.md").read_text(encoding="utf-8").strip(), "", *_options(kind)]
    lines += ["## Options of every kind", "", *_table(_EVERY_KIND)]
    return "\n".join([*lines, *_matrix(), *_records()])


def _files(kind: Kind) -> list[str]:
    files = [f"`{one}`" for one in (*kind.suffixes, *kind.patterns) if not one.startswith("*/")]
    said = [f"Files: {', '.join(files)}." if files else "Files: told by their names."]
    if kind.always_remote:
        return []
    if kind.companions:
        said.append(f"Beside them, of the same name: {', '.join(f'`{one}`' for one in kind.companions)}.")
    return [" ".join(said), ""]


def _options(kind: Kind) -> list[str]:
    options = (*kind.options, *(("url", "ca_file") if kind.fetcher else ()), *(_IMAP if kind.always_remote else ()))
    return _table(options) if options else []


def _table(names: tuple[str, ...]) -> list[str]:
    declared = {**Settings.model_fields, **Source.model_fields}
    rows = [f"| `{name}` | {(declared[name].description or '').partition(' only: ')[2] or declared[name].description} |"
            for name in names]  # fmt: skip
    return ["| option | meaning |", "|---|---|", *rows, ""]


def _matrix() -> list[str]:
    """Fields as rows, types of records as columns."""
    types = list(samples())
    lines = [
        "## What the records fill",
        "",
        "By type of record: ● every record of the samples, ○ some. What they mean:",
    ]
    lines += ["[records.md](records.md).", ""]
    first = {name: kind for kind, name in reversed(types)}
    heads = (f"`{name}`" if first[name] == kind else f"`{name}` ({kind})" for kind, name in types)
    lines += [f"| field | {' | '.join(heads)} |", f"|---|{'---|' * len(types)}"]
    for field in FIELDS:
        marks = (_mark(filled(*one)[field], len(samples()[one])) for one in types)
        lines.append(f"| `{field}` | {' | '.join(marks)} |")
    lines += [
        "",
        "Of a meeting with several passages `index_in_parent` is the place of the passage; `thread_id` of a mail is",
    ]
    return [*lines, "worked out over all mails together.", ""]


def _mark(count: int, total: int) -> str:
    return "●" if count == total else "○" if count else " "


def _records() -> list[str]:
    """Of each type the record that fills most fields."""
    lines = ["## A record of each type", "", "From the samples; what is long is cut.", ""]
    for (kind, rag_source_type), records in samples().items():
        best = max(records, key=lambda one: sum(value(one, field) is not None for field in FIELDS))
        lines += [f"### {kind}: {rag_source_type}", "", "| field | value |", "|---|---|"]
        lines += [f"| `{field}` | {_shown(best, field)} |" for field in FIELDS if value(best, field) is not None]
        lines.append("")
    return lines


def _shown(record: Record, field: str) -> str:
    said = value(record, field)
    show = _SHOWN.get(field, lambda one: ", ".join(one) if isinstance(one, list) else str(one))
    text = "when it was last changed" if field == "timestamp" and record.date_quality == "modified" else show(said)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}..."


_SHOWN: dict[str, Callable[[Any], str]] = {
    "timestamp": lambda ts: datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "pages": lambda pages: f"{len(pages)}, the first from {pages[0].start} to {pages[0].end}",
    "people": lambda people: ", ".join(f"{one.name} ({one.role})" for one in people),
    "spoken": lambda parts: f"{len(parts)}, the first from {parts[0].start_second} to {parts[0].end_second} s",
}
