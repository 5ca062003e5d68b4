"""Measured figures as bench/results.json and as the tables of docs/performance.md."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bench.clock import IMPORT_DAGSTER, ROOT
from bench.measurement import HEADER, Figure, from_json, to_json
from bench.peers import Peer
from relrag_pipelines.settings import now

RESULTS = ROOT / "bench" / "results.json"
PAGE = ROOT / "docs" / "performance.md"

_BEGIN_FULL, _END_FULL = "<!-- written by make bench-full -->\n", "<!-- end of what make bench-full writes -->"
_BEGIN, _END = "<!-- written by make bench -->\n", "<!-- end of what make bench writes -->"
_PACKAGES = ("dagster", "duckdb", "presidio-analyzer", "pyarrow", "qdrant-client", "qdrant-edge-py", "tree-sitter")
_TITLES = {
    "unchanged": "Nothing to do",
    "redaction": "Redaction",
    "hostile": "Hostile texts",
    "findings": "Personal data found",
    "whatsapp": "WhatsApp exports",
    "chats": "Other chat exports",
    "mail": "Mail",
    "transcripts": "Captions",
    "git": "Logs of git",
    "code": "Source code",
    "documents": "Many short documents",
    "embedding": "Embedding",
    "graphrag": "GraphRAG",
    "people": "Who is who",
    "stores": "Where the vectors are",
    "search": "Search",
}


def scale(factor: float) -> str:
    """What is said of the factor by which absolute gates are scaled."""
    return (
        f"`import dagster` took {factor * IMPORT_DAGSTER:.2f} s, where gates in seconds are for {IMPORT_DAGSTER} s: "
        f"they are scaled by {factor:.2f}."
    )


def results(
    measured: Mapping[str, tuple[list[Figure], dict[str, Any]]], others: Sequence[Peer], factor: float
) -> dict[str, Any]:
    """What results.json holds."""
    versions = {name: version(name) for name in _PACKAGES}
    for peer in others:
        versions |= peer.versions
    return {
        **machine(),
        "factor": round(factor, 2),
        "versions": dict(sorted(versions.items())),
        "figures": {name: [to_json(figure) for figure in figures] for name, (figures, _) in measured.items()},
        "details": {name: _rounded(details) for name, (_, details) in measured.items() if details},
    }


def machine() -> dict[str, Any]:
    """When and where this is measured."""
    return {
        "date": now().date().isoformat(),
        "machine": {
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
        },
    }


def write_full(figures: Sequence[Figure], details: Mapping[str, Any], factor: float) -> None:
    """Writes the figures at a million messages into the page."""
    stages, floors, seconds = details["stages"], details["floors"], figures[0].ours
    rest = seconds - sum(stages.values())
    rows = [
        [name, f"{taken:.1f}", f"{taken / seconds:.0%}", f"{floors[name]:.1f}" if name in floors else ""]
        for name, taken in stages.items()
    ]
    rows.append(["Dagster, checks, start-up", f"{rest:.1f}", f"{rest / seconds:.0%}", ""])
    lines = [
        "",
        f"Measured on {now().date().isoformat()}. {scale(factor)}",
        "",
        *_table([*HEADER[:-1], "verdict"], [f.cells() for f in figures]),
    ]
    lines += [
        "",
        "Where the time of the first sync goes:",
        "",
        *_table(["stage", "seconds", "share", "floor"], rows),
        "",
    ]
    before, after = PAGE.read_text().split(_BEGIN_FULL)
    PAGE.write_text(before + _BEGIN_FULL + "\n".join(lines) + "\n" + _END_FULL + after.split(_END_FULL)[1])


def write(found: dict[str, Any]) -> None:
    """Writes results.json, and its tables into the page."""
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(with_tables(PAGE.read_text(), found))


def with_tables(page: str, found: dict[str, Any]) -> str:
    """The page with the tables of these results in the place that it marks."""
    before, rest = page.split(_BEGIN)
    return before + _BEGIN + markdown(found) + _END + rest.split(_END)[1]


def markdown(found: dict[str, Any]) -> str:
    """The tables."""
    machine = found["machine"]
    lines = [
        "",
        f"Measured on {found['date']}: {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}, "
        f"Python {machine['python']}; " + ", ".join(f"{name} {one}" for name, one in found["versions"].items()) + ".",
        scale(found["factor"]),
    ]
    for name, figures in found["figures"].items():
        rows = [from_json(figure).cells() for figure in figures]
        lines += ["", f"### {_TITLES.get(name, name)}", "", *_table([*HEADER[:-1], "verdict"], rows)]
    if documents := found["details"].get("documents"):
        lines += ["", "### Where the time of the documents goes, seconds", "", *_stages(documents["stages"])]
        floor = " and ".join(f"{seconds} s for the {part}" for part, seconds in documents["floor"].items())
        lines += ["", f"The floor spends {floor}."]
    return "\n".join([*lines, "", ""])


def _stages(stages: dict[str, list[float]]) -> list[str]:
    rows = [[name, *(f"{seconds:.2f}" for seconds in both)] for name, both in stages.items()]
    total = [f"{sum(column):.2f}" for column in zip(*stages.values(), strict=True)]
    return _table(["stage", "redaction off", "redaction on"], [*rows, ["all", *total]])


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return round(value, 3) if isinstance(value, float) else value
