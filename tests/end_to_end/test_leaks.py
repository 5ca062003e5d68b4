"""A thousand planted values go through a sync of every source: none is found outside private/."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from relrag_query.cli.commands import sync as commands
from tests import archive


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
                f"731 {numbered(chance, 2)}9 {numbered(chance, 2)}7",
            )[number % 5]
        )
    return found


def plant(folder: Path, values: list[str]) -> None:
    """Puts values into all that a source can fill: texts, ids, titles, senders, names of chats, files and folders."""
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


SHAPE = re.compile(rb"052-?\d{7}|planted\d+\.\d+@example\.org|4\d{15}|CZ\d{22}|731 ?\d\d9 ?\d\d7")
"""what every personal value looks like"""


def leaks_in(home: Path) -> list[str]:
    """Where any value of that shape stands outside private/, in UTF-8 or UTF-16."""
    everything = list(contents(home))
    assert len(everything) > 100
    planted = {form.encode() for value in personal(1000) for form in (value, re.sub("[- ]", "", value))}
    # without its zeros UTF-16 reads like ASCII, and a file of Qdrant's is a thousandth of its size
    looked_alike = [(one, name) for name, held in everything for one in SHAPE.findall(held.replace(b"\0", b""))]
    return [f"{one!r} in {name}" for one, name in looked_alike if one in planted]


def test_no_planted_value_is_found_after_a_sync(tmp_path: Path) -> None:
    config = archive.make(tmp_path, '[graphrag]\nmethod = "fast"\n')
    plant(tmp_path, personal(1000))
    assert commands.sync(config) == 0
    home = tmp_path / ".relrag"
    assert all(SHAPE.search(value.encode()) for value in personal(1000))
    assert leaks_in(home) == []
    # and they did go through: the private records hold them
    private = repr([pq.read_table(path).to_pylist() for path in (home / "private" / "records").rglob("*.parquet")])
    assert sum(value in private for value in personal(1000)) > 900
