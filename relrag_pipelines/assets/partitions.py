"""The one partition definition that all sources share: months, in UTC."""

import functools
from collections.abc import Sequence
from datetime import datetime

import dagster as dg


class _Months(dg.MonthlyPartitionsDefinition):
    """Months with cached names; Dagster would compute them again for each input of a step."""

    def get_partition_keys(
        self, current_time: datetime | None = None, dynamic_partitions_store: object = None
    ) -> Sequence[str]:
        """Every month up to `current_time` or now, named YYYY-MM."""
        return super().get_partition_keys(current_time) if current_time else _names(self, self.get_last_partition_key())


@functools.lru_cache(maxsize=16)
def _names(months: _Months, last: str | None) -> Sequence[str]:
    return dg.MonthlyPartitionsDefinition.get_partition_keys(months)


@functools.cache
def months(first_month: str) -> dg.MonthlyPartitionsDefinition:
    """Months from the first to the current one, named YYYY-MM."""
    # without end_offset=1 the current month would have no partition until it is over
    return _Months(start_date=first_month, fmt="%Y-%m", timezone="UTC", end_offset=1)
