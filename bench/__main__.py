"""`python -m bench [NAME ...]`: measures, prints a table, and says which gates are short.

A run of all measures also writes bench/results.json and the tables of docs/performance.md. The exit code is 0 even when
a gate is short; with `--check` it is 1 then.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench import (
    chat_exports,
    code,
    documents,
    embedding,
    empty_sync,
    findings_by_country,
    git,
    graph_page,
    graphrag,
    hostile_texts,
    mail,
    pages,
    peers,
    people,
    pii_scores,
    redaction,
    report,
    search,
    serving,
    stores,
    threads,
    transcripts,
    whatsapp_parse,
)
from bench.clock import Machine
from bench.measurement import HEADER, Figure, aligned
from bench.peers import Peer

Measured = tuple[list[Figure], dict[str, Any]]
"""figures, and details for the docs"""


@functools.cache
def _others() -> Sequence[Peer]:
    found = peers.measure()
    if not found:
        print("peers: run `make bench-peers` once ...", end=" ", flush=True)
    return found


def _redaction() -> list[Figure]:
    gates = {"chat": 5.0, "mail": 3.0, "nothing": 20.0, "presidio_research": 2.0}
    return [
        Figure(
            f"redaction, {name.replace('_', '-')}, {row['texts']:,} texts",
            row["relrag_texts_per_s"],
            "texts/s",
            row["stock_texts_per_s"],
            "Presidio as it comes",
            at_least=gates[name],
        )
        for name, row in redaction.measure().items()
    ]


def _whatsapp() -> list[Figure]:
    row, unit = whatsapp_parse.measure(), "messages/s"
    ours, floor, local, strptime = (row[f"{name}_messages_per_s"] for name in ("ours", "floor", "local", "strptime"))
    return [
        Figure("reading a WhatsApp export", ours, unit, floor, "a pattern and datetime, as UTC", at_most=2.0),
        Figure("the same", ours, unit, local, "a pattern and datetime, without its zone"),
        Figure("the same", ours, unit, strptime, "a pattern and strptime, without its zone"),
    ]


def _mail() -> list[Figure]:
    row, unit, against = mail.measure(), "mails/s", "email, policy.default"
    found, records, floor = (row[f"{name}_mails_per_s"] for name in ("parsed", "read", "floor"))
    threaded = threads.measure()
    return [
        Figure(f"parsing mails of {row['bytes_per_mail'] / 1000:.0f} KB", found, unit, floor, against, at_least=8.0),
        Figure("the same as whole records", records, unit, floor, against),
        Figure(
            f"threading {threaded['mails']:,} mails",
            threaded["seconds"],
            other=threaded["floor_seconds"],
            against="a plain union-find",
            at_most=5.0,
        ),
        Figure("the same, memory of the process", threaded["peak_gib"], "GiB", at_most=2.0),
    ]


def _transcripts() -> list[Figure]:
    row = transcripts.measure()
    return [
        Figure(f"reading captions, {name}", speed, "MB/s", at_least=transcripts.GATE)
        for name, speed in row.items()
        if not name.endswith("floor")
    ]


MEASURES: dict[str, Callable[[], Measured]] = {
    "unchanged": lambda: (empty_sync.measure(), {}),
    "redaction": lambda: (_redaction(), {}),
    "hostile": lambda: (hostile_texts.figures(), {}),
    "findings": lambda: ([*pii_scores.figures(), *findings_by_country.figures()], {}),
    "whatsapp": lambda: (_whatsapp(), {}),
    "chats": lambda: (chat_exports.measure(), {}),
    "mail": lambda: (_mail(), {}),
    "transcripts": lambda: (_transcripts(), {}),
    "git": lambda: (git.measure(), {}),
    "code": lambda: (code.measure(), {}),
    "documents": lambda: documents.measure(others=_others()),
    "embedding": lambda: (embedding.measure(), {}),
    "graphrag": lambda: (graphrag.measure(), {}),
    "people": lambda: (people.measure(), {}),
    "stores": lambda: (stores.measure(), {}),
    "search": lambda: (search.measure(others=_others()), {}),
    "serving": lambda: (serving.measure(), {}),
    "pages": lambda: (pages.measure(), {}),
    "graph": lambda: (graph_page.measure(), {}),
}


def main(arguments: Sequence[str]) -> int:
    """Runs the measures that are named, else all; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed against floors and peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MEASURES)}; else all")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a gate is short")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.names) - MEASURES.keys()):
        parser.error(f'no measure is named "{unknown[0]}"; known: {", ".join(MEASURES)}')
    begun = time.perf_counter()
    measured, machine = _measure(asked.names or list(MEASURES))
    figures = [figure for found, _ in measured.values() for figure in found]
    print("\n" + aligned([HEADER, *(figure.cells() for figure in figures)]))
    print(f"\n{report.scale(machine.factor)}")
    if not asked.names:
        report.write(report.results(measured, _others(), machine.factor))
        print("\nWritten: bench/results.json and the tables of docs/performance.md.")
    return _verdict(figures, time.perf_counter() - begun, asked.check)


def _measure(names: Sequence[str]) -> tuple[dict[str, Measured], Machine]:
    """What was measured by name, with gates for this machine, whose speed is looked at before and after each.

    What misses a gate is measured once more, and that counts: a slow minute of a machine that others use as well seldom
    comes twice.
    """
    measured, machine = {}, Machine()
    machine.look()
    for name in names:
        measured[name] = _take(name, machine)
    for name, (figures, _) in _scaled(measured, machine).items():
        if short := _short(figures):
            print(f"short at first: {'; '.join(short)}")
            measured[name] = _take(name, machine)
    return _scaled(measured, machine), machine


def _take(name: str, machine: Machine) -> Measured:
    print(f"measuring {name} ...", end=" ", flush=True)
    started = time.perf_counter()
    found = MEASURES[name]()
    print(f"{time.perf_counter() - started:.0f} s", flush=True)
    machine.look()
    return found


def _scaled(measured: Mapping[str, Measured], machine: Machine) -> dict[str, Measured]:
    return {
        name: ([figure.on_machine(machine.factor) for figure in figures], details)
        for name, (figures, details) in measured.items()
    }


def _short(figures: Sequence[Figure]) -> list[str]:
    return [figure.what for figure in figures if not figure.ok]


def _verdict(figures: list[Figure], seconds: float, check: bool) -> int:
    short = _short(figures)
    said = f"SHORT of their gates: {'; '.join(short)}." if short else "All gates met."
    print(f"\n{seconds:.0f} s. {said}")
    return 1 if check and short else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
