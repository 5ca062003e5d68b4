"""A file with a fault in every line lists ten of them and counts the others, whatever its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.erasure.record_fingerprints import LIKE_FORGOTTEN
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.ingest.failure_counts import FailureCounts
from relrag_pipelines.ingest.unit_records import UnitRecords, read_unit
from relrag_pipelines.records import Failure
from relrag_pipelines.sources import Unit
from tests import archive


def listed(failures: list[Failure]) -> list[str]:
    """The messages that are listed, with their counts."""
    counts = FailureCounts()
    return [one.message for one in counts.with_counts([one for one in failures if counts.is_listed(one)])]


def test_ten_equal_failures_are_all_listed() -> None:
    assert listed([Failure(f"line {number}", "bad", "no date") for number in range(10)]) == ["no date"] * 10


def test_the_last_listed_failure_counts_the_others() -> None:
    messages = listed([Failure(f"line {number}", "bad", "no date") for number in range(1_234)])
    assert messages == [*["no date"] * 9, "no date; 1,224 more of this kind in the file are not listed"]


@pytest.mark.parametrize(
    ("messages", "count"),
    [
        ([f"column {number} is too long" for number in range(50)], 10),
        ([f'the zone "Zone {number}" is not known' for number in range(50)], 10),
        (["no date", "no text"] * 8, 16),  # two reasons, eight of each
        (["no date"] * 30 + ["no text"], 11),
    ],
)
def test_numbers_and_quoted_names_are_no_reason_of_their_own(messages: list[str], count: int) -> None:
    assert len(listed([Failure(str(number), "bad", text) for number, text in enumerate(messages)])) == count


def test_what_resembles_a_forgotten_record_is_always_listed() -> None:
    failures = [Failure(f"line {number}", LIKE_FORGOTTEN, f"forget chat:{number}") for number in range(30)]
    assert len(listed(failures)) == 30


KINDS = {
    "contacts": ("people.vcf", "BEGIN:VCARD\nFN:Dana {number}\n"),
    "jsonl": ("records.jsonl", "not json {number}\n"),
    "gmail": (
        "all.mbox",
        "From x@y.cz Mon Jan  1 00:00:00 2024\nSubject: {number}\n\n-----BEGIN PGP MESSAGE-----\nx\n\n",
    ),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_bad_file_of_any_kind_lists_a_few_failures(kind: str, tmp_path: Path) -> None:
    name, line = KINDS[kind]
    (tmp_path / "exports").mkdir()
    file = tmp_path / "exports" / name
    file.write_text("".join(line.format(number=number) for number in range(3_000)))
    config = tmp_path / "relrag.toml"
    config.write_text(f'keys_file = "keys"\n[[sources]]\nname = "it"\nkind = "{kind}"\npath = "exports"\n')
    workspace = archive.workspace(config)
    unit = Unit(name, file, file.stat().st_size, 0)
    contents: UnitRecords = read_unit(
        workspace, workspace.settings.sources[0], RuleMatcher([], workspace.keys), (unit, [name])
    )
    reasons = {(one.fault, one.message.partition(";")[0], one.whole_unit) for one in contents.failures}
    assert 0 < len(contents.failures) <= 10 * len(reasons)
    assert any("2,9" in one.message and "more of this kind" in one.message for one in contents.failures)
