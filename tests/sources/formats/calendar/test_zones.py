"""Names of time zones, as programs write them without a definition."""

from datetime import datetime, timedelta

import pytest

from relrag_pipelines.sources.formats.calendar.zones import zone_by_name


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("Europe/Prague", 2),
        ("europe/prague", 2),
        ("/mozilla.org/20070129_1/Europe/Prague", 2),
        ("W. Europe Standard Time", 2),  # Windows
        ("w. europe standard time", 2),
        ("GMT Standard Time 1", 1),  # Windows, numbered by Outlook
        ("tzone://Microsoft/Utc", 0),
        ("tzone://Microsoft/Pacific Standard Time", -7),
        ("UTC", 0),
        ("UTC+3", 3),
        ("GMT-04:30", -4.5),
        ("+0530", 5.5),
        ("Etc/GMT+3", -3),  # IANA's sign is the other way round
        ("(UTC+01:00) Sarajevo, Skopje, Warsaw, Zagreb", 2),
        ("(UTC-08:00) Pacific Time (US & Canada)", -7),
        ("(GMT+10.00) Brisbane", 10),
        ("(UTC-03:00) Warsaw", None),  # a city of another offset
        ("Custom", None),
        ("Customized Time Zone", None),
        ("tzone://Microsoft/Custom", None),
        ("Our Office", None),
        ("+9900", None),
        ("", None),
        ("../../etc/passwd", None),
    ],
)
def test_the_zone_of_a_name(name: str, hours: float | None) -> None:
    zone = zone_by_name(name)
    offset = zone and datetime(2025, 7, 7, 10, tzinfo=zone).utcoffset()
    assert offset == (None if hours is None else timedelta(hours=hours))
