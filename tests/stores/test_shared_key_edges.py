"""What records of all sources share relates them, whether the catalog is built whole or on top of another."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relrag_pipelines.records import Edge, ManualLink, Record
from relrag_pipelines.stores import catalog, catalog_build
from tests.stores.test_catalog import AT, LATER, Rows, build, counts, lake, record, rows

FORM = "We hereby confirm that the goods named below were received in good order. " * 8
"""a text long enough not to be equal by chance"""
IBAN = "<IBAN_CODE:k1:2f00aa11bb22>"
COMMIT = "a3b2c1d8e5f60718293a4b5c6d7e8f9012345678"

Found = list[tuple[str, str, float, str]]


def references(folder: Path, *records: Record, edges: list[Edge] | None = None, **options: Any) -> Found:
    """The references among records, each in a source of its own kind."""
    given: Rows = {}
    for one in records:
        given.setdefault(("records", one.kind, "2025-01"), []).append(one)
    if edges:
        given["asset_asset_edges", records[0].kind, "2025-01"] = edges
    path, _ = build(folder, given, **options)
    assert catalog.count_dangling(path) == {"edges_without_end": 0, "chunks_without_record": 0}
    return related(path)


def related(path: Path) -> Found:
    with catalog.open(path) as connection:
        return connection.execute(
            "SELECT src_asset_ref, dst_asset_ref, confidence, provenance FROM asset_asset_edges "
            "WHERE relation_type = 'references' ORDER BY ALL"
        ).fetchall()  # type: ignore[return-value]


SHARED: dict[str, tuple[Record, Record, float, str]] = {
    "invoice number": (
        record("gmail:m", "INV-1187", ts=1, numbers=["INV-1187"]),
        record("whatsapp:c", ts=2, numbers=["9999", "inv-1187"]),
        0.8,
        "the same number in both",
    ),
    "a number in the subject of a mail that begins a thread": (
        record("gmail:m", ts=1, numbers=["INV-1402"], subject="Your order INV-1402"),
        record("document:d", ts=2, numbers=["INV-1402"]),
        0.8,
        "the same number in both",
    ),
    "a short number says less": (
        record("gmail:m", "no. 4711", ts=1, numbers=["4711"]),
        record("document:d", ts=2, numbers=["4711"]),
        0.6,
        "the same short number in both",
    ),
    "a number in Hebrew letters": (
        record("gmail:m", "חש-12345", ts=1, numbers=["חש-12345"]),
        record("document:d", ts=2, numbers=["חש-12345"]),
        0.8,
        "the same number in both",
    ),
    "an account by its pseudonym": (
        record("whatsapp:c", f"to {IBAN} please", ts=1),
        record("document:d", f"account: {IBAN}", ts=2),
        0.9,
        "the same account, card or ID number in both",
    ),
    "the event of an invitation and of a meeting": (
        record("gmail:m:0", ts=1, extra={"events": [{"uid": "ab12"}, {"uid": ""}]}),
        record("meeting:x", ts=2, extra={"calendar_uid": "ab12"}),
        0.95,
        "the same calendar event in both",
    ),
    "one file, attached and sent in a chat": (
        record("gmail:m:0", ts=1, extra={"bytes_hash": "ff"}, numbers=["INV-1200"]),
        record("whatsapp:c:a0", ts=2, extra={"bytes_hash": "ff"}, numbers=["INV-1200"]),
        1.0,
        "the same file in both",
    ),
    "one long text": (
        record("gmail:m:0", FORM, ts=1, file_name="a.pdf"),
        record("document:d", FORM, ts=2, file_name="b.pdf"),
        0.9,
        "the same text in both",
    ),
    "an issue": (
        record("git:1", ts=1, numbers=["SHOP-1234"]),
        record("gmail:m", "SHOP-1234", ts=2, numbers=["SHOP-1234"]),
        0.8,
        "the same number in both",
    ),
    "a commit": (
        record(f"git:{COMMIT}", ts=1),
        record("gmail:m", "je to v commitu a3b2c1d8.", ts=2),
        0.9,
        "the same commit in both",
    ),
}


APART: dict[str, tuple[Record, ...]] = {
    "three digits": (record("gmail:m", "123", numbers=["123"]), record("document:d", numbers=["123"])),
    "two pseudonyms alike but for their type": (
        record("whatsapp:c", "<EMAIL_ADDRESS:k1:2f00aa11bb22>"),
        record("document:d", "<PHONE_NUMBER:k1:2f00aa11bb22>"),
    ),
    "what redaction reduced to its type": (
        record("gmail:m", "<IBAN_CODE>", numbers=["<PHONE_NUMBER>"]),
        record("document:d", "<IBAN_CODE>", numbers=["<PHONE_NUMBER>"]),
    ),
    "a phone says who, not what": (
        record("whatsapp:c", "<PHONE_NUMBER:k1:aabbccddeeff>", numbers=["<PHONE_NUMBER:k1:aabbccddeeff>"]),
        record("document:d", "<PHONE_NUMBER:k1:aabbccddeeff>", numbers=["<PHONE_NUMBER:k1:aabbccddeeff>"]),
    ),
    "a number that only the history below an answer quotes": (
        record(
            "gmail:n", "I won't touch it", numbers=["INV-1401"], parent_asset_id="gmail:lost", subject="Re: INV-1401"
        ),
        record("document:d", "INV-1401", numbers=["INV-1401"]),
    ),
    "words of another's that mean something else": (
        record("jsonl:n:1", extra={"bytes_hash": 5, "calendar_uid": {}, "events": "all"}),
        record("jsonl:n:2", extra={"bytes_hash": 5, "calendar_uid": {}, "events": "all"}),
    ),
    "short texts": (record("gmail:m", "thank you"), record("document:d", "thank you")),
    "one long text that is no file": (record("gmail:m", FORM), record("gmail:n", FORM)),
    "no text": (record("gmail:m", ""), record("document:d", "")),
    "events without a uid": (
        record("gmail:m:0", extra={"events": [{"uid": ""}]}),
        record("meeting:x", extra={"events": [{"uid": ""}], "calendar_uid": None}),
    ),
    "a number is no commit": (record("git:1234567000"), record("gmail:m", "order 12345670")),
    "one thread": (
        record("gmail:m", "INV-1301", numbers=["INV-1301"], thread_id="t"),
        record(
            "gmail:m:0", "INV-1301", numbers=["INV-1301"], thread_id="t", parent_asset_id="gmail:m", index_in_parent=0
        ),
    ),
    "a container and its parts": (
        record("jsonl:n:1", numbers=["INV-1302"]),
        record("jsonl:n:2", numbers=["INV-1302"], parent_asset_id="jsonl:n:1", index_in_parent=0),
        record("jsonl:n:3", numbers=["INV-1302"], parent_asset_id="jsonl:n:1", index_in_parent=1),
    ),
    "one record with the number twice": (record("document:m", numbers=["INV-1303", "inv-1303"]),),
}


@pytest.fixture(scope="module")
def of_cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """The references of each case; all lie in one catalog, and what records share is of one case alone."""
    folder = tmp_path_factory.mktemp("cases")
    given = {case: pair[:2] for case, pair in SHARED.items()} | APART
    found = references(folder, *(_of(case, one) for case, records in given.items() for one in records))
    of_case: dict[str, Found] = {case: [] for case in given}
    for src, dst, confidence, why in found:
        (case,) = {one.partition("#")[2] for one in (src, dst)}
        of_case[case].append((src.partition("#")[0], dst.partition("#")[0], confidence, why))
    return of_case


def _of(case: str, one: Record) -> Record:
    thread, parent = (name and f"{name}#{case}" for name in (one.thread_id, one.parent_asset_id))
    return replace(one, asset_id=f"{one.asset_id}#{case}", thread_id=thread, parent_asset_id=parent)


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize("case", SHARED)
def test_what_two_records_share_relates_the_later_to_the_earlier(of_cases: dict[str, Found], case: str) -> None:
    earlier, later, confidence, why = SHARED[case]
    assert of_cases[case] == [(later.asset_id, earlier.asset_id, confidence, why)]


@pytest.mark.parametrize("case", APART)
def test_what_says_nothing_or_is_related_already_is_not_related(of_cases: dict[str, Found], case: str) -> None:
    assert of_cases[case] == []


def holders(count: int, number: str = "POLICY-1000") -> list[Record]:
    return [record(f"document:{n:02}", ts=n, numbers=[number]) for n in range(count)]


def test_what_many_records_share_relates_none_of_them(tmp_path: Path) -> None:
    assert len(references(tmp_path, *holders(4), link_max_records=4)) == 6
    assert references(tmp_path, *holders(4), link_max_records=3) == []


def test_edges_do_not_grow_with_the_square_of_what_shares_something(tmp_path: Path) -> None:
    """Ten are related each with each; of more each to the first and to the one before."""
    assert len(references(tmp_path, *holders(10))) == 45
    ends = {(src[-2:], dst[-2:]) for src, dst, *_ in references(tmp_path, *holders(11))}
    assert ends == {(f"{n:02}", "00") for n in range(1, 11)} | {(f"{n:02}", f"{n - 1:02}") for n in range(2, 11)}
    assert len(references(tmp_path, *holders(20))) == 37
    assert references(tmp_path, *holders(21)) == []


def test_a_pair_that_shares_several_things_is_related_once_by_the_surest(tmp_path: Path) -> None:
    one = record(
        "gmail:m:0",
        FORM + "4711 INV-1187 INV-1188",
        file_name="a.pdf",
        numbers=["4711", "INV-1187", "INV-1188"],
        extra={"bytes_hash": "f1"},
        ts=5,
    )
    two = record(
        "document:d", FORM + "4711 INV-1187 INV-1188", file_name="b.pdf", numbers=["4711", "INV-1187", "INV-1188"], ts=7
    )
    assert references(tmp_path, one, two) == [("document:d", "gmail:m:0", 0.9, "the same text in both")]


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_record_itself_says_comes_first_in_either_direction(tmp_path: Path, turned: bool) -> None:
    one, two = record("git:1", ts=1, numbers=["SHOP-1234"]), record("git:2", ts=2, numbers=["SHOP-1234"])
    ends = ("git:1", "git:2") if turned else ("git:2", "git:1")
    said = Edge(*ends, "references", 1.0, "reverts commit 1")
    assert references(tmp_path, one, two, edges=[said]) == [(*ends, 1.0, "reverts commit 1")]


def test_records_without_a_time_come_first(tmp_path: Path) -> None:
    found = references(
        tmp_path, record("document:z", numbers=["INV-1187"]), record("gmail:a", "INV-1187", ts=-5, numbers=["INV-1187"])
    )
    assert [one[:2] for one in found] == [("gmail:a", "document:z")]


def test_a_record_of_several_sources_shares_once(tmp_path: Path) -> None:
    twin: dict[str, Any] = {"text": "INV-1187", "ts": 1, "numbers": ["INV-1187"]}
    path, _ = build(
        tmp_path,
        {
            ("records", "first", "2025-01"): [record("gmail:m", **twin)],
            ("records", "second", "2025-01"): [
                record("gmail:m", **twin),
                record("document:d", ts=2, numbers=["INV-1187"]),
            ],
        },
        link_max_records=2,
    )
    assert [one[:2] for one in related(path)] == [("document:d", "gmail:m")]


PAIR = (record("gmail:m", "INV-1187", ts=1, numbers=["INV-1187"]), record("document:d", ts=2, numbers=["INV-1187"]))


@pytest.mark.requirement("S0-18", "S0-21")
def test_what_the_owner_says_counts_for_more(tmp_path: Path) -> None:
    def said(*words: ManualLink, edges: list[Edge] | None = None) -> Found:
        return references(tmp_path, *PAIR, edges=edges, manual_links=words)

    claim = Edge("gmail:m", "document:d", "references", 0.5, "as read")
    mine = ManualLink("gmail:m", "document:d", "references", False, 0.7, "as I know")
    assert said(mine) == said(mine, edges=[claim]) == [("gmail:m", "document:d", 0.7, "as I know")]
    for gone in (("gmail:m", "document:d"), ("document:d", "gmail:m")):
        assert said(ManualLink(*gone, "references", True)) == []
    assert said(ManualLink("gmail:m", "document:d", "references", True), edges=[claim]) == []
    assert len(said(ManualLink("gmail:m", "document:d", "reply_to", True), edges=[claim])) == 1


def test_what_the_owner_says_of_absent_records_waits(tmp_path: Path) -> None:
    words = [
        ManualLink("gmail:m", "gmail:absent", "references"),
        ManualLink("gmail:absent", "thread:t", "thread_member"),
        ManualLink("gmail:m", "thread:mine", "thread_member", False, 1.0, "by hand"),
    ]
    path, counts = build(tmp_path, {("records", "mail", "2025-01"): [PAIR[0]]}, manual_links=words)
    assert rows(path, "SELECT src_asset_ref, dst_asset_ref, provenance FROM asset_asset_edges") == [
        ("gmail:m", "thread:mine", "by hand")
    ]
    assert counts["pending_edges"] == 2


# ---- on top of another catalog

MONTHS = ("2024-01", "2024-02", "2024-03")
COMPARED = {
    "records": "*",
    "asset_asset_edges": "src_asset_ref, dst_asset_ref, relation_type, confidence, provenance, created_at",
    "pending_edges": "*",
}
NAMES = [f"jsonl:{source}:{number}:{place}" for source in "ab" for number in (*MONTHS, "2024-04") for place in range(3)]
Months = dict[tuple[str, str], dict[str, list[Any]]]


def month(source: str, number: str, count: int, chance: random.Random) -> dict[str, list[Any]]:
    """Records that share numbers, files and events with those of any month, or name each other."""
    made: dict[str, list[Any]] = {"records": [], "asset_asset_edges": []}
    for place in range(count):
        name = f"jsonl:{source}:{number}:{place}"
        extra: dict[str, Any] = {}
        if chance.random() < 0.3:
            extra["bytes_hash"] = f"f{chance.randrange(3)}"
        if chance.random() < 0.2:
            extra["events"] = [{"uid": f"e{chance.randrange(2)}"}]
        made["records"].append(
            record(
                name,
                source=source,
                ts=chance.choice([None, 1, 2, 3]),
                numbers=[f"INV-{chance.randrange(1000, 1005)}" for _ in range(chance.randrange(3))],
                thread_id=chance.choice([None, None, "t1", "t2"]),
                extra=extra,
            )
        )
        if chance.random() < 0.4 and (other := chance.choice(NAMES)) != name:
            made["asset_asset_edges"].append(Edge(name, other, "references", 0.5, "says so"))
    return made


def write(folder: Path, months: Months, **options: Any) -> Path:
    folder.mkdir(exist_ok=True)
    given: Rows = {}
    for source in "ab":
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


def words(chance: random.Random) -> list[ManualLink]:
    said = {}
    for _ in range(chance.randrange(5)):
        key = (*chance.sample(NAMES, 2), chance.choice(["references", "reply_to"]))
        said[key] = ManualLink(*key, chance.random() < 0.5, 0.9, "mine")
    return list(said.values())


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32), most=st.sampled_from([2, 3, 20]))
def test_on_top_of_another_catalog_there_are_the_same_edges_as_in_a_whole_one(
    tmp_path_factory: pytest.TempPathFactory, seed: int, most: int
) -> None:
    folder, chance = tmp_path_factory.mktemp("top"), random.Random(seed)
    how: dict[str, Any] = {"manual_links": words(chance), "link_max_records": most}
    before: Months = {(source, number): month(source, number, 3, chance) for source in "ab" for number in MONTHS}
    changed: Months = {
        ("a", "2024-02"): month("a", "2024-02", 3 + chance.randrange(2), chance),
        ("b", "2024-04"): month("b", "2024-04", 2, chance),
    }
    base = write(folder / "base", before, **how)
    (folder / "top").mkdir()
    (folder / "top" / catalog.BASE).hardlink_to(base)
    replaced = [f"{source}/{number}" for source, number in changed]
    top = write(folder / "top", changed, replaced=replaced, previous=base, at=LATER, **how)
    whole = write(folder / "whole", before | changed, previous=base, at=LATER, **how)
    assert read(top) == read(whole)
    assert counts(top) == counts(whole) | {"terms": counts(base)["terms"]}
    assert (
        catalog.count_dangling(top)
        == catalog.count_dangling(whole)
        == {"edges_without_end": 0, "chunks_without_record": 0}
    )


def test_one_record_more_takes_away_what_was_rare(tmp_path: Path) -> None:
    two = {("a", "2024-01"): {"records": [PAIR[0]]}, ("b", "2024-01"): {"records": [PAIR[1]]}}
    base = write(tmp_path / "base", two, link_max_records=2)
    third: Months = {("b", "2024-02"): {"records": [record("document:e", ts=3, numbers=["INV-1187"])]}}
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / catalog.BASE).hardlink_to(base)
    top = write(tmp_path / "top", third, replaced=["b/2024-02"], previous=base, link_max_records=2)
    assert (len(related(base)), related(top)) == (1, [])
