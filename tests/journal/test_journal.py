"""The journal: entries in order, numbers that are never given twice, what a kill leaves, and the files before it."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs import tables
from relrag_pipelines.files import failpoints
from relrag_pipelines.identity.journal_statements import Allocation
from relrag_pipelines.journal import call_approvals, entry_kinds, former_files, journal, manual_links
from relrag_pipelines.journal.entry_kinds import CallDecision
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.maintenance import backup
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import generations, lock, private_manifest
from relrag_query.cli import doctor_home
from relrag_query.cli.commands import sync as commands
from relrag_query.service import archive_status
from tests import archive
from tests.cases import cases
from tests.end_to_end.test_upgrade import unpack
from tests.make_home import DATA

LINK = ManualLink("gmail:a", "document:b", "references", False, 0.5, "the same roof")


def entries_of(home: Path, after: int = 0) -> list[tuple[int, str, object]]:
    return [(entry.number, entry.kind, entry.statement) for entry in journal.entries(home, after)]


def test_entries_of_all_kinds_come_back_in_order_with_their_numbers(tmp_path: Path) -> None:
    assert journal.append(tmp_path, [LINK, CallDecision("call_recording:1", "approve")]) == [1, 2]
    assert journal.append(tmp_path, [replace(LINK, deleted=True)]) == [3]
    assert entries_of(tmp_path) == [
        (1, "link", LINK),
        (2, "call", CallDecision("call_recording:1", "approve")),
        (3, "link", replace(LINK, deleted=True)),
    ]
    assert entries_of(tmp_path, after=2) == [(3, "link", replace(LINK, deleted=True))]
    assert journal.statements(tmp_path, CallDecision) == [CallDecision("call_recording:1", "approve")]
    first = json.loads(journal.path(tmp_path).read_text().splitlines()[0])
    assert first == {
        "entry": 1,
        "at": first["at"],
        "kind": "link",
        "said": {
            "src_asset_ref": "gmail:a",
            "dst_asset_ref": "document:b",
            "relation_type": "references",
            "deleted": False,
            "confidence": 0.5,
            "provenance": "the same roof",
        },
    }
    assert journal.path(tmp_path).stat().st_mode & 0o777 == 0o600
    assert private_manifest.damage(tmp_path) == []


def test_what_is_forgotten_leaves_its_number_and_no_other_entry_gets_it(tmp_path: Path) -> None:
    journal.append(tmp_path, [LINK, replace(LINK, provenance="as Ota said")])
    assert journal.forget(tmp_path, lambda values: "as Ota said" in values) == 1
    assert entries_of(tmp_path) == [(1, "link", LINK), (2, "forgotten", None)]
    assert b"Ota" not in journal.path(tmp_path).read_bytes()
    assert journal.append(tmp_path, [LINK]) == [3]
    assert journal.forget(tmp_path, lambda values: True) == 2
    assert journal.forget(tmp_path, lambda values: True) == 0
    assert journal.append(tmp_path, [LINK]) == [4]
    assert private_manifest.damage(tmp_path) == []


TORN = b'{"entry": 2, "at": "20'


@pytest.mark.parametrize("tail", [TORN, TORN + b" " * 999, b'{"entry": 2, "at": "", "kind": "link", "said": {}}'])
def test_a_torn_last_line_counts_for_nothing_and_goes_with_the_next_entry(tmp_path: Path, tail: bytes) -> None:
    journal.append(tmp_path, [LINK])
    with journal.path(tmp_path).open("ab") as opened:
        opened.write(tail)
    assert entries_of(tmp_path) == [(1, "link", LINK)]
    assert journal.append(tmp_path, [LINK]) == [2]
    assert len(journal.path(tmp_path).read_text().splitlines()) == 2
    assert private_manifest.damage(tmp_path) == []


def test_a_kill_before_the_write_loses_nothing_and_names_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(tmp_path, [LINK])

    def kill(name: str, path: Path) -> None:
        if path.name == "journal.jsonl" and name in ("journal.append", "file.rename"):
            raise KeyboardInterrupt

    monkeypatch.setattr(failpoints, "watch", kill)
    with pytest.raises(KeyboardInterrupt):
        journal.append(tmp_path, [LINK])
    with pytest.raises(KeyboardInterrupt):
        journal.forget(tmp_path, lambda values: True)
    monkeypatch.setattr(failpoints, "watch", None)
    assert entries_of(tmp_path) == [(1, "link", LINK)]
    assert journal.append(tmp_path, [LINK]) == [2]
    assert private_manifest.damage(tmp_path) == []


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.lists(st.sampled_from("abc"), max_size=3)),
            st.tuples(st.just("forget"), st.sampled_from("abc")),
            st.tuples(st.just("tear"), st.integers(1, 30)),
        ),
        max_size=12,
    )
)
@settings(max_examples=30, deadline=None)
def test_numbers_rise_and_entries_stay_whatever_happens(steps: list[tuple[str, object]]) -> None:
    expected: dict[int, str | None] = {}
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        for step, what in steps:
            if step == "append":
                numbers = journal.append(home, [CallDecision(str(one), "approve") for one in what])  # type: ignore[attr-defined]
                assert all(number > max(expected, default=0) for number in numbers)
                expected |= dict(zip(numbers, what, strict=True))  # type: ignore[call-overload]
            elif step == "forget":
                journal.forget(home, lambda values, gone=what: gone in values)
                expected = {number: None if said == what else said for number, said in expected.items()}
            elif journal.path(home).exists():
                with journal.path(home).open("ab") as opened:
                    opened.write(b'{"entry": 99, "at": "", "kind": "call", "sai'[: int(str(what))])
            found = {
                entry.number: entry.statement.asset_id if entry.statement else None for entry in journal.entries(home)
            }
            assert found == expected


@pytest.mark.parametrize(*cases(__file__, "a_line_that_cannot_be_read_is_named_and_stops_what_would_ignore_it"))
def test_a_line_that_cannot_be_read_is_named_and_stops_what_would_ignore_it(
    tmp_path: Path, line: str, said: str
) -> None:
    config = archive.make(tmp_path)
    workspace = archive.workspace(config)
    assert workspace.keys
    journal.append(workspace.home, [LINK])
    with journal.path(workspace.home).open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(JournalError, match=said):
        manual_links.load(workspace.home)
    with pytest.raises(JournalError, match=said):
        plans.build_plan(workspace)
    (found,) = doctor_home.statements(workspace.settings)
    assert (found.level, found.what) == ("problem", "journal")
    assert archive_status.collect(workspace.settings).problems == [found.finding]
    assert ("private/journal.jsonl", "is not as it was written") in verify_home(workspace.home)


def test_a_field_that_is_added_later_has_its_default_in_entries_before_it(tmp_path: Path) -> None:
    journal.append(tmp_path, [LINK])
    text = journal.path(tmp_path).read_text().replace(', "confidence": 0.5', "").replace(',"confidence":0.5', "")
    assert "confidence" not in text
    journal.path(tmp_path).write_text(text)
    assert journal.statements(tmp_path, ManualLink) == [replace(LINK, confidence=1.0)]


def test_a_generation_names_the_last_entry_that_it_was_made_with(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config).home
    given = len(journal.statements(home, Allocation))
    assert generations.current_manifest(home)["journal"] == given == 3, "the ids of three people"
    journal.append(home, [ManualLink("jsonl:notes:n1", "jsonl:notes:n2", "references")])
    archive.sync(config)
    journal.append(home, [LINK])
    assert generations.current_manifest(home)["journal"] == given + 1
    assert [entry.statement for entry in journal.entries(home, generations.current_manifest(home)["journal"])] == [LINK]


def test_every_kind_is_declared_once() -> None:
    assert len(set(entry_kinds.KINDS.values())) == len(entry_kinds.KINDS)
    assert entry_kinds.FORGOTTEN not in entry_kinds.KINDS
    for name in entry_kinds.KINDS:
        assert f"\n## {name}\n" in tables.journal()


def old_home(folder: Path) -> Path:
    """A home as an earlier version left it, with what the owner stated in two files; its relrag.toml."""
    config = unpack(DATA / "home-v3", folder)
    private = archive.home(folder) / "private"
    link = {"src_asset_ref": "jsonl:notes:n1", "dst_asset_ref": "jsonl:notes:n2", "relation_type": "references"}
    lines = [
        {"at": "2025-01-02T00:00:00+00:00", **link, "deleted": False, "confidence": 0.5, "provenance": "one boiler"},
        {"at": "2025-01-04T00:00:00+00:00", **link, "deleted": False, "confidence": 0.9, "provenance": "one plumber"},
    ]
    (private / "links.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"at": "2025')
    swap = {"at": "2025-01-03T00:00:00+00:00", "asset_id": "call_recording:1", "word": "swap-speakers"}
    (private / "approvals.jsonl").write_text((json.dumps(swap) + "\n") * 2 + json.dumps(swap) + "\n")
    private_manifest.reset(archive.home(folder))
    return config


TAKEN = [
    (1, "link", ManualLink("jsonl:notes:n1", "jsonl:notes:n2", "references", False, 0.5, "one boiler")),
    *((number, "call", CallDecision("call_recording:1", "swap-speakers")) for number in (2, 3, 4)),
    (5, "link", ManualLink("jsonl:notes:n1", "jsonl:notes:n2", "references", False, 0.9, "one plumber")),
]


@pytest.mark.usefixtures("without_dagster")
def test_an_old_homes_files_are_read_and_taken_over_once(tmp_path: Path) -> None:
    config = old_home(tmp_path)
    workspace = archive.workspace(config)
    home = workspace.home
    before = archive.contents(home)
    assert entries_of(home) == TAKEN
    assert call_approvals.load(home)["call_recording:1"].swapped
    assert [one.confidence for one in manual_links.load(home)] == [0.9]
    assert archive.changed(before, archive.contents(home)) == []
    assert commands.sync(config) in (0, 1)
    assert entries_of(home)[:5] == TAKEN
    given = journal.statements(home, Allocation)
    assert not [name for name in former_files.FILES if (home / name).exists()]
    assert generations.current_manifest(home)["journal"] == 5 + len(given)
    assert verify_home(home) == []
    assert "private/journal.jsonl" in backup.files_to_back_up(workspace.settings)
    after = journal.path(home).read_bytes()
    assert commands.sync(config) in (0, 1)
    assert journal.path(home).read_bytes() == after
    assert journal.append(home, [LINK]) == [6 + len(given)]


def test_a_kill_while_they_are_taken_over_neither_loses_nor_doubles_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = archive.workspace(old_home(tmp_path)).home
    with monkeypatch.context() as patch, lock.writing(home, "a test"):
        patch.setattr(former_files, "remove", lambda home: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            journal.take_over(home)
    assert entries_of(home) == TAKEN
    assert journal.append(home, [LINK]) == [6]
    assert entries_of(home) == [*TAKEN, (6, "link", LINK)]
    assert not [name for name in former_files.FILES if (home / name).exists()]
    assert private_manifest.damage(home) == []


def test_what_is_forgotten_before_they_were_taken_over_goes_too(tmp_path: Path) -> None:
    home = archive.workspace(old_home(tmp_path)).home
    assert journal.forget(home, lambda values: "one boiler" in values) == 1
    assert entries_of(home) == [(1, "forgotten", None), *TAKEN[1:]]
    assert not [path for path in (home / "private").glob("*.jsonl") if b"one boiler" in path.read_bytes()]
