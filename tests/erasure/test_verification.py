"""What is searched for: all that tells the forgotten from what stays, and nothing that says nothing."""

from pathlib import Path

import pytest

from relrag_pipelines.erasure import verification
from relrag_pipelines.records import PrivateRecord
from relrag_pipelines.stores import lake
from relrag_pipelines.stores.lake import InputFingerprint
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.workspace import Workspace
from tests import archive
from tests.cases import cases


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return archive.workspace(archive.make(tmp_path))


def store(workspace: Workspace, **fields: object) -> None:
    """Makes one record stay."""
    record = PrivateRecord("1", asset_id="jsonl:notes:1", unit="notes.jsonl", **fields)  # type: ignore[arg-type]
    rows = to_table([record], PrivateRecord)
    lake.write(workspace.home, "private_records", "notes", ["2024-01"], [(rows, InputFingerprint("", 0, ""))])


def values(**fields: object) -> set[str]:
    record = PrivateRecord("1", asset_id="jsonl:notes:n1", unit="notes.jsonl", **fields)  # type: ignore[arg-type]
    found, sampled = verification.distinctive_values([to_table([record], PrivateRecord)])
    assert not sampled
    return found - {"jsonl:notes:n1"}


@pytest.mark.parametrize(*cases(__file__, "what_tells"))
def test_what_tells(fields: dict[str, object], wanted: set[str]) -> None:
    assert values(**fields) == wanted


def test_of_very_much_the_same_sample_is_taken_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "MAX_VALUES", 10)
    records = [PrivateRecord(str(n), asset_id=f"jsonl:notes:number{n}") for n in range(100)]
    tables = [to_table(records[n : n + 7], PrivateRecord) for n in range(0, 100, 7)]
    found, sampled = verification.distinctive_values(tables)
    assert (len(found), sampled) == (10, True)
    assert verification.distinctive_values(tables[::-1]) == (found, True)


def test_what_stands_in_what_stays_is_counted_and_not_searched_for(workspace: Workspace) -> None:
    store(workspace, text="he said: the cabin is broken, and left")
    found = verification.verify_erased(workspace, {"the cabin is broken", "zq17zq17"})
    assert (found.values, found.shared_values, found.holds) == (1, 1, True)


def test_words_of_the_program_itself_are_no_traces(workspace: Workspace) -> None:
    store(workspace, text="nothing")
    found = verification.verify_erased(
        workspace, {"private_records", "asset_asset_edges", workspace.home.parent.name}, ["catalog"]
    )
    assert (found.values, found.shared_values, found.program_values, found.holds) == (0, 0, 4, True)


def test_a_name_within_a_longer_one_that_stays_is_still_looked_for_where_words_are_read(workspace: Workspace) -> None:
    store(workspace, text="Zoltana Quixotes came")
    assert verification.verify_erased(workspace, set(), ["Zoltan"]).holds
    store(workspace, text="Zoltan came, and Zoltana")
    found = verification.verify_erased(workspace, set(), ["Zoltan"])
    assert (found.holds, found.remaining_names) == (False, ["Zoltan"])


def test_a_file_that_holds_a_value_is_named(workspace: Workspace) -> None:
    store(workspace, text="nothing")
    (workspace.home / "private" / "journal.jsonl").write_text('{"note": "zq17zq17"}')
    assert verification.verify_erased(workspace, {"zq17zq17"}).search.holding == {"private/journal.jsonl": 1}


def test_records_that_may_hold_pieces_are_named_unless_many_hold_the_same(workspace: Workspace) -> None:
    texts = ["he said: the cabin is broken", "see you at nine o'clock sharp", *["let me know about it"] * 4]
    records = [
        PrivateRecord(str(n), asset_id=f"jsonl:notes:{n}", unit="notes.jsonl", kind="jsonl", text=text, ts=n)
        for n, text in enumerate(texts)
    ]
    lake.write(
        workspace.home,
        "private_records",
        "notes",
        ["2024-01"],
        [(to_table(records, PrivateRecord), InputFingerprint("", 0, ""))],
    )
    found = verification.verify_erased(workspace, {"the cabin is broken", "let me know about", "the boiler of the"})
    assert found.similar_records == [verification.SimilarRecord("jsonl", "", 0, "exact", "jsonl:notes:0", 1)]
    assert (found.values, found.shared_values) == (1, 2)


def test_short_words_numbers_and_dates_are_counted() -> None:
    record = PrivateRecord("1", text="pay 8,400 by 2024-05-09 pay", numbers=["8400"])
    only = to_table([record], PrivateRecord).select(["text", "numbers"])
    assert verification.short_in([only]) == 5  # pay, 8,400, by, the date, 8400
