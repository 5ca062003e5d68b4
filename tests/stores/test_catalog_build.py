"""A catalog on top of another: read together they are what a catalog built whole would be."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.records import Chunk, Edge, Identifier, Record
from relrag_pipelines.stores import catalog, catalog_build
from tests.stores.test_catalog import AT, LATER, Rows, chunk, counts, lake, record, rows

MONTHS = ("2024-01", "2024-02", "2024-03")
COMPARED = {
    "records": "*",
    "identifiers": "*",
    "chunks": "*",
    "asset_asset_edges": "src_asset_ref, dst_asset_ref, relation_type, confidence, provenance, created_at",
    "failures": "*",
    "pending_edges": "*",
}


def month(source: str, number: str, count: int, seed: int) -> dict[str, list[Any]]:
    """Records with passages, people and edges, some of them to records of any other month, which may not be there."""
    chance = random.Random(f"{source}{number}{seed}")
    made: dict[str, list[Any]] = {"records": [], "chunks": [], "identifiers": [], "asset_asset_edges": []}
    for position in range(count):
        name = f"jsonl:{source}:{number}:{position}"
        text = f"text {chance.randrange(3)}"
        made["records"].append(record(name, text, source=source, locations=[f"{source}.jsonl#line {position}"]))
        made["chunks"].append(chunk(f"c-{name}", name, text=text, source=source))
        made["identifiers"].append(Identifier(name, "sender", "name", "N", f"k{position}", chance.randrange(5)))
        other = f"jsonl:{chance.choice('ab')}:{chance.choice(MONTHS)}:{chance.randrange(6)}"
        made["asset_asset_edges"] += [
            Edge(name, f"thread:{chance.randrange(3)}", "thread_member"),
            Edge(name, other, "references", 0.5, "number"),
            Edge(f"chunk:c-{name}", name, "chunk_of"),
            Edge(name, f"thread:{chance.randrange(9)}", "references"),
        ]
    return made


def build(folder: Path, months: dict[tuple[str, str], dict[str, list[Any]]], **options: Any) -> Path:
    folder.mkdir(exist_ok=True)
    given: Rows = {}
    for source in "ab":  # every source is named for every table, in one order, as publishing does
        for (name, number), made in months.items():
            if name == source:
                given |= {(table, name, number): found for table, found in made.items() if found}
    path = folder / catalog.NAME
    assert catalog_build.build(path, lake(folder / "lake", given), at=options.pop("at", AT), **options) == counts(path)
    return path


def read(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with catalog.open(path) as connection:
        return {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY ALL").fetchall()
            for table, columns in COMPARED.items()
        }


def on_top(folder: Path, base: Path, months: dict[tuple[str, str], dict[str, list[Any]]], **options: Any) -> Path:
    folder.mkdir()
    (folder / catalog.BASE).hardlink_to(base)
    replaced = [f"{source}/{number}" for source, number in months]
    return build(folder, months, replaced=replaced, **options)


@pytest.mark.parametrize("seed", range(6))
def test_a_catalog_on_top_of_its_base_is_what_a_whole_one_would_be(tmp_path: Path, seed: int) -> None:
    before = {(source, number): month(source, number, 4, seed) for source in "ab" for number in MONTHS}
    changed = {("a", "2024-02"): month("a", "2024-02", 6, seed + 100), ("b", "2024-04"): month("b", "2024-04", 3, seed)}
    base = build(tmp_path / "base", before)
    found: list[Any] = []

    def index(batches: Any, gone: Any) -> None:
        found.extend([[row["chunk_id"] for batch in batches for row in batch.to_pylist()], list(gone)])

    top = on_top(tmp_path / "top", base, changed, previous=base, at=LATER, index=index)
    whole = build(tmp_path / "whole", before | changed, previous=base, at=LATER)
    assert read(top) == read(whole)
    assert counts(top) == counts(whole) | {"terms": counts(base)["terms"]}
    assert catalog.count_dangling(top) == {"edges_without_end": 0, "chunks_without_record": 0}
    assert catalog.count_removed(top, base) == catalog.count_removed(whole, base)
    old, new = dict(chunks(base)), dict(chunks(whole))
    assert found[0] == sorted(name for name in new if new[name] != old.get(name))
    assert found[1] == sorted(name for name in old if new.get(name) != old[name])


def chunks(path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    with catalog.open(path) as connection:
        return [(row[0], str(row)) for row in connection.execute("FROM chunks").fetchall()]  # type: ignore[misc]


def test_a_second_catalog_on_the_same_base_is_told_apart_from_the_first(tmp_path: Path) -> None:
    before = {("a", number): month("a", number, 3, 0) for number in MONTHS}
    base = build(tmp_path / "base", before)
    first = {("a", "2024-03"): month("a", "2024-03", 4, 0)}
    second = first | {("a", "2024-02"): month("a", "2024-02", 5, 0)}
    top = on_top(tmp_path / "first", base, first, previous=base)
    told: list[Any] = []
    again = on_top(
        tmp_path / "second", base, second, previous=top,
        index=lambda batches, gone: told.append([batch.num_rows for batch in batches]),
    )  # fmt: skip
    assert told == [[2]]  # the two passages more of February; March is as it was
    assert read(again) == read(build(tmp_path / "whole", before | second))


def test_a_claim_of_the_base_becomes_a_fact_when_its_end_arrives(tmp_path: Path) -> None:
    mail = record("gmail:a", source="a")
    claim = Edge("gmail:a", "gmail:b", "reply_to")
    base = build(tmp_path / "base", {("a", "2024-01"): {"records": [mail], "asset_asset_edges": [claim]}})
    top = on_top(
        tmp_path / "top", base, {("a", "2024-02"): {"records": [record("gmail:b", source="a")]}}, previous=base
    )
    assert [row[:3] for row in read(top)["asset_asset_edges"]] == [("gmail:a", "gmail:b", "reply_to")]
    assert read(top)["pending_edges"] == []


@pytest.mark.parametrize("shared_in", ["kept", "base", "base, where it lost"])
def test_what_shares_records_with_what_is_kept_cannot_lie_on_top(tmp_path: Path, shared_in: str) -> None:
    both = {"records": [record("gmail:m", source="a")]}
    before = {("a", "2024-01"): both, ("b", "2024-01"): {"records": [record("gmail:x", source="b")]}}
    if shared_in != "kept":
        before["b", "2024-01"] = {"records": [record("gmail:m", source="b")]}
    base = build(tmp_path / "base", before)
    changed = {
        "kept": {("b", "2024-01"): both},
        "base": {("a", "2024-01"): {"records": [record("gmail:n")]}},
        "base, where it lost": {("b", "2024-01"): {"records": [record("gmail:n")]}},
    }[shared_in]
    with pytest.raises(catalog_build.SharedRecordsError):
        on_top(tmp_path / "top", base, changed, previous=base)
    assert not (tmp_path / "top" / catalog.NAME).exists()


def test_months_that_are_gone_are_hidden_and_counted_as_removed(tmp_path: Path) -> None:
    before = {("a", number): {"records": [record(f"gmail:{number}", source="a")]} for number in MONTHS}
    base = build(tmp_path / "base", before)
    top = on_top(tmp_path / "top", base, {("a", "2024-02"): {}}, previous=base)
    assert [row[2] for row in read(top)["records"]] == ["gmail:2024-01", "gmail:2024-03"]
    assert catalog.count_removed(top, base) == 1
    indexed: list[object] = []
    with pytest.raises(catalog_build.RemovedRecordsError):
        on_top(
            tmp_path / "refused", base, {("a", "2024-02"): {}}, previous=base, refuse_removal=True,
            index=lambda *_: indexed.append(_),
        )  # fmt: skip
    assert not indexed
    assert not (tmp_path / "refused" / catalog.NAME).exists()
    more = {("a", "2024-02"): {"records": [record(f"gmail:{name}", source="a") for name in ("2024-02", "more")]}}
    kept = on_top(tmp_path / "more", base, more, previous=base, refuse_removal=True)
    assert catalog.count_removed(kept, base) == 0


def test_a_record_that_moved_within_its_file_is_not_removed_but_one_that_left_it_is(tmp_path: Path) -> None:
    def of(place: str) -> Path:
        text = {"records": [Record("m", "t", "gmail:m", source="a", locations=[place, "copy.txt#line 1"])]}
        return build(tmp_path / place.replace("#", "-"), {("a", "2024-01"): text})

    first, moved, renamed = of("chat.txt#line 7"), of("chat.txt#line 9"), of("other.txt#line 7")
    assert catalog.count_removed(moved, first) == 0
    assert catalog.count_removed(renamed, first) == 1
    assert rows(first, "SELECT lake_month FROM records") == [("a/2024-01",)]


def test_the_columns_that_readers_see_are_the_declared_ones(tmp_path: Path) -> None:
    path = build(tmp_path / "c", {})
    with catalog.open(path) as connection:
        names = [column[0] for column in connection.execute("FROM records").description or ()]
        assert names[:3] == ["source_id", "text", "asset_id"]
        assert "lake_month" not in names
        chunk_names = [column[0] for column in connection.execute("FROM chunks").description or ()]
    assert chunk_names[: len(Chunk.__slots__)] == [name.rstrip("_") for name in Chunk.__slots__]
