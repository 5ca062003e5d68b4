"""The plan: a pure function of what is there."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.ingest.scan import SourceScan
from relrag_pipelines.records import UnitMonth, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import Unit
from relrag_pipelines.stages import month_range
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.month_stages import STAGES, version_orders
from relrag_pipelines.stages.plan_model import Plan, SourceState, StaleMonth, StaleUnits
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.lake import Manifest, ManifestEntry

SETTINGS = {stage.name: f"settings of {stage.name}" for stage in STAGES}


def manifests(months: Mapping[str, str]) -> dict[str, Manifest]:
    """Manifests of a source whose every stage is up to date with these private months (month -> hash)."""
    made: dict[str, Manifest] = {
        "private_records": {month: ManifestEntry("", 0, "", output, 1, 1) for month, output in months.items()},
        "failures": {},
    }
    for stage in STAGES:
        made[stage.table] = {
            month: ManifestEntry(
                fingerprint([made[table][month].output for table in stage.inputs]),
                stage.version,
                SETTINGS[stage.name],
                f"{stage.name} of {months[month]}",
                1,
                1,
            )
            for month in months
        }
    return made


def survey(months: Mapping[str, str], **changes: object) -> SourceState:
    found = SourceState("chat", SourceScan({}, (), ()), "", manifests(months), SETTINGS)
    return SourceState(**{**{name: getattr(found, name) for name in found.__dataclass_fields__}, **changes})  # type: ignore[arg-type]


def stale(one: SourceState) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in plans.stale_months([one]):
        found.setdefault(entry.month, []).append(entry.stage)
    return {month: sorted(stages) for month, stages in found.items()}


ALL = sorted(stage.name for stage in STAGES)


def test_nothing_is_stale_in_an_archive_that_is_up_to_date() -> None:
    one = survey({"2024-01": "a", "2024-02": "b"})
    assert plans.plan([one], {}, published="x", current_hash="x") == Plan()


def test_a_changed_month_makes_all_its_stages_stale_and_no_other_month() -> None:
    known = manifests({"2024-01": "a", "2024-02": "b"})
    known["private_records"]["2024-02"] = ManifestEntry("", 0, "", "changed", 1, 1)
    assert stale(survey({}, manifests=known)) == {"2024-02": ALL}


def test_a_changed_setting_redoes_the_stage_and_what_follows_from_it() -> None:
    one = survey({"2024-01": "a"}, settings={**SETTINGS, "chunks": "other"})
    assert stale(one) == {"2024-01": ["chunks", "edges", "embeddings"]}
    one = survey({"2024-01": "a"}, settings={**SETTINGS, "identifiers": "other"})
    assert stale(one) == {"2024-01": ["identifiers"]}
    one = survey({"2024-01": "a"}, settings={**SETTINGS, "redacted": "other"})
    assert stale(one) == {"2024-01": ["chunks", "edges", "embeddings", "redacted"]}


def test_a_month_whose_records_are_gone_is_stale_until_its_tables_are_gone() -> None:
    known = manifests({"2024-01": "a"})
    known["private_records"] = {}
    one = survey({}, manifests=known)
    assert stale(one) == {"2024-01": ALL}
    assert {entry.reason for entry in plans.stale_months([one]) if entry.stage == "redacted"} == {
        "its records are gone"
    }


def test_a_new_version_of_a_stage_redoes_it() -> None:
    known = manifests({"2024-01": "a"})
    entry = known["chunks"]["2024-01"]
    known["chunks"]["2024-01"] = ManifestEntry(entry.input, 0, entry.settings, entry.output, 1, 1)
    reasons = {one.stage: one.reason for one in plans.stale_months([survey({}, manifests=known)])}
    (now,) = [stage.version for stage in STAGES if stage.name == "chunks"]
    assert reasons["chunks"] == f"made by version 0 of the stage, now {now}"
    assert sorted(reasons) == ["chunks", "edges", "embeddings"]


def test_exports_count_new_changed_and_gone_units() -> None:
    units = {path: Unit(path, None, 1, 1) for path in ("a", "b", "c")}  # type: ignore[arg-type]
    one = survey({}, scan=SourceScan(units, ("a", "b"), ("z",)))
    todo = plans.plan([one], {"chat": {"b", "c", "z"}}, published="x", current_hash="x")
    assert todo.exports == [StaleUnits("chat", new=1, changed=1, gone=1, bytes=2)]
    assert todo.publish == "what it is made from changes"


def test_a_missing_source_is_a_problem_and_no_deletion() -> None:
    one = survey({"2024-01": "a"}, scan=None, problem="/gone is not there")
    todo = plans.plan([one], {"chat": {"a"}}, published="x", current_hash="x")
    assert todo.empty
    assert todo.problems == ["chat: /gone is not there"]


def test_publishing_is_due_when_nothing_is_published_or_something_else_is() -> None:
    one = survey({"2024-01": "a"})
    assert plans.plan([one], {}, published=None, current_hash="x").publish == "nothing is published yet"
    assert plans.plan([one], {}, published="y", current_hash="x").publish == "what it was made from has changed"


def test_runs_are_one_for_each_contiguous_range_of_equal_stages() -> None:
    todo = Plan(
        stale=sorted(
            StaleMonth(source, month, stage, "new")
            for source, months in (("a", ("2023-12", "2024-01", "2024-03")), ("b", ("2024-03",)))
            for month in months
            for stage in ("redacted", "chunks")
        )
    )
    assert todo.runs() == [
        ("2023-12", "2024-01", [("a", "redacted"), ("a", "chunks")]),
        ("2024-03", "2024-03", [("a", "redacted"), ("a", "chunks"), ("b", "redacted"), ("b", "chunks")]),
    ]


@given(st.sets(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.sampled_from(ALL)), min_size=1))
def test_runs_cover_exactly_what_is_stale(wanted: set[tuple[str, int, str]]) -> None:
    months = month_range.month_range("2022-11", "2025-06")
    entries = sorted(StaleMonth(source, months[number], stage, "new") for source, number, stage in wanted)
    covered = [
        (source, month, stage)
        for first, last, stages in Plan(stale=entries).runs()
        for month in month_range.month_range(first, last)
        for source, stage in stages
    ]
    assert sorted(covered) == sorted((entry.source, entry.month, entry.stage) for entry in entries)


def test_month_range_crosses_years() -> None:
    assert month_range.month_range("2021-11", "2022-02") == ["2021-11", "2021-12", "2022-01", "2022-02"]
    assert month_range.month_range("2022-02", "2021-11") == []


def test_a_touched_file_orders_versions_anew_only_where_kinds_have_versions() -> None:
    month = [UnitMonth("2024-02", 1, "h")]
    before = {name: UnitState(name, 1, time, "h", "r", month) for name, time in (("a.json", 1), ("b.json", 2))}
    touched = before | {"a.json": replace(before["a.json"], mtime_ns=3)}
    later_by_as_much = {name: replace(unit, mtime_ns=unit.mtime_ns + 5) for name, unit in before.items()}
    chat, letters = (Source(name="it", kind=kind, path=Path("exports")) for kind in ("telegram", "gmail"))
    order = version_orders(chat, before)
    assert order.keys() == {"2024-02"}
    assert version_orders(chat, touched) != order
    assert version_orders(chat, later_by_as_much) == order
    assert version_orders(chat, {"a.json": before["a.json"]}) == {}
    assert version_orders(letters, before) == {}
