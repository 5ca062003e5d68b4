"""Partitions by month: which there are at what time, however often Dagster asks."""

from datetime import datetime

from dagster._core.test_utils import freeze_time

from relrag_pipelines.assets.partitions import months


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00")


def test_a_month_is_there_from_its_first_day_on() -> None:
    named = months("2024-11")
    for day, last in (("2025-01-20", "2025-01"), ("2025-01-31", "2025-01"), ("2025-02-01", "2025-02")):
        with freeze_time(at(day)):
            expected = ["2024-11", "2024-12", "2025-01", "2025-02"]
            assert named.get_partition_keys() == expected[: expected.index(last) + 1]
            assert named.get_last_partition_key() == last


def test_another_time_than_now_may_be_given() -> None:
    with freeze_time(at("2025-02-01")):
        assert months("2024-11").get_partition_keys(current_time=at("2024-12-24")) == ["2024-11", "2024-12"]


def test_archives_with_other_first_months_have_other_partitions() -> None:
    with freeze_time(at("2025-01-20")):
        assert months("2024-12").get_partition_keys() == ["2024-12", "2025-01"]
        assert months("2024-11").get_partition_keys() == ["2024-11", "2024-12", "2025-01"]
        assert months("2024-12") != months("2024-11")
