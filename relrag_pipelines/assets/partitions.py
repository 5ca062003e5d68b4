"""The one partition definition that all sources share: months, in UTC."""

import functools

import dagster as dg


@functools.cache
def months(first_month: str) -> dg.MonthlyPartitionsDefinition:
    """Months from the first to the current one, named YYYY-MM."""
    # without end_offset=1 the current month would have no partition until it is over
    return dg.MonthlyPartitionsDefinition(start_date=first_month, fmt="%Y-%m", timezone="UTC", end_offset=1)
