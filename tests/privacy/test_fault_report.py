"""What may be told of an error that nobody foresaw: places, types and versions."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.privacy import fault_report

SECRET = "Zq7Canary of Dana"


def fail() -> None:
    """Fails within a library, and then again while that is handled."""
    with fault_report.during("chunks of notes, 2024-02"):
        try:
            pa.array([SECRET], pa.int64())
        except pa.ArrowException as error:
            raise ValueError(SECRET) from error


def caught() -> BaseException:
    with pytest.raises(ValueError, match=SECRET) as found:
        fail()
    return found.value


def test_a_report_has_types_and_places_and_no_message() -> None:
    report = fault_report.describe(caught())
    assert SECRET not in report
    assert "\nduring chunks of notes, 2024-02\n" in report
    assert "\nValueError\n" in report
    assert "\nArrowInvalid\n" in report
    assert f"  test_fault_report.py:{fail.__code__.co_firstlineno + 6} fail\n" in report
    assert "\nrelrag " in report
    assert str(Path.home()) not in report
    assert str(Path(__file__).parent) not in report


def test_the_place_is_that_of_code_of_this_project_and_no_library(tmp_path: Path) -> None:
    with pytest.raises(pa.ArrowInvalid) as found:
        pa.array([SECRET], pa.int64())
    assert fault_report.code_location(found.value).startswith("test_fault_report.py:")
    with pytest.raises(FileNotFoundError) as missing:
        pq.read_table(tmp_path / "gone.parquet")
    assert fault_report.code_location(missing.value).startswith("test_fault_report.py:")


def test_the_places_of_an_error_in_another_process_are_kept() -> None:
    with ProcessPoolExecutor(1) as pool, pytest.raises(ValueError, match=SECRET) as found:
        pool.submit(fail).result()
    assert fault_report.context(found.value) == "chunks of notes, 2024-02"
    assert fault_report.code_location(found.value).startswith("test_fault_report.py:")
    report = fault_report.describe(found.value)
    assert f"  test_fault_report.py:{fail.__code__.co_firstlineno + 6} fail\n" in report
    assert SECRET not in report


def test_what_is_noted_first_stays() -> None:
    with pytest.raises(ValueError, match=SECRET) as found, fault_report.during("another stage"):
        fail()
    assert fault_report.context(found.value) == "chunks of notes, 2024-02"


def test_twenty_reports_are_kept_in_the_home(tmp_path: Path) -> None:
    paths = [fault_report.write(tmp_path, "report\n", f"stage{number:02}") for number in range(23)]
    left = sorted((tmp_path / fault_report.FOLDER).glob("*"))
    assert left == sorted(paths)[3:]
    assert {path.stat().st_mode & 0o777 for path in left} == {0o600}
    assert str(left[0]) in fault_report.advice(left[0])


def test_without_a_home_a_report_lies_among_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert fault_report.write(None, "report\n", "command").parent == tmp_path / "relrag-faults"
