"""Names of time zones, as programs write them without a definition."""

from datetime import datetime, timedelta

import pytest

from relrag_pipelines.sources.formats.calendar.zones import zone_by_name
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "the_zone_of_a_name"))
def test_the_zone_of_a_name(name: str, hours: float | None) -> None:
    zone = zone_by_name(name)
    offset = zone and datetime(2025, 7, 7, 10, tzinfo=zone).utcoffset()
    assert offset == (None if hours is None else timedelta(hours=hours))
