"""A thousand planted values, forced through every Dagster asset, check, sensor and command: none is found outside private/."""

from __future__ import annotations

import json
import logging
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NoReturn

import dagster as dg
import duckdb
import pyarrow.parquet as pq
import pytest
import typer
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from relrag_pipelines import chunking, definitions, embedders, export, links, redact, stages
from relrag_pipelines.run import instance
from relrag_pipelines.sources import jsonl
from relrag_pipelines.stores import catalog, generations, lake, units, vectors
from relrag_query import cli
from relrag_query.commands import sync as commands
from tests import archive

MARK = "Zq7Canary"
VALUES = [f"{MARK}{number:04}" for number in range(1000)]


def numbered(chance: random.Random, digits: int) -> str:
    return "".join(chance.choice("0123456789") for _ in range(digits))


def personal(count: int) -> list[str]:
    """Phone numbers, addresses, cards and accounts, each once."""
    chance, found = random.Random(5), []
    for number in range(count):
        card = "4" + numbered(chance, 14)
        account = "0800" + numbered(chance, 16)
        found.append(
            (
                f"052-{numbered(chance, 7)}",
                f"planted{number}.{numbered(chance, 6)}@example.org",
                card + luhn.calc_check_digit(card),
                f"CZ{mod_97_10.calc_check_digits(account + 'CZ')}{account}",
            )[number % 4]
        )
    return found


def plant(folder: Path, values: list[str]) -> None:
    """Puts values into every field that a source can fill: texts, ids, titles, senders, names of chats, files, folders."""
    given = iter(values)
    notes = [
        {
            **{name: f"about {next(given)}" for name in ("id", "text", "from", "subject", "thread_id", "file_name")},
            **{name: [f"to {next(given)}"] for name in ("to", "participants")},
            "extra": {"note": next(given)},
            "timestamp": "2024-03-01T08:00:00Z",
        }
        for _ in range(60)
    ]
    with (folder / "notes.jsonl").open("a") as file:
        file.writelines(json.dumps(note) + "\n" for note in notes)
    for number in range(20):
        chat = folder / "chats" / f"WhatsApp Chat with {next(given)}.txt"
        lines = [f"13/01/2024, 10:{minute:02} - {next(given)}: Call {next(given)} now\n" for minute in range(8)]
        chat.write_text("".join(lines))
        paper = folder / "papers" / f"with {next(given)}" / f"{number} of {next(given)}.md"
        paper.parent.mkdir()
        paper.write_text(f"# Letter to {next(given)}\n\nPay {next(given)} today.\n")
    (folder / "papers" / "rest.md").write_text("\n\n".join(f"And {value} too." for value in given))


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    config = archive.make(folder)
    plant(folder, personal(1000))
    assert commands.sync(config) == 0
    return config


def contents(home: Path) -> Iterator[tuple[str, bytes]]:
    """(file, bytes) of everything outside private/, and what is packed in parquet and DuckDB as text."""
    for name, (_, content) in archive.contents(home).items():
        if name.startswith("private/"):
            continue
        yield name, content
        if name.endswith(".parquet"):
            yield f"{name} unpacked", repr(pq.read_table(home / name, partitioning=None).to_pylist()).encode()
        if name.endswith(".duckdb"):
            with duckdb.connect(str(home / name), read_only=True) as connection:
                for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                    rows = connection.table(table).fetchall()
                    yield f"{name} {table}", repr(rows).encode()


def found(home: Path, values: list[str]) -> list[str]:
    """Where any of the values stands outside private/, in UTF-8 or UTF-16."""
    forms = [(value, value.encode(), value.encode("utf-16-le")) for value in values]
    everything = list(contents(home))
    assert len(everything) > 100
    return [f"{v} in {name}" for name, held in everything for v, *both in forms if any(one in held for one in both)]


def test_no_planted_value_is_found_after_a_sync(synced: Path) -> None:
    assert found(synced.parent / ".relrag", personal(1000)) == []
    # and they did go through: the private records hold them
    home = synced.parent / ".relrag"
    private = repr([pq.read_table(path).to_pylist() for path in (home / "private" / "records").rglob("*.parquet")])
    assert sum(value in private for value in personal(1000)) > 950


class Silent(Exception):
    """One that tells only what it holds."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __str__(self) -> str:
        return self.value


KINDS_OF_ERROR: tuple[Callable[[str], BaseException], ...] = (
    ValueError,
    KeyError,
    Silent,
    lambda value: OSError(2, value, value),
    lambda value: UnicodeDecodeError("utf-8", value.encode(), 0, 1, value),
    lambda value: ExceptionGroup(value, [ValueError(value)]),
    SystemExit,
    duckdb.IOException,
)


def misbehave(values: list[str]) -> NoReturn:
    """Says the values in every way that a library can, and raises an error that has the others as causes."""
    *before, last = values
    error: BaseException = ValueError(before[0])
    for number, (value, kind) in enumerate(zip(before, cycle(KINDS_OF_ERROR), strict=False)):
        warnings.warn(value, stacklevel=1)
        logging.getLogger("some.library").error("read %s", value)
        print(value)
        print(value, file=sys.stderr)
        try:
            try:
                raise error
            except BaseException as caught:
                logging.getLogger("some.library").exception(value)
                if number % 2:
                    raise kind(value) from caught
                raise kind(value)  # noqa: B904  the cause that Python itself notes
        except BaseException as caught:
            error = caught
            error.add_note(value)
    # the last one tells what kind of error it will be seen as
    raise KINDS_OF_ERROR[len(last) % 2](last) from error


POINTS: list[tuple[Any, str, list[str]]] = [
    (jsonl, "read", ["notes", "export"]),
    (export, "_commit", ["notes", "export"]),
    (redact, "redact_records", ["notes", "redacted"]),
    (stages, "identifiers", ["notes", "identifiers"]),
    (chunking, "chunk", ["notes", "chunks"]),
    (embedders, "embed", ["notes", "embeddings"]),
    (links, "edges", ["notes", "edges"]),
    (lake, "write", ["chat", "chunks"]),
    (catalog, "build", ["duckdb_catalog"]),
    (vectors, "build", ["qdrant_points"]),
    (generations, "finish", ["published_generation"]),
    (stages, "unredacted", ["notes", "redacted"]),
    (lake, "verify", ["notes", "edges"]),
    (catalog, "dangling", ["published_generation"]),
    (generations, "verify", ["published_generation"]),
]
"""where an error is raised, and the Dagster asset that is made then; the last ones are those of its checks"""

SHARES = [VALUES[number::20] for number in range(20)]
"""the values that each place is given"""


@pytest.mark.parametrize(("place", "name", "key"), POINTS, ids=lambda part: part if isinstance(part, str) else "")
def test_an_error_in_an_asset_tells_nothing(
    synced: Path,
    place: Any,
    name: str,
    key: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    workspace, share = archive.workspace(synced), iter(SHARES)
    values = next(one for one, point in zip(share, POINTS, strict=False) if point[:2] == (place, name))
    defs = definitions.build_defs(workspace.settings)
    if key == ["published_generation"] and name == "finish":
        monkeypatch.setattr(generations, "building", lambda home: home / "published" / "1")
    called = []

    def raising(*args: Any, **options: Any) -> NoReturn:
        called.append(name)
        misbehave(values)

    monkeypatch.setattr(place, name, raising)
    with instance(workspace.home) as shared:
        done = dg.materialize(
            [*(defs.assets or []), *(defs.asset_checks or [])],
            instance=shared,
            selection=dg.AssetSelection.assets(dg.AssetKey(key)),
            partition_key="2024-03" if len(key) == 2 and key[1] != "export" else None,
            run_config={"ops": {"notes__export": {"config": {"full": True}}}} if key[-1] == "export" else None,
            raise_on_error=False,
        )
        said = [str(event) for event in done.all_events]
    assert called
    assert MARK not in "".join(said)
    assert MARK not in "".join(capfd.readouterr())
    left = [name for name, content in archive.contents(workspace.home).items() if MARK.encode() in content[1]]
    assert left == []
